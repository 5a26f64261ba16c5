"""Which figure is drawn for a result: its workload's overview, or one that compares results?"""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.analysis.labels import distinct
from societies.analysis.print_size import inches_of, remove_foot, resize
from societies.analysis.selecting import RUN, names, workload_of
from societies.config.model import LABEL
from societies.config.problems import suggestion
from societies.errors import ConfigError, OutputError, SocietiesError, option
from societies.output import open_results
from societies.output.files import written
from societies.paths import kind_unless_file
from societies.workload.drawing.figure import (
    STYLE,
    clock_and_copies,
    leave_out,
    series_figure,
    small_print,
    words,
)

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.effects import Source

OVERVIEW = "overview"
"""The figure that a workload draws of one run; for several runs or a study the fitting figure."""

_UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Metadata options that leave the date out of a figure, so that equal runs give equal bytes."""


def plot_overview(
    source: Source | Sequence[Source],
    out: str | PathLike[str] | None = None,
    *,
    figure: str = OVERVIEW,
    variables: str | Sequence[str] | None = None,
    width: str | None = None,
    footer: bool = True,
    **options: Any,
) -> list[Path]:
    """Draw a figure of one or several runs as PNG and SVG, or in the requested format.

    Parameters
    ----------
    source : path or xarray.Dataset, or several
        Result files, or datasets from :func:`societies.open_results`. Several are drawn in the
        same panels.
    out : path, optional
        A folder for the figures, made if missing; or a single file, whose suffix is the format:
        ``fig.pdf``. Default: the folder of the first file, or the current folder for a dataset.
    figure : str
        ``"overview"``, drawn by the workload, or a figure listed in `societies.analysis.figure`.
    variables : list of str or text with commas, optional
        Variables to draw, if the figure leaves a choice.
    width : str, optional
        Width for print, in cm, mm or in: ``"8.5cm"``. Fonts are 7 to 9 points at that width, and a
        PNG has 300 dots per inch.
    footer : bool
        Whether the small print at the foot is drawn: file, seed, and what the figure leaves out.
    options
        Keyword arguments of the figure, such as ``bands="quantiles"`` or ``palette="viridis"``.

    Returns
    -------
    list of pathlib.Path
        ``<name of the file>_<figure>.png`` and ``.svg``, or the one figure; earlier ones are
        replaced.

    Raises
    ------
    ConfigError
        If the figure, a variable or an option does not exist, or the width is not valid.
    SocietiesError
        If matplotlib is missing, the file has no variable to draw, or no tick is complete yet.
    OutputError
        If the file cannot be read or a figure cannot be written.
    """
    sources = _several(source)
    first = sources[0]
    is_file = isinstance(first, str | PathLike)
    folder = Path(out) if out is not None else Path(first).parent if is_file else Path()
    drawn = make_figure(sources, figure, variables=variables, width=width, footer=footer, **options)
    return save_figure(drawn, folder, f"{_name(first)}_{figure}")


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw with the style of this package, not with that chosen by the caller.

    Raises SocietiesError if matplotlib is missing.
    """
    _require_matplotlib()
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def save_figure(drawn: Any, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG into a folder, or as the one file that ``folder`` names.

    Raises OutputError if it cannot be written.
    """
    with drawing_style():
        paths = _targets(folder, name, drawn)
        for path in paths:
            if kind := kind_unless_file(path):
                raise OutputError(
                    f"{path}: is {kind}, not a file. "
                    f"Remove it or choose another place with {option('out')}."
                )
        try:
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
                kind = path.suffix[1:].lower()
                image, dots = BytesIO(), max(drawn.get_dpi(), 150)
                drawn.savefig(image, format=kind, dpi=dots, metadata=_UNDATED.get(kind))
                with written(path) as unfinished:  # matplotlib hides errors of full disks
                    unfinished.write_bytes(image.getbuffer())
        except OSError as error:
            raise OutputError(
                f"{folder}: the figure cannot be written: {error.strerror or error}. "
                f"Choose another place with {option('out')}."
            ) from error
    return paths


def make_figure(
    source: Source | Sequence[Source],
    figure: str = OVERVIEW,
    *,
    variables: str | Sequence[str] | None = None,
    width: str | None = None,
    footer: bool = True,
    **options: Any,
) -> Any:
    """Return a figure of one or several runs, to change, show or save it.

    Parameters
    ----------
    source, figure, variables, width, footer, options
        As for `societies.plot_overview`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConfigError, SocietiesError, OutputError
        As for `societies.plot_overview`.
    """
    sources = _several(source)
    chosen = None if variables is None else names(variables)
    inches = None if width is None else inches_of(width)
    with ExitStack() as stack:
        stack.enter_context(drawing_style())
        several = [
            stack.enter_context(
                open_results(one) if isinstance(one, str | PathLike) else nullcontext(one)
            )
            for one in sources
        ]
        # Results in different folders may have the same name.
        labels = [
            words(results.attrs.get(LABEL) or _name(one), 40)
            for one, results in zip(sources, several, strict=True)
        ]
        opened: dict[str, Any] = dict(zip(distinct(labels), several, strict=True))
        name = next(iter(opened))
        with _about(sources[0]):
            for data in opened.values():
                _require_ticks(data)
            if figure == OVERVIEW and len(opened) == 1 and chosen is None:
                first = opened[name]
                own = None if RUN in first.dims else getattr(workload_of(first), "figure", None)
                if own is not None or RUN not in first.dims:
                    drawn = (own or series_figure)(first, **options)
                    _say_which_copy(drawn, own, first, options)
                    return _for_print(drawn, inches, footer)
            return _for_print(_compared(opened, figure, chosen, options), inches, footer)


def _say_which_copy(drawn: Any, own: Any, results: xr.Dataset, options: Mapping[str, Any]) -> None:
    """Write at the foot of a figure of a single copy which of several it is."""
    _, copies = clock_and_copies(results)
    if own is None or copies not in inspect.signature(own).parameters:
        return
    every = results[copies].values
    if len(every) > 1:
        number = every[options.get(copies, 0)]
        leave_out(drawn, f"{copies} {number}, one of {len(every)} ({option(copies)} chooses)")
        small_print(drawn, results)


def _for_print(drawn: Any, inches: float | None, footer: bool) -> Any:
    """Return a figure with its final width, and with or without the small print."""
    if not footer:
        remove_foot(drawn)
    if inches is not None:
        resize(drawn, inches)
    return drawn


def _compared(
    opened: Mapping[str, Any], figure: str, chosen: list[str] | None, options: Mapping[str, Any]
) -> Any:
    """Return a figure that compares the results."""
    from societies.analysis.figures import FIGURES, headlines
    from societies.analysis.fitting import CHOOSING, MIXED, fitting, unfit
    from societies.analysis.study_cases import cases_of
    from societies.analysis.study_figures import of_study

    first = next(iter(opened.values()))
    _require_one_workload(opened.values())
    draw = None
    if figure == OVERVIEW:
        figure = of_study(first) if len(opened) == 1 and RUN in first.dims else "series"
        draw = headlines if figure == "series" and not chosen else None
    if figure not in FIGURES:
        known = [OVERVIEW, *FIGURES]
        raise ConfigError(
            f"{option('figure', figure)}: no such figure{suggestion(figure, known)} "
            f"(figures: {', '.join(known)})"
        )
    draw = draw or FIGURES[figure]
    takes = inspect.signature(draw).parameters
    given = {**options, **({"variables": chosen} if chosen else {})}
    for word in given:
        if word not in takes:
            raise ConfigError(f"{option(word)}: the figure '{figure}' leaves no choice of it")
    free = (chosen and figure in CHOOSING) or (options.get("base") and figure in MIXED)
    if reason := "" if free else unfit(figure, opened):
        available = ", ".join(fitting(opened)) or "none"
        raise ConfigError(f"{option('figure', figure)}: {reason}; figures that fit: {available}")
    found = [
        one
        for name, data in opened.items()
        for one in cases_of(name if len(opened) > 1 else "", data, figure).items()
    ]
    labels = distinct([label for label, _ in found])
    return draw(dict(zip(labels, [case for _, case in found], strict=True)), **given)


def _require_one_workload(several: Iterable[Any]) -> None:
    """Raise ConfigError for results of different workloads, whose ticks and units differ."""
    found = [one.name for one in map(workload_of, several) if one is not None]
    if len(set(found)) > 1:
        raise ConfigError(
            f"plot: results of different workloads ({', '.join(dict.fromkeys(found))}) are not "
            "compared in one figure; plot each by itself"
        )


def _several(source: Any) -> list[Any]:
    found = list(source) if isinstance(source, list | tuple) else [source]
    if not found:
        raise ConfigError("plot: name a result")
    return found


def _name(source: Any) -> str:
    if isinstance(source, str | PathLike):
        return Path(source).stem
    return Path(source.encoding.get("source", "societies")).stem


def _require_ticks(results: Any) -> None:
    """Raise an error for a file without a complete tick, or without ticks at all."""
    if RUN in results.dims:
        return
    clock, _ = clock_and_copies(results)
    # `Dataset.where` gives this number the dimensions of its condition, and missing values.
    if "ticks_committed" in results and float(results["ticks_committed"].max()) <= 0:
        raise SocietiesError(f"holds no complete {clock} yet. Run it first, or continue its run.")


@contextmanager
def _about(source: Source) -> Iterator[None]:
    """Add the name of the file to errors."""
    name = str(source) if isinstance(source, str | PathLike) else _name(source)
    try:
        yield
    except ConfigError:
        raise  # it is about an option, not about the file
    except OutputError as error:
        named = str(error).startswith(str(Path(name).absolute()))
        raise OutputError(f"{error}" if named else f"{name}: {error}") from error
    except SocietiesError as error:
        raise SocietiesError(f"{name}: {error}") from error


def _require_matplotlib() -> None:
    # Figures are only written, so no backend is needed. The import of matplotlib fails if the
    # variable names an unknown backend, such as a notebook's in a shell of another environment.
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise SocietiesError(f"figures need matplotlib, which is missing: {_install()}") from error
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend


def _install() -> str:
    """Return the command that installs matplotlib, for a checkout or another installation."""
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{root}[plot]')}"
    return "pip install matplotlib"


def _targets(out: Path, name: str, figure: Any) -> list[Path]:
    """Return the files to write: one if the suffix of `out` is a format, else two in a folder.

    Raises OutputError if the suffix looks like a format but is unknown.
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
    return [out / f"{name}.{kind}" for kind in ("png", "svg")]
