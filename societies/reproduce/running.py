"""How is a published figure made again: run what is missing, draw it, compare its numbers?

Files in the folder of results: ``runs/NAME.nc`` has the series of a run that figures need,
``runs/NAME.h5`` is a run that is not complete; ``figure_N.png``, ``.svg`` and ``.csv`` are results;
``COMPANION/PART.txt`` is what the script of another publication printed, next to its results.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies import signals
from societies.config import to_yaml
from societies.errors import ConfigError, OutputError, option
from societies.output import open_results
from societies.output.files import MAKING, READING, explained, file_for_hdf5, written
from societies.output.trailing import add_hash, require_hash
from societies.paths import data_directory
from societies.reproduce.catalogue import SOCIETIES, Figure, Run, figures
from societies.reproduce.claims import as_markdown, cells, verdicts, write_table
from societies.reproduce.companions import COMPANIONS
from societies.reproduce.drawing import FIGURES, Runs
from societies.workload import Setup
from societies.workload.drawing.figure import STYLE
from societies.workload.running.progress import progress_bar
from societies.workload.running.registry import load_config, workload
from societies.workload.running.run import run as run_config

if TYPE_CHECKING:
    import xarray as xr

DOTS_PER_INCH = 120
CLAIMS = "claims.md"


@dataclass(frozen=True)
class Options:
    """How figures are reproduced.

    Attributes
    ----------
    device : as for `societies.run`
    societies : of each run
    small : try it with few agents and days; numbers are not compared with the paper's then
    keep : leave the result files of the runs where they are
    quiet : show no progress
    """

    device: str = "auto"
    societies: int = SOCIETIES
    small: bool = False
    keep: bool = False
    quiet: bool = False


def carry_out(figure: Figure, out: Path, options: Options) -> list[Path]:
    """Reproduce a figure; return the files that were written.

    Runs that the folder ``out`` already has are used again, and interrupted ones are continued.

    Raises
    ------
    OutputError
        If the folder has runs of another configuration or of another version of the model.
    """
    with explained(out, MAKING):
        (out / "runs").mkdir(parents=True, exist_ok=True)
    runs = {one.name: _series(one, out / "runs", options) for one in figure.runs}
    name = f"figure_{figure.number:02}"
    drawn = _draw(figure, runs, out / name, options)
    if options.small:
        return drawn
    table = out / f"{name}.csv"
    found = verdicts(figure.number, runs)
    write_table(table, [cells(figure.number, one, figure.recorded) for one in found])
    _write_claims(out)
    return [*drawn, table, out / CLAIMS]


def _series(one: Run, folder: Path, options: Options) -> xr.Dataset:
    """Return the series of a run, which is carried out or continued if they are missing."""
    import xarray as xr

    path, whole = folder / f"{one.name}.nc", folder / f"{one.name}.h5"
    config = load_config(one.base, one.overrides(options.societies, options.small))
    setup = Setup(workload(config.workload), config)
    about = {
        "configuration": to_yaml(config),
        "model_version": str(setup.workload.version_of(config)),
    }
    if not path.exists():
        began = time.monotonic()
        bar = nullcontext() if options.quiet else progress_bar(config, options.device)
        with bar as progress:
            run_config(
                config, device=options.device, out=whole, resume=whole.exists(), progress=progress
            )
        signals.pass_on(began)
        removed = [shock.day for shock in getattr(config, "shocks", ())]
        needing = [of for of in figures().values() if one.name in [run.name for run in of.runs]]
        variables = sorted({name for of in needing for name in of.variables})
        _reduce(whole, path, variables, {**about, "removed": max(removed, default=0)})
        if not options.keep:
            whole.unlink()
    with explained(path, READING):
        require_hash(path, "Delete it: the same command runs it again.")
    with xr.open_dataset(path, engine="h5netcdf") as series:
        if any(str(series.attrs.get(name)) != value for name, value in about.items()):
            raise OutputError(
                f"{path} has another configuration, number of societies or version of the model\n"
                f"name another folder with {option('out')}, or delete this file"
            )
        return series.load()


def _reduce(whole: Path, path: Path, variables: list[str], about: dict[str, Any]) -> None:
    """Write the series that figures need as 32-bit numbers."""
    with open_results(whole) as results:
        series = results[variables].astype("float32").load()
        series.attrs = {**about, "device": str(results.attrs["device"])}
    packing = {name: {"zlib": True} for name in series.data_vars}
    with explained(path, MAKING), written(path) as made:
        with file_for_hdf5(made) as file:
            series.to_netcdf(file, engine="h5netcdf", encoding=packing)
        add_hash(made)


def _draw(figure: Figure, runs: Runs, where: Path, options: Options) -> list[Path]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Drawing

    draw, size = FIGURES[figure.number]
    with rc_context(STYLE):
        drawing = Drawing(figsize=size, layout="constrained")
        draw(drawing, runs)
        count = next((run.sizes["society"] for run in runs.values()), 0)
        what = f": mean and range of {count} societies" if count else ""
        trial = " (a trial with few agents and days)" if options.small else ""
        drawing.suptitle(f"Figure {figure.number}{what}{trial}", fontsize=10)
        paths = [where.with_suffix(ending) for ending in (".png", ".svg")]
        for path in paths:
            kind = path.suffix[1:]
            about: Any = {"Date": None} if kind == "svg" else None
            with explained(path, MAKING), written(path) as made:
                drawing.savefig(made, format=kind, dpi=DOTS_PER_INCH, metadata=about)
    return paths


def _write_claims(out: Path) -> None:
    """Write the claims of all figures that the folder has as one table."""
    rows = []
    for path in sorted(out.glob("figure_*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += list(csv.reader(file))[1:]
    with explained(out / CLAIMS, MAKING), written(out / CLAIMS) as made:
        made.write_text(as_markdown(rows), encoding="utf-8")


def has_scripts() -> bool:
    """Return whether this is a clone, which has the scripts of other publications."""
    root = data_directory("experiments").parent
    return all((root / one.script).is_file() for one in COMPANIONS.values())


def carry_out_part(name: str, part: str, out: Path, options: Options) -> Path | None:
    """Carry out a part of a companion unless it is done; return its text, None if it failed.

    The script prints as it goes; when it has ended well, what it printed is in the text, and the
    part is done. Parts that are drawn from the same measurements share a text.

    Raises
    ------
    ConfigError
        If this installation has no scripts.
    """
    if not has_scripts():
        raise ConfigError(
            f"{name}:{part}: its script is not in this installation\n"
            "run it in a clone of the repository, which has the scripts of all publications"
        )
    companion = COMPANIONS[name]
    of = companion.parts[part]
    folder = out / ("small" if options.small else "") / name
    text = folder / f"{of.folder or part}.txt"
    if text.exists():
        return text
    with explained(folder, MAKING):
        (folder / of.folder).mkdir(parents=True, exist_ok=True)
    root = data_directory("experiments").parent
    script, *words = companion.words(of, folder, options.device, options.small)
    command = [sys.executable, "-u", str(root / script), *words]
    lines = []
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C in a terminal is for this process alone
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line)
                if not options.quiet:
                    print(line, end="", flush=True)
        except BaseException:
            _end_group(process)
            raise
    if process.returncode:
        return None
    with written(text) as made:
        Path(made).write_text("".join(lines), encoding="utf-8")
    return text


def _end_group(process: subprocess.Popen[str]) -> None:
    """End a script and what it has started."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGTERM)
        else:
            process.terminate()
