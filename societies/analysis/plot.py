"""Which figure shows a result? The one that its workload draws, or one of its series."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.analysis.selecting import workload_of
from societies.errors import ConfigError, OutputError, SocietiesError, option
from societies.output import open_results
from societies.paths import kind_unless_file
from societies.workload.figure import STYLE, clock_and_copies, series_figure

if TYPE_CHECKING:
    import xarray as xr

_UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""What keeps the date out of a figure, so that the same run gives the same bytes."""


def plot_overview(
    source: str | PathLike[str] | xr.Dataset,
    out: str | PathLike[str] | None = None,
    **options: Any,
) -> list[Path]:
    """Draw the figure of a run as PNG and SVG, or in the format that is asked for.

    A workload may draw one of its own. Of others, each panel shows one series over the ticks: the
    mean over copies (societies, plates) as a line and, where there are several copies, the range
    from the least to the greatest as a band.

    Parameters
    ----------
    source : path or xarray.Dataset
        A result file, or what :func:`societies.open_results` returns.
    out : path, optional
        A folder for the figures, made if missing; or one figure, whose ending is its format:
        ``fig.pdf``. Default: beside the file, or the current folder for a dataset.
    options
        Keyword arguments of the workload's figure, such as ``palette="viridis"`` for a plate.

    Returns
    -------
    list of pathlib.Path
        ``<name of the file>_overview.png`` and ``.svg``, or the one figure; earlier ones are
        replaced.

    Raises
    ------
    SocietiesError
        If matplotlib is missing, there is no variable to draw, or no tick is complete yet.
    OutputError
        If the file cannot be read or a figure cannot be written.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise SocietiesError(f"figures need matplotlib, which is missing: {_install()}") from error

    if isinstance(source, str | PathLike):
        name, folder = Path(source).stem, Path(source).parent
        opened: Any = open_results(source)
    else:
        name, folder = Path(source.encoding.get("source", "societies")).stem, Path()
        opened = nullcontext(source)
    folder = folder if out is None else Path(out)

    with opened as data, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        figure = _figure(data, name, options)
        paths = _targets(folder, name, figure)
        for path in paths:
            if kind := kind_unless_file(path):
                raise OutputError(
                    f"{path}: is {kind}, not a file. "
                    f"Remove it or choose another place with {option('out')}."
                )
        try:
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
                figure.savefig(path, dpi=150, metadata=_UNDATED.get(path.suffix[1:].lower()))
        except OSError as error:
            raise OutputError(
                f"{folder}: the figure cannot be written: {error.strerror or error}. "
                f"Choose another place with {option('out')}."
            ) from error
    return paths


def _figure(results: xr.Dataset, name: str, options: Mapping[str, Any]) -> Any:
    """Return the figure of a result.

    Raises
    ------
    SocietiesError
        If there is nothing to draw.
    OutputError
        If what is to be drawn is not what a run writes.
    """
    own = getattr(workload_of(results), "figure", None)
    try:
        clock, _ = clock_and_copies(results)
        if "ticks_committed" in results and int(results["ticks_committed"]) <= 0:
            raise SocietiesError(
                f"holds no complete {clock} yet. Run it first, or continue its run."
            )
        return (own or series_figure)(results, **options)
    except ConfigError:
        raise  # of an option
    except OutputError as error:
        raise OutputError(f"{name}: {error}") from error
    except SocietiesError as error:
        raise SocietiesError(f"{name}: {error}") from error


def _install() -> str:
    """Say what to type: for this checkout, or for an installation from elsewhere."""
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").is_file():
        return f"pip install -e '{root}[plot]'"
    return "pip install matplotlib"


def _targets(out: Path, name: str, figure: Any) -> list[Path]:
    """Return which figures to write: one, if `out` ends in a format, or two into a folder.

    Raises
    ------
    OutputError
        If it ends in what looks like a format but is none.
    """
    known, ending = figure.canvas.get_supported_filetypes(), out.suffix[1:].lower()
    if ending and not out.is_dir():
        if ending in known:
            return [out]
        if len(ending) in (3, 4) and ending.isalpha():
            raise OutputError(
                f"{out}: figures are not written as .{ending}. Choose one of "
                f"{', '.join(sorted(known))}, or give a folder."
            )
    return [out / f"{name}_overview.{kind}" for kind in ("png", "svg")]
