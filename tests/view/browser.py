"""A headless Chromium, with a real mouse, by its DevTools protocol over a WebSocket."""

import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request

from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "needs Chromium (Debian: apt install chromium)"


def found():
    """Return the path of a Chromium, None if there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def until(condition, what, seconds=20.0):
    """Wait until a condition holds; return its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"waited without success for {what}"
        time.sleep(0.01)
    return value


class Browser:
    """A browser with windows (targets); closed at the end of a `with`."""

    def __init__(self, folder):
        self._folder = folder
        words = [
            found(),
            "--headless=new",
            f"--user-data-dir={folder}",
            "--remote-debugging-port=0",
        ]
        words += ["--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio"]
        words += ["--window-size=1280,900", "--disable-background-networking"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([*words, "about:blank"], start_new_session=True, **quiet)
        port = folder / "DevToolsActivePort"
        until(lambda: port.exists() and port.read_text().count("\n"), "Chromium")
        self._port = int(port.read_text().split()[0])
        self._windows = []

    @property
    def pid(self):
        """Number of the process that has started all others."""
        return self._process.pid

    def open(self, address):
        """Return a new window that shows an address."""
        request = f"http://127.0.0.1:{self._port}/json/new?about:blank"
        with urllib.request.urlopen(urllib.request.Request(request, method="PUT")) as answer:
            target = json.load(answer)
        window = Window(target["webSocketDebuggerUrl"])
        self._windows.append(window)
        window.call("Page.navigate", url=address)
        return window

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for window in self._windows:
            window.close()
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Window:
    """A window: what it shows, and its mouse."""

    def __init__(self, address):
        # Pings are random numbers of a thread that lives as long as the browser: hypothesis would
        # take them for a strategy's, in whichever test runs then.
        self._open = connect(address, max_size=None, compression=None, ping_interval=None)
        self._socket = self._open.__enter__()
        self._ids = itertools.count(1)
        self.call("Page.enable")
        self.call("Runtime.enable")

    def call(self, method, **parameters):
        """Call a method of the protocol; return its result."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=30))
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def js(self, expression):
        """Return the value of an expression in the page."""
        given = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", **given)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, condition, seconds=20.0):
        """Wait until an expression is true; while the page is being read, it is an error."""
        tried = f"(() => {{ try {{ return Boolean({condition}); }} catch {{ return false; }} }})()"
        until(lambda: self.js(tried), condition, seconds)

    def reads(self, name, text):
        """Wait until an element has a text, or one that begins so and ends with '...'."""
        place = f"document.getElementById('{name}').textContent"
        begins = json.dumps(text.removesuffix("..."))
        self.until(
            f"{place}.startsWith({begins})" if text.endswith("...") else f"{place} === {begins}"
        )

    def text(self, name):
        """Return the text of an element."""
        return self.js(f"document.getElementById('{name}')?.textContent ?? ''")

    def box(self, name):
        """Return left edge, upper edge, width and height of an element on the screen."""
        box = f"document.getElementById('{name}').getBoundingClientRect()"
        return self.js(f"(({{x, y, width, height}}) => [x, y, width, height])({box})")

    def mouse(self, kind, x, y, **more):
        """Send an event of the mouse: mouseMoved, mousePressed, mouseReleased, mouseWheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, begin, *ways):
        """Drag from a point of the screen by several distances, each from where it began."""
        x, y = begin
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for dx, dy in ways:
            self.mouse("mouseMoved", x + dx, y + dy, button="left", buttons=1)
        x, y = x + ways[-1][0], y + ways[-1][1]
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def click(self, name):
        """Click into the middle of an element."""
        x, y, width, height = self.box(name)
        self.drag((x + width / 2, y + height / 2), (0, 0))

    def pixel(self, x, y):
        """Return red, green and blue of a pixel of the picture."""
        read = f"document.getElementById('picture').getContext('2d').getImageData({x}, {y}, 1, 1)"
        return self.js(f"Array.from({read}.data.slice(0, 3))")

    def front(self):
        """Put the window in front of the others; a browser draws nothing in those behind."""
        self.call("Page.bringToFront")

    def screenshot(self, path):
        """Write what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        """Close the window."""
        if self._socket.close_code is None:
            self.call("Page.close")
        self._open.__exit__(None, None, None)
