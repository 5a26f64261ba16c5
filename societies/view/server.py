"""How is a session served to browsers? As one page, one WebSocket, and two files to save."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from societies import signals
from societies.config import saved
from societies.errors import one_line, shortened
from societies.view import messages
from societies.view.listening import Listening, is_loopback
from societies.view.session import Session, Viewer
from societies.view.shots import Shot, message

PAGE = Path(__file__).parent / "page"
FILES = {
    "page.js": "text/javascript",
    "page.css": "text/css",
    "charts.js": "text/javascript",
    "agents.js": "text/javascript",
    "scene.js": "text/javascript",
    "saving.js": "text/javascript",
    "libraries/uPlot.iife.min.js": "text/javascript",
    "libraries/uPlot.min.css": "text/css",
    "libraries/d3-dispatch.min.js": "text/javascript",
    "libraries/d3-timer.min.js": "text/javascript",
    "libraries/d3-quadtree.min.js": "text/javascript",
    "libraries/d3-force.min.js": "text/javascript",
}

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' "
    "blob: data:; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",  # the address has the token
    "x-content-type-options": "nosniff",
}

NEWS_SECONDS = 1 / 60
"""Shortest time between two messages about the controls."""

PING_SECONDS, SILENT_SECONDS = 5.0, 10.0
"""Interval of pings to a browser, and time without an answer after which it is disconnected: a
computer that was put to sleep must not stay in control."""

LONGEST_MESSAGE = 1 << 16
"""Most bytes of a message that is read; those of the page have a few hundred."""


class Page:
    """The pages of a session, for Starlette.

    ``report`` is called with one line for each connection that is closed because of its messages;
    ``raw`` is that of `serve`.
    """

    def __init__(
        self,
        session: Session[Any],
        listening: Listening,
        report: Callable[[str], None],
        raw: bool | None = None,
    ) -> None:
        self._session, self._listening = session, listening
        self._report, self._raw = report, raw

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/", self._index),
                *(Route(f"/{name}", self._file) for name in FILES),
                Route("/picture.png", self._picture),
                Route("/configuration.yaml", self._configuration),
                WebSocketRoute("/socket", self._socket),
            ]
        )

    def _refusal(self, connection: HTTPConnection) -> str:
        """Return why a connection is refused, "" if it is accepted."""
        if unknown := self._unknown(connection):
            return unknown
        host = connection.headers.get("host", "")
        if self._listening.token:
            given = connection.query_params.get("token", "")
            if not hmac.compare_digest(given.encode(), self._listening.token.encode()):
                return "wrong token: open the address that societies view has printed"
        elif not is_loopback(_parts(f"//{host}")[1]):
            # Otherwise a foreign site whose name resolves to this machine could connect.
            return "this page is for this machine only: open http://localhost"
        origin = connection.headers.get("origin")
        if origin is not None and _parts(origin)[0] != host:
            return "this page is not for other sites"
        return ""

    def _unknown(self, connection: HTTPConnection) -> str:
        """Return what a connection asks for that would do nothing, "" if there is nothing."""
        keys = [key for key, _ in connection.query_params.multi_items()]
        known = ["token"] if self._listening.token else []
        for key in keys:
            if key not in known:
                return f"unknown in this address: {shortened(key)}"
        if len(keys) > len(known):
            return "the token is in this address more than once"
        if connection.headers.get("sec-websocket-protocol"):
            return "a subprotocol is asked for; there is none"
        return ""

    async def _index(self, request: Request) -> Response:
        """The page itself."""
        refusal = self._refusal(request)
        if refusal:
            return PlainTextResponse(f"{refusal}\n", 403, headers=HEADERS)
        return FileResponse(PAGE / "index.html", headers=HEADERS)

    async def _file(self, request: Request) -> Response:
        """A script or style of the page, which contains no data: no token is required."""
        if unknown := self._unknown(request):
            return PlainTextResponse(f"{unknown}\n", 403, headers=HEADERS)
        name = request.scope["path"].lstrip("/")  # `request.url` fails if the host is not valid
        return FileResponse(PAGE / name, media_type=FILES[name], headers=HEADERS)

    def _picture(self, request: Request) -> Response:
        """The newest frame with all pixels as a file; called in a thread because it is slow."""
        refusal, newest = self._refusal(request), self._session.newest_whole
        if refusal or newest is None or isinstance(newest.frame, Shot):
            words = refusal or "there is no picture"
            return PlainTextResponse(f"{words}\n", 403 if refusal else 404, headers=HEADERS)
        name = re.sub(r"[^a-z0-9]+", "-", self._session.view.title.lower()).strip("-") or "picture"
        about = {"content-disposition": f'attachment; filename="{name}.png"'}
        data = messages.picture(newest, "PNG")
        return Response(data, media_type="image/png", headers=HEADERS | about)

    async def _configuration(self, request: Request) -> Response:
        """The configuration of the state."""
        refusal = self._refusal(request)
        if refusal:
            return PlainTextResponse(f"{refusal}\n", 403, headers=HEADERS)
        state, newest = self._session.state, self._session.newest
        try:
            found = self._session.view.configuration(state)
            text = found if isinstance(found, str) else saved(found)
        except Exception as error:  # an error of the workload
            return PlainTextResponse(f"{one_line(error)}\n", 500, headers=HEADERS)
        if newest is not None and newest.state == state and isinstance(newest.frame, Shot):
            text = newest.frame.hash_comment() + text
        return PlainTextResponse(text, headers=HEADERS)

    async def _socket(self, websocket: WebSocket) -> None:
        """The connection of a viewer, from its first message to its last."""
        if self._refusal(websocket):
            await websocket.close()  # before it is accepted: 403
            return
        await websocket.accept()
        loop, wake = asyncio.get_running_loop(), asyncio.Event()

        def woken() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(wake.set)

        viewer = self._session.join(woken)
        sender = asyncio.create_task(self._send(websocket, viewer, wake))
        try:
            while True:
                message = await websocket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                self._session.receive(viewer, message.get("text"))
        except messages.Nonsense as error:
            self._report(f"a connection was closed: it sent {error}")
            with suppress(RuntimeError, WebSocketDisconnect):
                await websocket.close(1003, f"the server was sent {error}")
        finally:
            self._session.leave(viewer)
            sender.cancel()
            with suppress(asyncio.CancelledError):
                await sender

    async def _send(self, websocket: WebSocket, viewer: Viewer[Any], wake: asyncio.Event) -> None:
        """Send news and frames to a viewer whenever it is woken."""
        loop = asyncio.get_running_loop()
        raw = self._raw
        if raw is None:
            raw = websocket.client is not None and is_loopback(websocket.client.host)
        later = 0.0
        with suppress(WebSocketDisconnect, RuntimeError, OSError):  # the browser disconnected
            while True:
                await wake.wait()
                wake.clear()
                if loop.time() < later:
                    loop.call_at(later, wake.set)
                elif (news := self._session.news(viewer)) is not None:
                    later = loop.time() + NEWS_SECONDS
                    await websocket.send_json(news)
                if (one := self._session.frame(viewer)) is not None:
                    state = self._session.number_of(one.state)
                    if isinstance(one.frame, Shot):
                        data = message(
                            one.frame, number=one.number, state=state, known=viewer.known
                        )
                    elif raw:
                        data = messages.frame(one, raw=True, state=state)
                    else:
                        data = await asyncio.to_thread(messages.frame, one, raw=False, state=state)
                    await websocket.send_bytes(data)


def _parts(address: str) -> tuple[str, str]:
    """Return host with port, and host alone, of an address; empty texts if it is not valid."""
    try:
        parts = urlsplit(address)
        return parts.netloc, parts.hostname or ""
    except ValueError:  # invalid brackets or port, as in "[::1"
        return "", ""


class _OneLine(logging.Handler):
    """Reports what uvicorn logs: warnings and errors, without tracebacks."""

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record."""
        error = record.exc_info[1] if record.exc_info else None
        words = record.getMessage().splitlines()[0] if record.getMessage() else ""
        self._report(words if error is None else f"{words.rstrip()}: {one_line(error)}")


class Server(uvicorn.Server):
    """Serves a page until Ctrl-C, SIGTERM or SIGHUP, or until `end` is called.

    ``report`` and ``opened`` are those of `serve`.
    """

    def __init__(
        self,
        app: Starlette,
        listening: Listening,
        report: Callable[[str], None],
        opened: Callable[[], None],
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",  # it refuses long headers
                ws="websockets-sansio",
                ws_max_size=LONGEST_MESSAGE,
                ws_ping_interval=PING_SECONDS,
                ws_ping_timeout=SILENT_SECONDS,
                ws_per_message_deflate=False,  # compression takes longer than sending the pixels
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                timeout_graceful_shutdown=2,
            )
        )
        self._listening, self._opened = listening, opened
        logger = logging.getLogger("uvicorn.error")
        logger.handlers, logger.propagate = [_OneLine(report)], False
        logger.setLevel(logging.WARNING)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        self._opened()

    def serve_all(self) -> None:
        """Serve until the end.

        Raises
        ------
        Stopped
            After SIGTERM or SIGHUP, if these signals end the process.
        """
        try:
            self.run(sockets=[self._listening.socket])
        except KeyboardInterrupt as error:
            if signals.number_of(error) != signal.SIGINT:  # Ctrl-C is how a page is ended
                raise

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGHUP end the server as SIGTERM does, unless it is ignored or has a handler."""
        hangup = signals.HANGUP
        if hangup is None or not signals.handled(hangup):
            with super().capture_signals():
                yield
            return
        former = signal.signal(hangup, self.handle_exit)
        try:
            with super().capture_signals():
                yield
        finally:
            signal.signal(hangup, former)
        if hangup in self._captured_signals:
            if former is signals.stop:  # it would take this for a repetition of the first signal
                raise signals.Stopped(hangup)
            signal.raise_signal(hangup)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server; a second signal does not wait for open connections."""
        if signals.counts(sig):
            self.force_exit = self.should_exit
            super().handle_exit(sig, frame)

    def end(self) -> None:
        """Let `serve_all` return."""
        self.should_exit = True


def serve(
    session: Session[Any],
    listening: Listening,
    *,
    report: Callable[[str], None],
    opened: Callable[[], None],
    raw: bool | None = None,
    ready: Callable[[Server], None] = lambda server: None,
) -> None:
    """Serve a session until Ctrl-C.

    ``report``, ``opened`` and ``raw`` are those of `societies.view.show`; ``ready`` is called with
    the server before it begins, so that another thread can end it.
    """
    lock = threading.Lock()

    def report_one(text: str) -> None:
        with lock:
            report(text)

    server = Server(Page(session, listening, report_one, raw).app(), listening, report_one, opened)
    ready(server)
    session.start()
    try:
        server.serve_all()
    finally:
        session.close()
