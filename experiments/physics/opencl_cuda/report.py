"""What do the measurements say? The text and the figures, from the table alone."""

import csv
import json
import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path

from ptx import CLASSES, class_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from published_atoms import EVALUATIONS, FINDING, LOOP, TRANSFERS
from published_atoms import PUBLISHED as ATOMS

# Seconds of the report (Tesla C2070, mean of ten runs): size: (OpenCL, CUDA).
MATMUL = {
    "naive": {
        1000: (0.0324, 0.043), 2000: (0.1991, 0.2634), 3000: (0.9542, 1.1478),
        4000: (1.8336, 2.1075), 6000: (7.4046, 7.1527), 8000: (20.643, 17.259),
        10000: (41.426, 33.509),
    },
    "tiled": {
        1000: (0.0193, 0.0122), 2000: (0.1119, 0.0885), 3000: (0.3601, 0.3195),
        4000: (0.7856, 0.7067), 6000: (2.5379, 2.3830), 8000: (5.932, 5.669),
        10000: (11.403, 11.055),
    },
}  # fmt: skip
LAPLACE = {
    200: (0.0321, 0.0100), 300: (0.0440, 0.0221), 400: (0.0560, 0.0335), 800: (0.1496, 0.1228),
    1200: (0.2962, 0.2774), 1600: (0.5230, 0.4924), 2000: (0.7952, 0.7721),
    3000: (1.9522, 1.9388), 4000: (3.1315, 3.0652), 6000: (7.1950, 7.1134),
}  # fmt: skip
BLUR = {
    256: (0.0043, 0.0010), 16384: (0.0042, 0.0010), 65536: (0.0066, 0.0031),
    262144: (0.0164, 0.0103), 614185: (0.0397, 0.0301), 786432: (0.0418, 0.0318),
    1920000: (0.0990, 0.0777), 10640014: (0.6634, 0.5501),
}  # fmt: skip
ATOM_STEPS = 20
ON_CPU = "OpenCL on CPU"
"""What the CPU's OpenCL device is called in the table."""
ABOVE, APART = 1e-3, 0.05
"""Seconds of a launch from which kernels are compared, and the difference that is explained."""


class Measurements:
    """The rows of measurements.csv, by what they are of."""

    def __init__(self, folder):
        with open(folder / "measurements.csv", newline="") as file:
            self.rows = list(csv.DictReader(file))
        facts = folder / "facts.json"
        self.facts = json.loads(facts.read_text()) if facts.exists() else {}
        self.by = defaultdict(list)
        for row in self.rows:
            key = tuple(row[name] for name in ("device", "work", "variant", "size", "quantity"))
            self.by[key].append(row)
        two = folder / "two_gpus.csv"
        self.two_gpus = list(csv.DictReader(two.open(newline=""))) if two.exists() else []
        found = dict.fromkeys(row["device"] for row in self.rows)
        self.devices = [name for name in found if name not in ("", "numba", ON_CPU)]
        self.pair = tuple(self.devices[:2]) if len(self.devices) > 1 else ()

    def values(self, device, work, variant, size, quantity, details=None):
        """Return the value of every run, summed over details (kernels) if there are several."""
        runs = defaultdict(float)
        for row in self.by.get((device, work, variant, str(size), quantity), ()):
            if details is None or row["detail"] in details:
                runs[row["run"]] += float(row["value"])
        return list(runs.values())

    def median(self, *key, **more):
        """Return the median of the runs, None if there are none."""
        values = self.values(*key, **more)
        return statistics.median(values) if values else None

    def ratio(self, work, variant, size, quantity="kernel", **more):
        """Return OpenCL's median over CUDA's, None if one is missing."""
        both = [self.median(one, work, variant, size, quantity, **more) for one in self.pair]
        return both[0] / both[1] if len(both) == 2 and all(both) else None

    def sizes(self, work, variant):
        """Return the sizes that were measured, ascending."""
        found = {
            row["size"]
            for row in self.rows
            if (row["work"], row["variant"], row["quantity"]) == (work, variant, "host")
        }
        return sorted(map(int, found))  # fmt: skip

    def kernels(self):
        """Yield (work, variant, size, kernel) of all kernels that were timed."""
        names = ("work", "variant", "size", "detail")
        seen = dict.fromkeys(
            tuple(row[name] for name in names) for row in self.rows if row["quantity"] == "kernel"
        )
        yield from seen

    def instructions(self, device, work, variant, kernel):
        """Return how often a kernel has each opcode in PTX, of the first size that was built."""
        first, counts = None, Counter()
        for row in self.rows:
            of = (row["device"], row["work"], row["variant"])
            name, _, opcode = row["detail"].partition(" ")
            matches = of == (device, work, variant) and name == kernel
            if matches and row["quantity"].startswith("instructions"):
                first = first or row["size"] or "-"
                if (row["size"] or "-") == first:
                    counts[opcode] += int(row["value"])
        return counts


def written(table):
    """Return the text."""
    parts = (
        machine, builds, launches, kernels, workloads, ptx_classes, host_lines, two_gpus, claims,
        left,
    )  # fmt: skip
    lines = ["# OpenCL and CUDA from one source: what was measured", ""]
    lines += ["Written by `run.py` from `measurements.csv`; README.md says how.", ""]
    for part in parts:
        lines += [*part(table), ""]
    return "\n".join(lines).rstrip() + "\n"


def machine(table):
    """Return which devices, drivers and clocks there were."""
    facts = table.facts
    if not facts:
        return ["facts.json is missing."]
    took = f"{facts['seconds']:g} s in all" if "seconds" in facts else "cut off before its end"
    lines = [f"{facts['date']}, Python {facts['python']}, {took}.", ""]
    for label, one in facts["devices"].items():
        lines.append(
            f"- {label}: {one['name']}, {one['platform']}, {one['platform_version']}, driver "
            f"{one['driver']}, options `{' '.join(one['options'])}`"
        )
    for when in ("clocks before", "clocks after"):
        if facts.get(when):
            lines.append(f"- {when}: {'; '.join(facts[when].splitlines())}")
    return lines


def builds(table):
    """Return the seconds of first and warm builds."""
    lines = ["## Builds", "", "Seconds; the first without any cache, the warm one from ours.", ""]
    lines += ["| program | " + " | ".join(f"{d}: first, warm" for d in table.devices) + " |"]
    lines += ["|---|" + "---|" * len(table.devices)]
    programs = dict.fromkeys(
        (row["work"], row["variant"]) for row in table.rows if row["quantity"] == "first build"
    )
    for work, variant in programs:
        cells = []
        for device in table.devices:
            each = [
                [float(row["value"]) for row in table.rows
                 if (row["device"], row["work"], row["variant"], row["quantity"])
                 == (device, work, variant, kind)]
                for kind in ("first build", "warm build")
            ]  # fmt: skip
            some = all(each)
            cells.append(", ".join(f"{statistics.median(e):.3f}" for e in each) if some else "-")
        lines.append(f"| {work} {variant} | " + " | ".join(cells) + " |")
    return lines


def launches(table):
    """Return what launches and copies cost."""
    lines = ["## Launches and copies", ""]
    lines += ["| | " + " | ".join(table.devices) + " |", "|---|" + "---|" * len(table.devices)]
    for name in ("ours", "pyopencl's own call"):
        for quantity in ("enqueued, each", "in a row, each", "alone"):
            cells = [
                table.median(d, "launch", "empty", "1", quantity, details=(name,))
                for d in table.devices
            ]
            lines.append(f"| launch by {name}, {quantity}, us | {_cells(cells, 1e6)} |")
    sizes = sorted({int(row["size"]) for row in table.rows if row["work"] == "copy" and row["run"]})
    for size in sizes:
        for quantity in ("to the device", "to the host"):
            cells = [table.median(d, "copy", "pageable", size, quantity) for d in table.devices]
            lines.append(f"| copy {quantity}, {size:,} bytes, us | {_cells(cells, 1e6)} |")
    return lines


def compared(table):
    """Return (ratio, seconds, name, key) of every kernel of more than a millisecond a launch."""
    found = []
    for work, variant, size, kernel in table.kernels():
        key, details = (work, variant, size), (kernel,)
        ratio = table.ratio(*key, details=details)
        if ratio is None:
            continue
        count = table.median(table.pair[1], *key, "launches", details=details) or 1
        seconds = table.median(table.pair[1], *key, "kernel", details=details) / count
        found.append((ratio, seconds, *key, kernel))
    return found


def kernels(table):
    """Return the table of kernels above a millisecond, with what their PTX has differently."""
    lines = ["## Kernels of more than 1 ms", ""]
    if not table.pair:
        return [*lines, "Only one device was measured."]
    rows = compared(table)
    long = [row for row in rows if row[1] >= ABOVE]
    apart = [row for row in long if abs(row[0] - 1) > APART]
    lines += [
        f"{len(long)} of {len(rows)} kernels and sizes take more than 1 ms a launch; "
        f"{len(apart)} of them differ by more than 5 % (device events, medians of the runs). "
        f"The ratio is {table.pair[0]} / {table.pair[1]}.",
        "",
        "| kernel | size | ms a launch | ratio | instructions that differ in PTX, "
        f"{table.pair[0]} / {table.pair[1]} |",
        "|---|---|---|---|---|",
    ]
    for ratio, seconds, work, variant, size, kernel in sorted(long, key=lambda row: -row[1]):
        flag = " **!**" if abs(ratio - 1) > APART else ""
        said = _difference(table, work, variant, kernel) if flag else ""
        name = f"{work} {variant} {kernel}"
        lines.append(f"| {name} | {size} | {1e3 * seconds:.3f} | {ratio:.3f}{flag} | {said} |")
    return lines


def _difference(table, work, variant, kernel):
    """Return the opcodes whose numbers differ most between the two."""
    of = work, "all" if work == "future" else variant
    first, second = (table.instructions(d, *of, kernel) for d in table.pair)
    if not first or not second:
        return "no PTX of both"
    apart = sorted(
        ((abs(first[o] - second[o]), o) for o in first | second if first[o] != second[o]),
        reverse=True,
    )
    said = ", ".join(f"{o} {first[o]} / {second[o]}" for _, o in apart[:8])
    return said or "none: the same opcodes"


def workloads(table):
    """Return seconds and ratio of every measurement."""
    lines = [
        "## All runs",
        "",
        "Medians in ms; mean and standard deviation of the host in brackets.",
        "",
    ]
    head = "".join(f" {d}: device | {d}: host |" for d in table.devices)
    lines += [f"| work | size |{head} ratio, device | ratio, host | bits |"]
    lines += ["|---|---|" + "---|---|" * len(table.devices) + "---|---|---|"]
    keys = dict.fromkeys(
        (row["work"], row["variant"], row["size"])
        for row in table.rows
        if row["quantity"] == "host" and row["device"] in table.devices
    )
    for key in keys:
        cells = []
        for device in table.devices:
            host = table.values(device, *key, "host")
            mean = f" ({_mean(host)})" if len(host) > 1 else ""
            cells += [_cells([table.median(device, *key, "kernel")], 1e3)]
            cells += [_cells([table.median(device, *key, "host")], 1e3) + mean]
        for quantity in ("kernel", "host"):
            ratio = table.ratio(*key, quantity)
            cells.append("-" if ratio is None else f"{ratio:.3f}")
        bits = [row["value"] for d in table.devices for row in table.by.get((d, *key, "bits"), ())]
        same = "-" if len(bits) < 2 else "same" if len(set(bits)) == 1 else "**different**"
        lines.append(f"| {key[0]} {key[1]} | {key[2]} | {' | '.join(cells)} | {same} |")
    return lines


def ptx_classes(table):
    """Return the instructions by class next to the cited ones."""
    lines = [
        "## Instructions by class",
        "",
        "In PTX, of each kernel of the report's workloads.",
        "",
    ]
    lines += [
        "| kernel | device | " + " | ".join(CLASSES) + " |",
        "|---|---|" + "---|" * len(CLASSES),
    ]
    lines += ["| cited by the report (an FFT) | CUDA | 220 | 4 | 1131 | 4 |"]
    lines += ["| the same | OpenCL | 521 | 163 | 351 | 188 |"]
    before = len(lines)
    seen = dict.fromkeys(
        (row["work"], row["variant"], row["detail"].partition(" ")[0])
        for row in table.rows if row["quantity"].startswith("instructions")
    )  # fmt: skip
    for work, variant, kernel in seen:
        for device in table.devices:
            counts = table.instructions(device, work, variant, kernel)
            if counts:
                by = Counter()
                for opcode, count in counts.items():
                    by[class_of(opcode)] += count
                numbers = " | ".join(str(by[name]) for name in CLASSES)
                lines.append(f"| {work} {variant} {kernel} | {device} | {numbers} |")
    if len(lines) == before:
        lines.append("\nNo device of this run gives PTX.")
    return lines


def host_lines(table):
    """Return the lines of host code."""
    lines = ["## Lines of host code", "", "Without comments and docstrings.", ""]
    lines += ["| code | lines |", "|---|---|"]
    lines += [
        f"| {row['work']} | {row['value']} |"
        for row in table.rows if row["quantity"] == "lines of host code"
    ]  # fmt: skip
    lines += ["| the report's program, CUDA | 105 |", "| the report's program, OpenCL | 274 |", ""]
    return [*lines, "The lines of a workload are the same for both devices."]


def two_gpus(table):
    """Return what two GPUs bring over one: figure 8."""
    lines = ["## Two GPUs", ""]
    if not table.two_gpus:
        return [*lines, "Figure 8 was not run."]
    seconds = {(r["work"], r["size"], r["devices"]): float(r["seconds"]) for r in table.two_gpus}
    said = defaultdict(list)
    for work, size, devices in seconds:
        if devices == "2":
            one, two = seconds[work, size, "1"], seconds[work, size, "2"]
            name = f"n = {size}" if work == "product" else f"{size} societies"
            said[work].append(f"{name}: {one / two:.2f} ({1e3 * one:.4g} and {1e3 * two:.4g} ms)")
    first = table.two_gpus[0]
    lines += [
        f"Figure 8, of two_gpus.csv ({first['device']}, driver {first['driver']}): how many times "
        "as fast two are as one, and what one and two take.",
        "",
        *(f"- {work}: {', '.join(each)}" for work, each in said.items()),
        "",
    ]
    same = all(row["same"] == "1" for row in table.two_gpus)
    return [*lines, f"The bits are {'the same' if same else 'NOT all the same'} with one and two."]


def claims(table):
    """Return each claim of the report, and each of its future considerations, with a number."""
    lines = ["## The report's claims, and what it leaves to others", ""]
    lines += ["| claim | number | verdict |", "|---|---|---|"]
    for function in CLAIMS:
        name = function.__doc__.partition("\n")[0].rstrip(".")
        number, verdict = function(table) or ("not measured", "open")
        lines.append(f"| {name} | {number} | {verdict} |")
    return lines


def left(table):
    """Return what was not measured."""
    rows = [row for row in table.rows if row["quantity"] in ("left out", "failed")]
    lines = ["## Not measured", ""]
    if not table.two_gpus:
        lines.append("- Figure 8, two GPUs: not run.")
    return lines + [
        f"- {row['work']} {row['variant']} {row['size']}: {row['quantity']}, {row['value']}"
        for row in rows
    ]


def always_faster(table):
    """CUDA is always faster."""
    rows = [row[0] for row in compared(table) if row[1] >= ABOVE]
    if not rows:
        return None
    ahead, behind = sum(r > 1 + APART for r in rows), sum(r < 1 - APART for r in rows)
    number = (
        f"of {len(rows)} kernels above 1 ms CUDA is ahead by more than 5 % in {ahead}, OpenCL in "
        f"{behind}; median ratio {statistics.median(rows):.3f}"
    )
    return number, "holds" if ahead == len(rows) else "does not hold"


def simpler_smaller(table):
    """The simpler the kernel, the smaller the gap."""
    pairs = []
    for ratio, seconds, work, variant, _, kernel in compared(table):
        of = work, "all" if work == "future" else variant
        counts = table.instructions(table.pair[1], *of, kernel)
        if counts and seconds >= 1e-4:
            pairs.append((sum(counts.values()), abs(ratio - 1)))
    if len(pairs) < 4:
        return None
    pairs.sort()
    half = len(pairs) // 2
    short, long = (statistics.median(g for _, g in part) for part in (pairs[:half], pairs[half:]))
    number = f"median gap {100 * short:.1f} % in the shorter half of the kernels by PTX, "
    number += f"{100 * long:.1f} % in the longer half ({len(pairs)} kernels above 0.1 ms)"
    return number, "holds" if long > short + 0.01 else "no such difference"


def particle_faster(table):
    """A work-item for each atom is faster than a workgroup for each cell."""
    return _each(table, "atoms", "cell", "atoms", "particle", "cell / particle", 1.0)


def conditional(table):
    """A conditional halves the speed."""
    said = []
    for device in table.devices:
        none, agreed, parted = (
            table.median(
                device, "future", f"branch_{name}", _one(table, f"branch_{name}"), "kernel"
            )
            for name in ("none", "agreed", "diverging")
        )
        if none and agreed and parted:
            said.append((device, agreed / none, parted / none))
    if not said:
        return None
    number = "; ".join(
        f"{d}: {a:.2f} x the time where a workgroup agrees, {p:.2f} x where neighbours differ"
        for d, a, p in said
    )
    return number, "holds only where neighbours differ" if said[0][2] > 1.5 else "does not hold"


def vectors(table):
    """Vector types help the product."""
    number = _forms(table, ("product_one", "product_four", "product_vector"))
    return number and (number, _helps(table, "product_four", "product_vector"))


def local_memory(table):
    """Local memory helps Laplace."""
    found = []
    for side in table.sizes("laplace", "tiled"):
        for device in table.devices:
            times = [
                table.median(device, "laplace", v, side, "kernel")
                for v in ("rows", "tiled", "deep")
            ]
            if all(times):
                found.append((device, side, times[0] / times[1], times[0] / times[2]))
    if not found:
        return None
    number = "; ".join(
        f"{d} {s}: one step a launch {t:.2f} x as fast, several {e:.2f} x" for d, s, t, e in found
    )
    one, several = found[-1][2:]
    verdict = "helps" if one > 1.05 else "does not help by itself"
    return number, verdict + (", helps with several steps a launch" if several > 1.05 else "")


def padding(table):
    """Padding helps the blur."""
    number = _forms(table, ("blur_conditions", "blur_padded"))
    return number and (number, _helps(table, "blur_conditions", "blur_padded"))


def three_dimensions(table):
    """Launches of three dimensions help."""
    number = _forms(table, ("blur_line", "blur_padded"))
    return number and (number, _helps(table, "blur_line", "blur_padded"))


def read_only(table):
    """Texture or constant memory (read-only caches) helps."""
    number = _forms(table, ("window_plain", "window_restrict", "window_constant"))
    if not number:
        return None
    promise = _helps(table, "window_plain", "window_restrict")
    constant = _helps(table, "window_restrict", "window_constant")
    return number, f"restrict {promise}, constant memory besides {constant}"


def on_cpus(table):
    """OpenCL on CPUs loses to threads."""
    found = []
    for side in table.sizes("laplace", "numba"):
        theirs = table.median("numba", "laplace", "numba", side, "host")
        ours = [table.median(ON_CPU, "laplace", one, side, "host") for one in ("rows", "deep")]
        if theirs and all(ours):
            found.append((side, *(theirs / one for one in ours)))
    if not found:
        return None
    number = "; ".join(
        f"Laplace {side}: rows {rows:.2f}, deep {deep:.2f} x numba's speed"
        for side, rows, deep in found
    )
    lost = [str(side) for side, *ratios in found if max(ratios) < 0.95]
    if not lost:
        return number, "does not hold"
    return number, "holds" if len(lost) == len(found) else f"holds at side {' and '.join(lost)}"


def from_python(table):
    """OpenCL from Python costs nothing."""
    said = []
    for device in table.devices:
        each = table.median(device, "launch", "empty", "1", "enqueued, each", details=("ours",))
        raw = table.median(
            device, "launch", "empty", "1", "enqueued, each", details=("pyopencl's own call",)
        )
        if each and raw:
            said.append(
                f"{device}: {1e6 * each:.1f} us a launch, of which {1e6 * raw:.1f} the call"
            )
    shares = []
    for side in table.sizes("laplace", "seed"):
        for device in table.devices[:2]:
            host = table.median(device, "laplace", "seed", side, "host")
            kernel = table.median(device, "laplace", "seed", side, "kernel")
            if host and kernel:
                shares.append((side, device, 1 - kernel / host))
    if not said:
        return None
    number = "; ".join(said)
    if shares:
        few = (shares[0], shares[-1])
        number += "; time outside kernels, 500 steps of Laplace: " + ", ".join(
            f"{d} {s}: {100 * share:.0f} %" for s, d, share in few
        )
    return number, "holds for kernels that are long compared with a launch, not for short ones"


CLAIMS = (
    always_faster, simpler_smaller, particle_faster, conditional, vectors, local_memory, padding,
    three_dimensions, read_only, on_cpus, from_python,
)  # fmt: skip


def _one(table, variant):
    sizes = table.sizes("future", variant)
    return sizes[-1] if sizes else ""


def _forms(table, names):
    """Return the milliseconds of forms of a kernel on each device, None if one is missing."""
    said = []
    for device in table.devices:
        times = [table.median(device, "future", n, _one(table, n), "kernel") for n in names]
        if all(times):
            said.append(
                f"{device}: " + ", ".join(
                    f"{n} {1e3 * t:.3f} ms" for n, t in zip(names, times, strict=True)
                )
            )  # fmt: skip
    return "; ".join(said)


def _helps(table, without, having):
    """Return whether a form is faster by more than 5 %, by device."""
    said = []
    for device in table.devices:
        times = [
            table.median(device, "future", n, _one(table, n), "kernel") for n in (without, having)
        ]
        if all(times):
            gain = times[0] / times[1]
            verdict = "helps" if gain > 1.05 else "hurts" if gain < 0.95 else "makes no difference"
            said.append(f"{device}: {verdict} ({gain:.2f} x)")
    return "; ".join(said)


def _each(table, work, variant, other_work, other, name, bound):
    """Return the ratio of two variants at every size, and whether it is always above a bound."""
    found = []
    for size in table.sizes(work, variant):
        for device in table.devices:
            times = [
                table.median(device, *key, size, "kernel")
                for key in ((work, variant), (other_work, other))
            ]
            if all(times):
                found.append((device, size, times[0] / times[1]))
    if not found:
        return None
    number = f"{name}: " + ", ".join(f"{d} {s}: {r:.2f}" for d, s, r in found)
    return number, "holds" if all(r > bound for *_, r in found) else "does not hold at every size"


def _cells(values, factor):
    return " | ".join("-" if value is None else f"{factor * value:.4g}" for value in values)


def _mean(values):
    return f"{1e3 * statistics.fmean(values):.4g} +- {1e3 * statistics.stdev(values):.2g}"


# ---------------------------------------------------------------- figures


def figures(table, folder):
    """Draw figures 1 to 7 of the report that there are measurements for."""
    import matplotlib.pyplot as plt

    for number, (title, x, y, draw) in enumerate(FIGURES, 1):
        one, axes = plt.subplots(figsize=(7, 4.6))
        if draw(table, axes):
            axes.set(title=f"Figure {number}: {title}", xlabel=x, ylabel=y, xscale="log")
            axes.set_yscale("log")
            low, high = axes.get_ylim()
            axes.set_ylim(low, high * (high / low) ** 0.35)  # room for the legend above all lines
            axes.legend(fontsize=7, ncols=2, loc="upper left")
            axes.grid(alpha=0.3)
            one.tight_layout()
            one.savefig(folder / f"figure_{number}.png", dpi=110)
        plt.close(one)


COLORS = ("tab:blue", "tab:green", "tab:purple", "tab:cyan")
MARKERS = ("o", "s", "^", "v", "D")


def _lines(table, axes, work, variants, quantity="kernel", factor=1.0, details=None):
    """Draw a line for each device and variant; return whether there was any."""
    drawn = False
    for marker, variant in zip(MARKERS, variants, strict=False):
        for color, device in zip(COLORS, table.devices, strict=False):
            points = [
                (size, factor * value)
                for size in table.sizes(work, variant)
                if (value := table.median(device, work, variant, size, quantity, details=details))
            ]
            if points:
                axes.plot(*zip(*points, strict=True), color=color, marker=marker, ms=4, lw=1,
                          label=f"{device}, {variant}")  # fmt: skip
                drawn = True
    return drawn


def _dashed(axes, values, name, place=(0, 1)):
    """Draw the report's numbers."""
    for number, (device, color) in enumerate((("OpenCL", "tab:orange"), ("CUDA", "tab:red"))):
        if number in place:
            axes.plot(list(values), [v[number] for v in values.values()], "--", color=color, lw=1,
                      label=f"C2070, {device}{name}")  # fmt: skip


def _figure_1(table, axes):
    drawn = _lines(table, axes, "matmul", ("naive", "tiled", "blocked", "vector"))
    _lines(table, axes, "matmul", ("cuBLAS",), "host")
    for name, values in MATMUL.items():
        _dashed(axes, values, f", {name}")
    return drawn


def _figure_2(table, axes):
    _dashed(axes, LAPLACE, "")
    return _lines(table, axes, "laplace", ("seed", "rows", "tiled", "deep"), "host")


def _figure_3(table, axes):
    _dashed(axes, BLUR, "")
    return _lines(table, axes, "blur", ("seed", "float", "gaussian"), "host")


def _figure_4(table, axes):
    for name, values in ATOMS.items():
        _dashed(axes, values, f", {name}")
    factor, of = EVALUATIONS / ATOM_STEPS, (*FINDING, "forces")
    return _lines(table, axes, "atoms", ("particle", "cell", "list"), factor=factor, details=of)


def _figure_5(table, axes):
    _dashed(axes, LOOP, "")
    axes.plot(list(LOOP), [v[2] for v in LOOP.values()], ":", color="k", label="one core (report)")
    factor = EVALUATIONS / ATOM_STEPS
    return _lines(table, axes, "atoms", ("particle", "cell", "list"), "host", factor)


def _figure_6(table, axes):
    for size, values in TRANSFERS.items():
        for value, color, device in zip(values, ("tab:orange", "tab:red"), ("OpenCL", "CUDA"),
                                        strict=True):  # fmt: skip
            axes.plot([size], [value], "x", color=color, label=f"C2070, {device}: transfers")
    factor = EVALUATIONS / ATOM_STEPS
    drawn = _lines(table, axes, "atoms", ("particle",), factor=factor)
    for color, device in zip(COLORS, table.devices, strict=False):
        points = [
            (size, EVALUATIONS * value)
            for size in table.sizes("atoms", "particle")
            if (value := table.median(device, "atoms", "particle", size, "transfers"))
        ]
        if points:
            axes.plot(*zip(*points, strict=True), ":", color=color, marker="v", ms=4,
                      label=f"{device}: if it copied as the report did")  # fmt: skip
    return drawn


def _figure_7(table, axes):
    names = dict.fromkeys(row[3] for row in table.kernels() if row[:2] == ("atoms", "particle"))
    styles = ("-", "--")
    drawn = False
    for style, device in zip(styles, table.devices, strict=False):
        for number, kernel in enumerate(names):
            points = [
                (size, 1e6 * value / ATOM_STEPS)
                for size in table.sizes("atoms", "particle")
                if (value := table.median(
                    device, "atoms", "particle", size, "kernel", details=(kernel,)
                ))
            ]  # fmt: skip
            if points:
                axes.plot(*zip(*points, strict=True), style, color=f"C{number}", marker="o", ms=3,
                          lw=1, label=f"{device}, {kernel}")  # fmt: skip
                drawn = True
    return drawn


FIGURES = (
    ("products", "n", "seconds in kernels", _figure_1),
    ("Laplace, 500 steps", "side", "seconds, host timer", _figure_2),
    ("blur, 100 passes", "pixels", "seconds, host timer", _figure_3),
    ("1001 evaluations of forces", "atoms", "seconds in kernels, from 20 steps", _figure_4),
    ("1001 whole steps", "atoms", "seconds, host timer, from 20 steps", _figure_5),
    ("kernels and transfers, 1001 steps", "atoms", "seconds", _figure_6),
    ("a step by kernel", "atoms", "microseconds a step", _figure_7),
)
