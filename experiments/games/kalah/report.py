"""Make the tables and figures of the experiment from its measurements; see run.py."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def newest(rows, what):
    """Return the last measurement of each kind, by device, form, depth and split."""
    found = {}
    for row in rows:
        if row["what"] == what:
            key = (row["device"], row["form"], int(row["depth"]), row["split"])
            found[(*key, row["plies"], row["boards"], row["part"])] = row
    return list(found.values())


def shown(seconds):
    """Write a time so that small and large ones can be compared."""
    value = float(seconds)
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def in_background(device, form):
    """Return where a form ran: reference and C on the processor of the device's host."""
    return f"host of {device}" if form in ("reference", "C") else device


def speedup_table(rows, published):
    """Yield the lines of the table of seconds by depth, ours next to the published ones."""
    rows = newest(rows, "speedup")
    columns = sorted({(row["device"], row["form"]) for row in rows})
    titles = [f"{form}, {in_background(name, form)}" for name, form in columns]
    theirs = ["published: one core", "OpenCL on it", "Radeon 7970"]
    yield "| depth | " + " | ".join([*titles, *theirs]) + " |"
    yield "|---" * (1 + len(titles) + len(theirs)) + "|"
    for depth in sorted({int(row["depth"]) for row in rows} | published.keys()):
        cells = [str(depth)]
        for name, form in columns:
            here = [
                row["seconds"]
                for row in rows
                if (row["device"], row["form"], int(row["depth"])) == (name, form, depth)
            ]
            cells.append(shown(here[0]) if here else "")
        cells += map(shown, published.get(depth, ())) if depth in published else ["", "", ""]
        yield "| " + " | ".join(cells) + " |"


def splits_table(rows, published):
    """Yield the lines of the table of splits."""
    yield "| device | depth | split | seconds | launches | boards per launch | boards | published |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in sorted(newest(rows, "splits"), key=lambda r: (r["device"], r["depth"])):
        split = tuple(map(int, row["split"].split()))
        theirs = published.get(split, "") if row["depth"] == "13" else ""
        numbers = (f"{int(row[name]):,}" for name in ("launches", "boards_per_launch", "frontier"))
        cells = [row["device"], row["depth"], str(split), shown(row["seconds"]), *numbers]
        yield "| " + " | ".join([*cells, str(theirs)]) + " |"


def sweep_table(rows):
    """Yield the lines of the table of the sweep, the fastest first."""
    yield "| device | depth | plies | boards in flight | workgroup | seconds | G boards/s |"
    yield "|---|---|---|---|---|---|---|"
    for row in sorted(newest(rows, "sweep"), key=lambda r: (r["device"], float(r["seconds"]))):
        rate = f"{int(row['nodes']) / float(row['seconds']) / 1e9:.2f}"
        cells = [row["device"], row["depth"], row["plies"], row["boards"], row["part"]]
        yield "| " + " | ".join([*cells, shown(row["seconds"]), rate]) + " |"


def speedup_figure(rows, published, path):
    """Draw seconds over depth, ours as lines and the published ones as dots."""
    figure, axes = plt.subplots(figsize=(10, 5), layout="constrained")
    found = newest(rows, "speedup")
    styles = {"reference": ":", "C": "--"}
    for name, form in sorted({(row["device"], row["form"]) for row in found}):
        points = sorted(
            (int(row["depth"]), float(row["seconds"]))
            for row in found
            if (row["device"], row["form"]) == (name, form)
        )
        called = {"reference": "plain Python", "C": "C, one core"}.get(form, form)
        title = f"{called}, {in_background(name[:34], form)}"
        axes.plot(*zip(*points, strict=True), styles.get(form, "-"), marker=".", label=title)
    names = ("published: i7-3770K, one core", "published: OpenCL on it", "published: Radeon 7970")
    for i, (title, marker) in enumerate(zip(names, "sv^", strict=True)):
        depths = sorted(published)
        seconds = [published[depth][i] for depth in depths]
        axes.plot(depths, seconds, marker, color="0.45", markersize=4, label=title)
    axes.set(yscale="log", xlabel="depth [plies]", ylabel="seconds of a search")
    axes.set_title("Kalah from the start: the whole tree, nothing pruned")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=120)
    plt.close(figure)


def splits_figure(rows, published, path):
    """Draw seconds by split, of each device and depth."""
    found = newest(rows, "splits")
    cases = sorted({(row["device"], int(row["depth"])) for row in found})
    figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    for name, depth in cases:
        here = {
            tuple(map(int, row["split"].split())): float(row["seconds"])
            for row in found
            if (row["device"], int(row["depth"])) == (name, depth)
        }
        points = [(pre, s) for (pre, _, par), s in sorted(here.items()) if par == 4]
        if points:
            title = f"depth {depth}, {name[:40]}"
            axes.plot(*zip(*points, strict=True), marker="o", label=title)
    points = [(pre, seconds) for (pre, _, _), seconds in published.items()]
    axes.plot(*zip(*points, strict=True), "^", color="0.45", label="published: depth 13, HD 7970")
    axes.set(yscale="log", ylabel="seconds of a search")
    axes.set(xlabel="PRE: plies taken board after board")
    axes.set_title("A tree of four levels in local memory: splits (PRE, SEQ, 4)")
    axes.set_xticks(range(5))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def write(rows, published, published_splits, folder):
    """Write tables.md and the figures."""
    parts = [
        ("Seconds of a search by depth", speedup_table(rows, published)),
        ("Splits (PRE, SEQ, PAR) of `layers`", splits_table(rows, published_splits)),
    ]
    if newest(rows, "sweep"):
        parts.append(("Plies, boards in flight and workgroups of `expanded`", sweep_table(rows)))
    text = "\n".join(f"## {title}\n\n" + "\n".join(lines) + "\n" for title, lines in parts)
    (folder / "tables.md").write_text(f"# Kalah: what was measured\n\n{text}")
    speedup_figure(rows, published, folder / "speedup.png")
    splits_figure(rows, published_splits, folder / "splits.png")
    print(f"written to {folder}: tables.md, speedup.png, splits.png")
