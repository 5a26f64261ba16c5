"""A page that is served by a thread of the tests, and a viewer without a browser."""

import json
import struct
import threading
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from societies.view import listen
from societies.view.server import serve
from societies.view.session import Session
from tests.view.browser import until


class Served:
    """A page, where it is, and the errors that it has reported."""

    def __init__(self, view, host="127.0.0.1", port=0, raw=None):
        self.listening, self.errors = listen(host, port), []
        self.session = Session(view, self.errors.append)
        self._opened, self._servers = threading.Event(), []
        self._thread = threading.Thread(
            target=serve,
            args=(self.session, self.listening),
            kwargs={
                "report": self.errors.append,
                "opened": self._opened.set,
                "raw": raw,
                "ready": self._servers.append,
            },
        )
        self._thread.start()
        assert self._opened.wait(10)

    @property
    def address(self):
        """The address of the page, on this machine."""
        parts = urlsplit(self.listening.address)
        return parts._replace(netloc=f"127.0.0.1:{parts.port}").geturl()

    @property
    def port(self):
        """The port of the page."""
        return urlsplit(self.listening.address).port

    def path(self, name):
        """Return the address of a file, with the token."""
        return urlsplit(self.address)._replace(path=f"/{name}").geturl()

    def end(self):
        """End the server."""
        self._servers[0].end()
        self._thread.join(10)
        assert not self._thread.is_alive()


@contextmanager
def served(view, **options):
    """Serve a view."""
    page = Served(view, **options)
    try:
        yield page
    finally:
        page.end()


class Viewer:
    """What a page does, without a browser: it reads, acknowledges, and sends."""

    def __init__(self, page, *, acknowledge=True, address=None, **options):
        address = (address or page.path("socket")).replace("http:", "ws:")
        self._open = connect(address, max_size=None, compression=None, **options)
        self.socket = self._open.__enter__()
        self.news, self.frames, self.seq = [], [], 0
        self._acknowledge = acknowledge
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        with suppress(ConnectionClosed):
            self._read_all()

    def _read_all(self):
        for data in self.socket:
            if isinstance(data, str):
                self.news.append(json.loads(data))
                continue
            (length,) = struct.unpack_from("<I", data)
            header = json.loads(data[4 : 4 + length])
            self.frames.append((header, data[4 + length :]))
            if self._acknowledge:
                self.socket.send(json.dumps({"shown": header["number"]}))

    def send(self, **message):
        """Send what a control or the mouse does."""
        self.seq += 1
        self.socket.send(json.dumps({"seq": self.seq, **message}))

    def until_state(self, state, caption="3 of 3"):
        """Wait for the last frame of a state of `SlowView`."""

        def reached():
            header, data = self.frames[-1] if self.frames else ({}, b"")
            return header.get("caption") == caption and data[0] == state % 256 and header

        return until(reached, f"state {state}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._open.__exit__(None, None, None)
        self._thread.join(10)
