"""Measures the page of a run: days a second with and without it, messages, frames and memory.

The page plays as fast as possible in headless Chromium, or (`--client`) a client reads and
acknowledges its messages, for machines without a browser. Then `societies run` computes the same
days without a page. On a busy machine only the processor time of several `--pairs` says something.

    python benchmarks/view_run.py economy/devices --set days=900 --seconds 7 --pairs 5 --out v.csv
    python benchmarks/view_run.py economy/devices --set replicates=1000 --client --out view-run.csv
    python benchmarks/view_run.py economy/quickstart --set days=19000 --minutes 60 --out memory.csv
"""

import argparse
import csv
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from benchmarks.view import family, processor, served
from tests.view.browser import Browser, until

COUNT = """
window.sizes = []; window.drawings = [];
receive = ((inner) => (buffer) => { sizes.push(buffer.byteLength); inner(buffer); })(receive);
showScene = ((inner) => (frame) => {
  const began = performance.now(); inner(frame); drawings.push(performance.now() - began);
})(showScene);
"""
COLUMNS = ["date", "commit", "device", "cores", "load", "configuration", "set", "reader"]
COLUMNS += ["measurement", "value", "unit"]


class Page:
    """A window of Chromium that shows a run."""

    def __init__(self, window):
        self._window = window
        window.until("document.body.dataset.tick !== undefined", 300)

    def begin(self, pace):
        self._window.js(COUNT)
        choice = "document.getElementById('c-pace')"
        self._window.js(f"{choice}.value = '{pace}'; {choice}.onchange()")
        self.press("play")

    def press(self, name):
        self._window.js(f"document.getElementById('c-{name}').click()")

    @property
    def tick(self):
        return int(self._window.js("newest ? newest.tick : 0"))

    def seen(self):
        """Return the sizes of messages in bytes, and the times of frames in ms."""
        taken = "all = [sizes, drawings]; sizes = []; drawings = []; return all;"
        return self._window.js(f"(() => {{ const {taken} }})()")

    def memory(self):
        """Return the bytes of the page's heap after a collection."""
        self._window.call("HeapProfiler.collectGarbage")
        return self._window.js("performance.memory.usedJSHeapSize")


class Client:
    """A client that reads and acknowledges as a page does, and draws nothing."""

    def __init__(self, address):
        self._sizes, self.tick, self._seq, self._first = [], 0, 0, threading.Event()
        self._socket = connect(
            address.replace("http:", "ws:") + "socket", max_size=None, compression=None
        )
        threading.Thread(target=self._read, daemon=True).start()
        assert self._first.wait(600), "no first picture"

    def _read(self):
        with suppress(ConnectionClosed):
            self._read_all()

    def _read_all(self):
        for data in self._socket:
            if isinstance(data, str):
                continue
            header = json.loads(data[4 : 4 + struct.unpack_from("<I", data)[0]])
            self._sizes.append(len(data))
            self.tick = header["tick"]
            self._socket.send(json.dumps({"shown": header["number"]}))
            self._first.set()

    def _act(self, **message):
        self._seq += 1
        self._socket.send(json.dumps({"seq": self._seq, **message}))

    def begin(self, pace):
        self._act(change="pace", value=pace)
        self.press("play")

    def press(self, name):
        self._act(press=name)

    def seen(self):
        sizes, self._sizes = self._sizes, []
        return sizes, []

    def memory(self):
        return 0


def resident(pids):
    """Return the bytes of memory that processes have resident."""
    found = 0
    for pid in pids:
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:  # a process that has ended
            continue
        found += pages * os.sysconf("SC_PAGE_SIZE")
    return found


def alone(words, ticks, folder):
    """Return the seconds, and those of the processor, of a run without a page."""
    before = os.times()
    command = [sys.executable, "-m", "societies", "run", *words, "--ticks", str(ticks)]
    command += ["--out", str(folder / "run.h5"), "--overwrite"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    wall, building = re.search(r"wall time +([\d.]+) s, of which ([\d.]+) s", text).groups()
    return float(wall) - float(building), used


@contextmanager
def opened(words, client):
    """Serve a run and open its page; yield the page, the server's process, seconds so far.

    The browser runs already, as that of a user does.
    """
    with ExitStack() as stack:
        browser = None
        if not client:
            ignored = {"ignore_cleanup_errors": True}
            folder = stack.enter_context(tempfile.TemporaryDirectory(**ignored))
            browser = stack.enter_context(Browser(Path(folder)))
        began = time.perf_counter()
        process, address = served(words)
        try:
            page = Page(browser.open(address)) if browser else Client(address)
            yield page, process, time.perf_counter() - began, browser
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()


def played(page, process, browser, seconds, pace):
    """Play; return rows about rate, messages, frames and processor time."""
    servers = family(process.pid)
    page.begin(pace)
    until(lambda: page.tick > 2, "the first ticks", 600)
    page.seen()
    first, began, used = page.tick, time.perf_counter(), processor(servers)
    read = processor(family(browser.pid)) if browser else 0.0
    time.sleep(seconds)
    ticks, took = page.tick - first, time.perf_counter() - began
    sizes, times = page.seen()
    used = processor(servers) - used
    read = processor(family(browser.pid)) - read if browser else 0.0
    page.press("play")
    yield "with the page", ticks / took, "ticks/s"
    yield "first tick with the page", first + 1, "tick"
    yield "last tick with the page", first + ticks, "tick"
    yield "with the page, server", used / max(ticks, 1), "processor s/tick"
    yield "with the page, browser", read / max(ticks, 1), "processor s/tick"
    yield "frames", len(sizes) / took, "frames/s"
    yield "message, median", statistics.median(sizes), "bytes"
    yield "message, largest", max(sizes), "bytes"
    yield "bandwidth", sum(sizes) / took, "bytes/s"
    if times:
        yield "drawing, median", statistics.median(times), "ms/frame"
        yield "drawing, longest", max(times), "ms/frame"


def remembered(page, process, minutes):
    """Play 5 ticks a second; return the memory every minute."""
    servers = family(process.pid)
    page.begin("5 a second")
    for minute in range(int(minutes) + 1):
        at = f"after {minute} minutes"
        yield f"memory of the page {at}, {page.tick} ticks", page.memory() / 1e6, "MB"
        yield f"memory of the server {at}, {page.tick} ticks", resident(servers) / 1e6, "MB"
        page.seen()
        time.sleep(60 if minute < int(minutes) else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", nargs="?", default="economy/devices")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pace", default="as fast as possible", help="speed chosen on the page")
    parser.add_argument("--pairs", type=int, default=1, help="pages, each followed by a run")
    parser.add_argument("--minutes", type=float, default=0.0, help="measure memory for so long")
    parser.add_argument("--client", action="store_true", help="read messages without a browser")
    parser.add_argument("--out", type=Path, help="append to this CSV")
    options = parser.parse_args()
    from societies.workload.running.devices import chosen_device

    words = [options.config, "--device", options.device]
    words += [word for one in options.set for word in ("--set", one)]
    about = {
        "date": time.strftime("%Y-%m-%d"),
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True
        ).stdout.strip(),
        "device": chosen_device(options.device)[2]["device"],
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "configuration": options.config,
        "set": " ".join(options.set)
        + ("" if options.pace == "as fast as possible" else f" ({options.pace})"),
        "reader": "client" if options.client else "Chromium",
    }
    rows = []

    def add(measurement, value, unit):
        rows.append(about | {"measurement": measurement, "value": f"{value:.4g}", "unit": unit})
        print(f"{measurement}: {value:.4g} {unit}", flush=True)

    def pair(folder):
        """Add rows of a page and of a run without it; return what the page takes of each."""
        found = {}
        with opened(words, options.client) as (page, process, seconds, browser):
            add("first picture", seconds, "s")
            add("first picture, server", processor(family(process.pid)), "processor s")
            for row in played(page, process, browser, options.seconds, options.pace):
                add(*row)
                found[row[0]] = row[1]
        first, last = int(found["first tick with the page"]), int(found["last tick with the page"])
        (few, few_used), (many, many_used) = (alone(words, n, folder) for n in (first - 1, last))
        ticks = last - first + 1
        rate, used = ticks / (many - few), (many_used - few_used) / ticks
        add("without the page, the same ticks", rate, "ticks/s")
        add("without the page, the same ticks", used, "processor s/tick")
        both = found["with the page, server"] + found["with the page, browser"]
        return found["with the page"] / rate, both / used

    try:
        with tempfile.TemporaryDirectory() as name:
            if options.minutes:
                with opened(words, options.client) as (page, process, _, _):
                    for row in remembered(page, process, options.minutes):
                        add(*row)
            else:
                alone(words, 3, Path(name))  # builds kernels
                pairs = [pair(Path(name)) for _ in range(options.pairs)]
                rate, used = (statistics.median(column) for column in zip(*pairs, strict=True))
                add("ticks/s with the page, median", rate, "of those without")
                add("processor time with the page, median", used, "of that without")
    finally:
        if options.out and rows:
            new = not options.out.exists()
            with options.out.open("a", newline="") as file:
                table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                if new:
                    table.writeheader()
                table.writerows(rows)


if __name__ == "__main__":
    main()
