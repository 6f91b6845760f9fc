"""The server of the page: on 127.0.0.1 only, and only for requests that carry its random token."""

from __future__ import annotations

import json
import secrets
import sys
import threading
import webbrowser
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

import numpy as np

from sparsebayes.explorer.choices import Choice, described
from sparsebayes.explorer.fitting import explored

ADDRESS = "127.0.0.1"
MOST_ROWS = 2000  # that a page fits; so many are drawn at random from a larger table
MAX_TIME = 30.0  # seconds of one fit
LARGEST_REQUEST = 1 << 20  # bytes
PATIENCE = 60.0  # seconds for which a connection may be silent
PAGE = "page.html"
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


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
        self.server = _Server((ADDRESS, port), _handler(self))
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
                raise _Outdated("a later choice has taken the place of this one.")
            answer = explored(choice, self.frame, lambda progress: own != self.latest, MAX_TIME)
        if own != self.latest:
            raise _Outdated("a later choice has taken the place of this one.")
        return answer


class _Server(ThreadingHTTPServer):
    """A server that goes on in silence when a browser closes a connection before it has its answer."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing for a connection that was closed; a traceback for anything else."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Outdated(Exception):
    """A fit that nobody waits for any more."""


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


def _parsed(body: bytes) -> Any:
    """The value that the body of a request means; ValueError if it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError(f"a choice must be sent as JSON, got {body[:100]!r}.") from None


def _handler(explorer: Explorer) -> type[BaseHTTPRequestHandler]:
    """The class of the requests to one explorer."""

    class Handler(BaseHTTPRequestHandler):
        """One request."""

        protocol_version = "HTTP/1.1"
        server_version, sys_version = "sparsebayes", ""
        timeout = PATIENCE

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if not self._admitted(parse_qs(query).get("token", [""])[0]):
                return
            if path == "/":
                nonce = secrets.token_urlsafe(16)
                page = files("sparsebayes.explorer").joinpath(PAGE).read_text(encoding="utf-8")
                page = page.replace("{{nonce}}", nonce).replace("{{token}}", explorer.token)
                self._answer(HTTPStatus.OK, page.encode(), "text/html; charset=utf-8", POLICY.format(nonce=nonce))
            elif path == "/table":
                self._json(HTTPStatus.OK, explorer.table())
            else:
                self._json(HTTPStatus.NOT_FOUND, {"error": "there is no such page."})

        def do_POST(self) -> None:
            if not self._admitted(self.headers.get("X-Token", "")):
                return
            if self.path.partition("?")[0] != "/fit":
                return self._json(HTTPStatus.NOT_FOUND, {"error": "there is no such page."})
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or len(length) > len(str(LARGEST_REQUEST)) or int(length) > LARGEST_REQUEST:
                self.close_connection = True
                return self._json(HTTPStatus.BAD_REQUEST, {"error": "the request has no length, or is too long."})
            try:
                self._json(HTTPStatus.OK, explorer.fit(_parsed(self.rfile.read(int(length)))))
            except _Outdated as error:
                self._json(HTTPStatus.CONFLICT, {"error": str(error)})
            except (ValueError, TypeError, ArithmeticError) as error:
                self._json(HTTPStatus.BAD_REQUEST, {"error": " ".join(str(error).split())})

        def _admitted(self, token: str) -> bool:
            """Whether the request has the token and comes from a page of this server; else it is refused.

            A page elsewhere whose name leads to 127.0.0.1 sends its own name as Host.
            """
            own = {f"{ADDRESS}:{explorer.port}", f"localhost:{explorer.port}"}
            hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
            good = len(hosts) == 1 and hosts[0] in own and {*origins} <= {f"http://{each}" for each in own}
            if good and secrets.compare_digest(token.encode("utf-8", "replace"), explorer.token.encode()):
                return True
            self.close_connection = True
            self._json(HTTPStatus.FORBIDDEN, {"error": "open the address that sparsebayes explore has printed."})
            return False

        def _json(self, status: HTTPStatus, value: dict[str, Any]) -> None:
            self._answer(status, json.dumps(value, allow_nan=False).encode(), "application/json", "default-src 'none'")

        def _answer(self, status: HTTPStatus, body: bytes, kind: str, policy: str) -> None:
            self.send_response(status)
            for name, value in (
                ("Content-Type", kind),
                ("Content-Length", str(len(body))),
                ("Content-Security-Policy", policy),
                ("Referrer-Policy", "no-referrer"),
                ("X-Content-Type-Options", "nosniff"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
                ("Cache-Control", "no-store"),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: the terminal is for the address."""

    return Handler
