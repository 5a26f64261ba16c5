"""Measures the page of `societies view` in headless Chromium on the same machine.

Frames per second that the page shows while the mouse drags over the picture, how many of these are
whole, and of how many pixels previews are; then the time from the last of 150 moves to the first
frame that shows all of them, and to the whole one. The mouse moves 60 times a second. The browser
needs the processor too: its seconds and the server's are given for each frame.

    python benchmarks/view.py physics/raytracer/spheres_216 --out results.csv
"""

import argparse
import csv
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.view.browser import Browser, until

CURRENT = "document.body.dataset.current === 'true'"
WATCH = """
addEventListener('pointermove', () => { window.moved = performance.now(); }, true);
window.wholes = 0;
new MutationObserver((changes) => {
  const now = performance.now(), { newest, current, whole } = document.body.dataset;
  if (newest === 'true' && !(window.seen > window.moved)) window.seen = now;
  if (current === 'true' && !(window.settled > window.moved)) window.settled = now;
  const shown = changes.some((one) => one.attributeName === 'data-shown');
  if (shown && whole === 'true') ++window.wholes;
}).observe(document.body, {attributes: true});
"""
COLUMNS = [
    *("date", "commit", "device", "cores", "load", "configuration", "set", "frames"),
    *("measurement", "value", "unit", "server_processor_s", "browser_processor_s"),
]


def served(words):
    """Start `societies view`; return the process and the address."""
    command = [sys.executable, "-m", "societies", "view", *words, "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().rpartition(": ")[2].strip()


def processor(pids):
    """Return the processor seconds that processes have used."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # a process that has ended
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def family(pid):
    """Return a process and all that it has started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        todo += parents.get(found[-1], [])
    return found


def moved(window, seconds):
    """Drag over the picture for some seconds, 60 moves a second; the button stays down."""
    x, y, width, height = window.box("picture")
    x, y = x + width / 2, y + height / 2
    window.mouse("mouseMoved", x, y)
    window.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    begin = time.perf_counter()
    for number in range(1, int(60 * seconds) + 1):
        time.sleep(max(0.0, begin + number / 60 - time.perf_counter()))
        place = (x + number % 60 - 30, y + number % 40 - 20)
        window.mouse("mouseMoved", *place, button="left", buttons=1)
    return place


def drawn(window):
    return int(window.js("document.body.dataset.shown"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", nargs="?", default="physics/raytracer/spheres_216")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--frames", default="auto")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--bursts", type=int, default=5)
    parser.add_argument("--out", type=Path, help="append to this CSV")
    parser.add_argument("--screenshot", type=Path)
    options = parser.parse_args()
    from societies.workload.running.devices import chosen_device

    words = [options.config, "--frames", options.frames, "--device", options.device]
    words += [word for one in options.set for word in ("--set", one)]
    process, address = served(words)
    rows = []
    about = {
        "date": time.strftime("%Y-%m-%d"),
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True
        ).stdout.strip(),
        "device": chosen_device(options.device)[2]["device"] + f", {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "configuration": options.config,
        "set": " ".join(options.set),
        "frames": options.frames,
    }
    try:
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            Browser(Path(folder)) as browser,
        ):
            window = browser.open(address)
            window.until(CURRENT, 120)
            window.js(WATCH)
            moved(window, 1)  # the first frames of another size or shading build kernels
            servers, browsers = family(process.pid), family(browser.pid)
            before = drawn(window), processor(servers), processor(browsers)
            wholes = window.js("wholes")
            began = time.perf_counter()
            place = moved(window, options.seconds)
            after = drawn(window), processor(servers), processor(browsers)
            seconds = time.perf_counter() - began
            frames = max(after[0] - before[0], 1)
            used = {
                "server_processor_s": f"{(after[1] - before[1]) / frames:.4f}",
                "browser_processor_s": f"{(after[2] - before[2]) / frames:.4f}",
            }
            rows.append(
                {"measurement": "shown", "value": f"{frames / seconds:.1f}", "unit": "frames/s"}
                | used
            )
            wholes = window.js("wholes") - wholes
            rows.append({"measurement": "whole", "value": f"{wholes / seconds:.1f}"})
            rows[-1]["unit"] = "frames/s"
            if wholes < frames:
                pixels = window.js("small.width * small.height")
                rows.append({"measurement": "last preview", "value": pixels, "unit": "pixels"})
            if options.screenshot:
                window.screenshot(options.screenshot)
            window.mouse("mouseReleased", *place, button="left", clickCount=1)
            # In the page, since asking from outside takes as long as a frame.
            delays = {"seen after 150 moves": [], "after 150 moves": []}
            for _ in range(options.bursts):
                place = moved(window, 150 / 60)
                until(lambda: window.js("window.settled > window.moved"), "the last state")
                for what, when in zip(delays, ("seen", "settled"), strict=True):
                    delays[what].append(window.js(f"window.{when} - window.moved"))
                window.mouse("mouseReleased", *place, button="left", clickCount=1)
            rows += [
                {"measurement": what, "value": f"{value:.1f}", "unit": "ms"}
                for what, values in delays.items()
                for value in values
            ]
            print(f"{frames / seconds:.1f} frames/s shown, {wholes} of {frames} whole, {used}")
            seen, whole = map(statistics.median, delays.values())
            print(
                f"last of 150 moves to its frame: median {seen:.0f} ms, {whole:.0f} ms to all of it"
            )
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
    if options.out:
        new = not options.out.exists()
        with options.out.open("a", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if new:
                table.writeheader()
            table.writerows(about | row for row in rows)


if __name__ == "__main__":
    main()
