"""The server of the page: on 127.0.0.1 only, and only for requests that carry its random token."""

from __future__ import annotations

import secrets
import sys
import threading
import webbrowser
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from typing import Any

import numpy as np

from sparsebayes.explorer.choices import Choice, described
from sparsebayes.explorer.fitting import explored
from sparsebayes.explorer.requests import Outdated, Request

ADDRESS = "127.0.0.1"
MOST_ROWS = 2000  # that a page fits; so many are drawn at random from a larger table
MAX_TIME = 30.0  # seconds of one fit


class Explorer:
    """A server for one table; `address` is the page with its token.

    Parameters
    ----------
    frame : DataFrame
        The table. Of more than 2000 rows so many are drawn at random.
    port : int, default=0
        The port on 127.0.0.1; 0 takes a free one.
    """

    def __init__(self, frame: Any, port: int = 0) -> None:
        if not 0 <= port < 65536:
            raise ValueError(f"port must lie between 0 and 65535, got {port}.")
        if not len(frame):
            raise ValueError("the table must have at least one row, got none.")
        self.rows = len(frame)
        if self.rows > MOST_ROWS:
            chosen = np.random.default_rng(0).permutation(self.rows)[:MOST_ROWS]
            frame = frame.iloc[np.sort(chosen)].reset_index(drop=True)
        self.frame = frame
        self.token = secrets.token_urlsafe(32)
        self.latest = 0  # number of the last request for a fit; earlier ones end
        self.counting, self.fitting = threading.Lock(), threading.Lock()
        self.server = _Server((ADDRESS, port), self)
        self.port = int(self.server.server_address[1])

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Serve until `close` is called."""
        self.server.serve_forever(poll_interval=0.1)

    def close(self) -> None:
        """Stop serving and free the port."""
        self.server.shutdown()
        self.server.server_close()

    def table(self) -> dict[str, Any]:
        """What the page shows of the table."""
        return {"rows": self.rows, "used": len(self.frame), "columns": described(self.frame)}

    def fit(self, given: Any) -> dict[str, Any]:
        """Fit what the page sends, one fit at a time; a later request ends an earlier one."""
        choice = Choice.of(given, self.frame)
        with self.counting:
            self.latest += 1
            own = self.latest
        with self.fitting:  # pictures and warnings of two fits at once would mix
            if own != self.latest:
                raise Outdated("a later choice has taken the place of this one.")
            answer = explored(choice, self.frame, lambda progress: own != self.latest, MAX_TIME)
        if own != self.latest:
            raise Outdated("a later choice has taken the place of this one.")
        return answer


class _Server(ThreadingHTTPServer):
    """A server that goes on in silence when a browser closes a connection before it has its answer."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], explorer: Explorer) -> None:
        super().__init__(address, Request)
        self.explorer = explorer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing for a connection that was closed; a traceback for anything else."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def serve(frame: Any, port: int = 0, *, open_browser: bool = True, say: Callable[[str], Any] = print) -> None:
    """Serve the page of a table until interrupted.

    Parameters
    ----------
    frame : DataFrame
        The table.
    port : int, default=0
        The port on 127.0.0.1; 0 takes a free one.
    open_browser : bool, default=True
        Whether to open the page in the default browser.
    say : callable, default=print
        Called with the address.
    """
    from matplotlib import pyplot

    pyplot.switch_backend("agg")  # pictures are drawn in threads, where windows cannot be
    explorer = Explorer(frame, port)
    say(f"{explorer.address}\nOnly this machine can open it, and only with the token in the address. Stop with Ctrl+C.")
    if open_browser:
        webbrowser.open(explorer.address)
    try:
        explorer.run()
    except KeyboardInterrupt:
        pass
    finally:
        explorer.server.server_close()
