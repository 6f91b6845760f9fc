"""The requests of the page: each must have the token of the server, and come from its own address."""

from __future__ import annotations

import json
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

LARGEST_REQUEST = 1 << 20  # bytes
PATIENCE = 60.0  # seconds for which a connection may be silent
PAGE = "page.html"
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Outdated(Exception):
    """A fit that nobody waits for any more."""


class Request(BaseHTTPRequestHandler):
    """One request to the explorer of the server, `server.explorer`."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "sparsebayes", ""
    timeout = PATIENCE
    server: Any

    def do_GET(self) -> None:
        """Send the page, or what it shows of the table."""
        path, _, query = self.path.partition("?")
        if not self._admitted(parse_qs(query).get("token", [""])[0]):
            return
        if path == "/":
            nonce = secrets.token_urlsafe(16)
            page = files("sparsebayes.explorer").joinpath(PAGE).read_text(encoding="utf-8")
            page = page.replace("{{nonce}}", nonce).replace("{{token}}", self.server.explorer.token)
            self._answer(HTTPStatus.OK, page.encode(), "text/html; charset=utf-8", POLICY.format(nonce=nonce))
        elif path == "/table":
            self._json(HTTPStatus.OK, self.server.explorer.table())
        else:
            self._json(HTTPStatus.NOT_FOUND, {"error": "there is no such page."})

    def do_POST(self) -> None:
        """Fit what the page has sent."""
        if not self._admitted(self.headers.get("X-Token", "")):
            return
        if self.path.partition("?")[0] != "/fit":
            return self._json(HTTPStatus.NOT_FOUND, {"error": "there is no such page."})
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > len(str(LARGEST_REQUEST)) or int(length) > LARGEST_REQUEST:
            self.close_connection = True
            return self._json(HTTPStatus.BAD_REQUEST, {"error": "the request has no length, or is too long."})
        try:
            self._json(HTTPStatus.OK, self.server.explorer.fit(_parsed(self.rfile.read(int(length)))))
        except Outdated as error:
            self._json(HTTPStatus.CONFLICT, {"error": str(error)})
        except (ValueError, TypeError, ArithmeticError) as error:
            self._json(HTTPStatus.BAD_REQUEST, {"error": " ".join(str(error).split())})

    def _admitted(self, token: str) -> bool:
        """Whether the request has the token and comes from a page of this server; else it is refused.

        A page elsewhere whose name leads to 127.0.0.1 sends its own name as Host.
        """
        address, port = self.server.server_address
        own = {f"{address}:{port}", f"localhost:{port}"}
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        good = len(hosts) == 1 and hosts[0] in own and {*origins} <= {f"http://{each}" for each in own}
        if good and secrets.compare_digest(token.encode("utf-8", "replace"), self.server.explorer.token.encode()):
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


def _parsed(body: bytes) -> Any:
    """The value that the body of a request means; ValueError if it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError(f"a choice must be sent as JSON, got {body[:100]!r}.") from None
