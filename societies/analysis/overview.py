"""How did the society fare? One figure: the series of an economy, or of another model, by day."""

from __future__ import annotations

from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.errors import OutputError, SocietiesError, option, printable
from societies.output import open_results
from societies.paths import kind_unless_file

if TYPE_CHECKING:
    import xarray as xr

# Units above, welfare below. Colours of Okabe and Ito, told apart by every kind of eye.
Panels = tuple[tuple[str, str, str, str], ...]
_PANELS: Panels = (
    ("units_extracted", "Extracted", "units per agent and day", "#0072B2"),
    ("units_held", "Held", "units per agent", "#0072B2"),
    ("units_traded", "Traded", "units per agent and day", "#0072B2"),
    ("utility", "Utility", "util per agent", "#009E73"),
    ("gini", "Inequality", "Gini of the day's utility", "#D55E00"),
)
_WITH_DEVICES: Panels = (
    *_PANELS,
    ("interdependence", "Interdependence", "resources in the devices used", "#CC79A7"),
)
_MOST_PANELS = 6
_SOURCE_COLOURS = ("#C8C8C8", "#56B4E9", "#0072B2", "#E69F00", "#D55E00")
_TYPE_COLOURS = (*_SOURCE_COLOURS[1:], "#009E73", "#CC79A7")
_COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#E69F00")
_INK, _GREY, _GRID = "#222222", "#666666", "#E3E3E3"
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture on every machine
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.labelcolor": _GREY,
    "axes.edgecolor": _GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": _GRID,
    "grid.linewidth": 0.8,
    "text.color": _INK,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "lines.linewidth": 1.4,
    "savefig.facecolor": "white",
    "figure.constrained_layout.h_pad": 0.09,
    "svg.hashsalt": "societies",  # without it an SVG's identifiers differ from run to run
}


_UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""What keeps the date out of a figure, so that the same run gives the same bytes."""


def plot_overview(
    source: str | PathLike[str] | xr.Dataset, out: str | PathLike[str] | None = None
) -> list[Path]:
    """Draw the overview of a run as PNG and SVG, or in the format that is asked for.

    Each panel shows one series over the days: the mean over societies as a line and, where there
    are several societies, the range from the least to the greatest as a band. A run with devices
    has two panels more: with what the units were extracted, and how many devices of each type are
    known, both as means over societies.

    Parameters
    ----------
    source : path or xarray.Dataset
        A result file, or what :func:`societies.open_results` returns. Used are the variables
        ``units_extracted``, ``units_held``, ``units_traded``, ``utility`` and ``gini`` (with
        devices also ``interdependence``, ``extraction_share`` and ``devices_known``) or, where
        these are not all there, the first six that are (society, day); and for the title, where
        present, the attributes ``agents``, ``resources`` and ``scenario``, or ``title``.
    out : path, optional
        A folder for the figures, made if missing; or one figure, whose ending is its format:
        ``fig.pdf``. Default: beside the file, or the current folder for a dataset.

    Returns
    -------
    list of pathlib.Path
        ``<name of the file>_overview.png`` and ``.svg``, or the one figure; earlier ones are
        replaced.

    Raises
    ------
    SocietiesError
        If matplotlib is missing, there is no variable to draw, or no day is complete yet.
    OutputError
        If the file cannot be read or a figure cannot be written.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
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
        panels = _panels(data)
        _require_series(data, name, panels)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(10, 8.7 if _has_devices(data) else 5.8), layout="constrained")
        _draw(figure, data, panels)
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


def _panels(data: xr.Dataset) -> Panels:
    """Return variable, title, label and colour of every panel."""
    if _has_devices(data):
        return _WITH_DEVICES
    if all(variable in data for variable, *_ in _PANELS):
        return _PANELS
    series = [str(name) for name, a in data.data_vars.items() if set(a.dims) == {"society", "day"}]
    panels = []
    for name, colour in zip(series[:_MOST_PANELS], _COLOURS, strict=False):
        unit = str(data[name].attrs.get("units", "1"))
        title = name.replace("_", " ").capitalize()
        panels.append((name, _words(title), "" if unit == "1" else _words(unit), colour))
    return tuple(panels)


def _has_devices(data: xr.Dataset) -> bool:
    """Whether there is all that the panels about devices show."""
    names = (*(variable for variable, *_ in _WITH_DEVICES), "extraction_share", "devices_known")
    return all(name in data for name in names)


def _require_series(data: xr.Dataset, name: str, panels: Panels) -> None:
    """Raise SocietiesError unless the dataset has something to draw."""
    if not panels:
        raise SocietiesError(
            f"{name}: has no variable with one number per society and day, so there is nothing to "
            "draw. Plot it with xarray."
        )
    if data.sizes["day"] == 0:
        raise SocietiesError(
            f"{name}: holds no complete day yet. Run it first, or continue its run."
        )


def _places(grid: Any, count: int) -> list[Any]:
    """Return where the panels go: in rows of up to three, of two rows the upper one fuller."""
    rows = [count] if count <= 3 else [(count + 1) // 2, count // 2]
    if count > _MOST_PANELS:
        rows = [3] * (count // 3) + [count % 3] * (count % 3 > 0)
    return [
        grid[row, i * 6 // n : (i + 1) * 6 // n] for row, n in enumerate(rows) for i in range(n)
    ]


def _draw(figure: Any, data: xr.Dataset, panels: Panels) -> None:
    days = data["day"].values
    societies = data.sizes["society"]
    by_type = [_draw_sources, _draw_known] if _has_devices(data) else []
    count = len(panels) + len(by_type)
    grid = figure.add_gridspec(-(-count // 3), 6)
    places = _places(grid, count)
    for draw, place in zip(by_type, places[len(panels) :], strict=True):
        draw(figure.add_subplot(place), data)
    for place, (variable, title, label, colour) in zip(places, panels, strict=False):
        axes = figure.add_subplot(place)
        series = data[variable].transpose("society", "day").load()
        if societies > 1:
            least, greatest = series.min("society"), series.max("society")
            axes.fill_between(days, least, greatest, color=colour, alpha=0.22, linewidth=0)
        mean = series.mean("society")
        # Not clipped, so that a line along zero shows on the axis.
        marker = "o" if len(days) == 1 else ""
        axes.plot(days, mean, color=colour, marker=marker, clip_on=False, zorder=3)
        axes.set_title(title)
        axes.set_ylabel(label)
        axes.set_xlabel("day")
        axes.set_xlim((days[0] - 1, days[-1]))
        top = float(series.max())
        bottom = min(0.0, float(series.min()) * 1.08)
        axes.set_ylim((bottom, top * 1.08 if top > 0 else 1))
        if top >= 1000:
            axes.yaxis.set_major_formatter(_thousands)
    figure.suptitle(_title(data), x=0.01, ha="left", fontsize=12.5, color=_INK, fontweight="normal")


def _draw_sources(axes: Any, data: xr.Dataset) -> None:
    """Draw the shares of the units extracted by hand and with each type, one above the other."""
    shares = data["extraction_share"].mean("society").transpose("source", "day").load()
    names = [_words(name).replace("_", " ") for name in data["source"].values]
    axes.stackplot(data["day"], shares, colors=_SOURCE_COLOURS, labels=names, linewidth=0)
    axes.set_ylim((0, 1))
    axes.grid(visible=False)
    _finish(axes, data, "Extracted with", "share of the units")


def _draw_known(axes: Any, data: xr.Dataset) -> None:
    """Draw how many devices of each type somebody knows how to make."""
    known = data["devices_known"].mean("society").load()
    for name, colour in zip(known["device_type"].values, _TYPE_COLOURS, strict=True):
        label = _words(name).replace("_", " ")
        axes.plot(data["day"], known.sel(device_type=name), color=colour, label=label)
    axes.set_ylim((0, max(1.0, float(known.max()) * 1.08)))
    _finish(axes, data, "Devices known", "devices of each type")


def _finish(axes: Any, data: xr.Dataset, title: str, label: str) -> None:
    """Label a panel of several lines or areas, and explain them below it."""
    days = data["day"].values
    axes.set_title(title)
    axes.set_ylabel(label)
    axes.set_xlabel("day")
    axes.set_xlim((days[0] - 1, days[-1]))
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.22),
        ncols=3,
        frameon=False,
        fontsize=8.5,
        handlelength=1.2,
        columnspacing=1.2,
    )


def _title(data: xr.Dataset) -> str:
    """Say who was simulated, as far as the attributes tell, and what line and band mean."""
    parts = []
    if "agents" in data.attrs and "resources" in data.attrs:
        agents, resources = (_words(data.attrs[name]) for name in ("agents", "resources"))
        parts.append(f"{agents} agents × {resources} resources")
    elif "title" in data.attrs:
        parts.append(_words(data.attrs["title"]))
    if "scenario" in data.attrs:
        parts.append(_words(data.attrs["scenario"]))
    societies = data.sizes["society"]
    if societies == 1:
        parts.append("1 society")
    else:
        parts.append(f"{societies} societies (line: mean, band: minimum to maximum)")
    return "  ·  ".join(parts)


def _words(text: object) -> str:
    """Return what a file says as words of a figure: no mathematics, nothing that has no picture."""
    return printable(str(text)).replace("$", r"\$")


def _thousands(value: float, _: int | None = None) -> str:
    """Write a tick with narrow spaces between thousands."""
    return f"{value:,.6g}".replace(",", "\u202f")
