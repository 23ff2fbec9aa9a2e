"""One request and its answer, over connections that are kept open; the standard library's `http.client`."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
import typing
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ._errors import Refused, SetupError, ShapeError

CONNECT_SECONDS = 5.0
# What a server takes in one request, unless it was set up otherwise.
BODY_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. Kept as bytes, so that a repeat is the same to the last bit."""

    method: str
    path: str
    body: bytes | None = None
    # Makes a repeat known for what it is, where nothing in the body does.
    key: str | None = None
    # How long the server may take its time to answer.
    wait: float = 0.0


def get(path: str, *, wait: float = 0.0) -> Request:
    """A request that reads."""
    return Request("GET", path, wait=wait)


def post(path: str, body: dict[str, Any], *, keyed: bool = False, wait: float = 0.0) -> Request:
    """A request that writes; `keyed` where only a key can tell a repeat."""
    key = str(uuid.uuid4()) if keyed else None
    return Request("POST", path, encoded(body), key, wait)


def encoded(body: Any) -> bytes:
    """JSON as the protocol takes it."""
    try:
        return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as why:
        raise ShapeError(f"this cannot be sent as JSON: {why}") from why


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whatever it says."""

    status: int
    body: bytes
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Away:
    """There is no answer, or one that says to come again later."""

    why: str
    asked: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The server says that it failed: for now, or at this very request, for good."""

    problem: Refused


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked for; `None` for an answer without a body."""

    value: Any


def verdict(reply: Reply | Away) -> Answer | Away | Failed | Refused:
    """What an answer means."""
    if isinstance(reply, Away):
        return reply
    if 200 <= reply.status < 300:
        try:
            return Answer(json.loads(reply.body) if reply.body else None)
        except ValueError:
            return Away("the server's answer is not JSON: is something else between it and this process?")
    problem = _problem(reply)
    if reply.status in (502, 503, 504):
        return Away(problem.detail, reply.retry_after)
    if reply.status == 429:
        return Away(problem.detail, reply.retry_after)
    if reply.status >= 500 and problem.code == "internal":
        return Failed(problem)
    return problem


def _problem(reply: Reply) -> Refused:
    """The refusal in the body, or what can be said of one that is not ours."""
    try:
        told = json.loads(reply.body)
        code, detail = str(told.pop("code")), str(told.pop("detail", ""))
    except (ValueError, KeyError, AttributeError, TypeError):
        start = reply.body[:200].decode(errors="replace")
        return Refused("internal", f"HTTP {reply.status}: {start}", reply.status)
    told.pop("title", None)
    return Refused(code, detail, reply.status, told)


class Abort:
    """Ends an exchange that is under way, from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.fired = False

    def arm(self, sock: socket.socket | None) -> None:
        """From now on this is the socket to cut; none when the exchange is over."""
        with self._lock:
            self._socket = sock
            if self.fired and sock is not None:
                _cut(sock)

    def fire(self) -> None:
        """Cuts the exchange."""
        with self._lock:
            self.fired = True
            if self._socket is not None:
                _cut(self._socket)


def _cut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # It is closed already, which is as good.
        sock.shutdown(socket.SHUT_RDWR)


class Wire:
    """The way to one server. Any number of threads may use it at once."""

    def __init__(self, url: str, token: str, body_max: int = BODY_MAX) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SetupError(f"{url!r} is no address of a server: it should look like http://127.0.0.1:3047")
        if not token or not token.isascii() or not token.isprintable():
            raise SetupError("the token is empty or holds characters that no token has")
        self.url, self.body_max = url.rstrip("/"), body_max
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._idle: list[http.client.HTTPConnection] = []
        self._owner = os.getpid()

    def exchange(self, request: Request, timeout: float, abort: Abort | None = None) -> Reply | Away:
        """One try. A kept connection that the server has closed meanwhile is replaced at once."""
        while True:
            connection, kept = self._connection()
            try:
                reply = self._try(connection, request, max(timeout, 0.001), abort)
            except (OSError, http.client.HTTPException, ValueError) as why:
                connection.close()
                stale = isinstance(why, http.client.RemoteDisconnected | ConnectionError)
                if kept and stale and not (abort and abort.fired):
                    continue
                return Away(f"{type(why).__name__}: {why}" if str(why) else type(why).__name__)
            if connection.sock is not None:
                self._idle.append(connection)
            return reply

    def close(self) -> None:
        """Closes the connections that nobody uses now."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        if getattr(self, "_owner", None) == os.getpid():
            self.close()

    def _connection(self) -> tuple[http.client.HTTPConnection, bool]:
        if self._owner != os.getpid():  # A forked child must not speak on its parent's connections.
            self._idle, self._owner = [], os.getpid()
        try:
            return self._idle.pop(), True
        except IndexError:
            pass
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port), False
        return http.client.HTTPSConnection(self._host, self._port, context=self._tls), False

    def _try(
        self, connection: http.client.HTTPConnection, request: Request, timeout: float, abort: Abort | None
    ) -> Reply:
        if connection.sock is None:
            connection.timeout = min(timeout, CONNECT_SECONDS)
            connection.connect()
        sock = typing.cast("socket.socket", connection.sock)
        sock.settimeout(timeout)
        if abort:
            abort.arm(sock)
        try:
            headers = self._headers
            if request.key:
                headers = {**headers, "Idempotency-Key": request.key}
            connection.request(request.method, self._prefix + request.path, request.body, headers)
            with connection.getresponse() as answer:
                body = answer.read()
                return Reply(answer.status, body, _seconds(answer.getheader("Retry-After")))
        finally:
            if abort:
                abort.arm(None)


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
