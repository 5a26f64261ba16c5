"""Which figures can be drawn of results, and why can the others not?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reference_py.economy.devices import DEVICE_TYPES, MAKER, TOOL
from societies.analysis.drawing import MOST_CASES
from societies.analysis.effects import cases_of_effects
from societies.analysis.fans import fan_of
from societies.analysis.networks import SWAPS
from societies.analysis.responses import shocks_of
from societies.analysis.selecting import RUN, copies_of, workload_of
from societies.analysis.sensitivity import varied
from societies.analysis.study_cases import runs_done
from societies.analysis.study_figures import design_of, scalars
from societies.config.problems import quoted
from societies.economy.figure import happenings, possible_types
from societies.economy.network import NETWORK
from societies.errors import ConfigError, SocietiesError
from societies.output.reading import event_tables
from societies.words import plural
from societies.workload.drawing.figure import clock_of, series_of

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

MEASURES = ("income", "consumption", "wealth")
"""Quantities of agents that an economy records with ``record.measures``."""
MAKES_TOOLS = DEVICE_TYPES[MAKER[TOOL]]
AFTERWARDS = 10
"""Ticks after a shock from which its recovery is judged."""
ONE_RESULT = ("trade_network", "fan", "sweep", "sensitivity")
"""Figures that show a single file."""
MIXED = ("effect", "irf")
"""Figures that compare a run with points of a study."""
CHOOSING = ("series", "gini", "distribution")
"""Figures of any variables, if the caller names some."""

Reason = Callable[["xr.Dataset"], str]


def fitting(cases: Cases) -> list[str]:
    """Return the figures that can be drawn of results if no variables are named."""
    return [name for name in REASONS if not unfit(name, cases)]


def unfit(figure: str, cases: Cases) -> str:
    """Return why a figure cannot be drawn of results, each of one file; "" if it can."""
    if figure in ONE_RESULT and len(cases) > 1:
        return f"shows one result, not {len(cases)}"
    if figure not in MIXED and len({RUN in data.dims for data in cases.values()}) > 1:
        return f"runs and studies are compared by the figures {' and '.join(MIXED)} alone"
    if len(cases) > MOST_CASES:
        return f"shows at most {MOST_CASES} results, not {len(cases)}"
    if figure in MIXED:
        return _refused(lambda: _require_few(_PAIRS[figure](cases)))
    if figure == "devices" and not any(
        MAKES_TOOLS in possible_types(one) for one in cases.values()
    ):
        return "has no devices that make devices: it was run with 'devices: tools'"
    for label, data in cases.items():
        clock = clock_of(data)
        if clock in data.dims and not data.sizes[clock]:
            return f"{quoted(label)} has no recorded {clock}"
        if reason := REASONS[figure](data):
            return f"{quoted(label)} {reason}"
    return ""


def _refused(check: Callable[[], object]) -> str:
    """Return the message of the error that a check raises, "" if it passes."""
    try:
        check()
    except SocietiesError as error:
        return str(error)
    return ""


def _require_few(compared: Cases) -> None:
    """Raise ConfigError if more is compared with a base, the first, than a panel can show."""
    if len(compared) - 1 > MOST_CASES:
        raise ConfigError(f"compares at most {MOST_CASES} with a base, not {len(compared) - 1}")


def _without(data: xr.Dataset, what: str, setting: str) -> str:
    """Return what a result lacks, and the setting with which an economy records it."""
    workload = workload_of(data)
    if workload is not None and workload.name != "economy":
        return f"has no {what}, which results of the workload economy have"
    if RUN in data.dims:
        return f"has no {what}: a sweep records the variables in its section record.variables"
    return f"has no {what}{f' ({setting})' if setting else ''}"


def _variables(*names: str, dims: tuple[str, ...] = (), what: str = "", setting: str) -> Reason:
    """Return a check that a result has one of these variables with the needed dimensions."""

    def reason(data: xr.Dataset) -> str:
        along = {clock_of(data), copies_of(data), *dims}
        if any(name in data and {*data[name].dims} == along for name in names):
            return ""
        return _without(data, what or f"variable '{names[0]}'", setting)

    return reason


def _series(data: xr.Dataset) -> str:
    dims = clock_of(data), copies_of(data)
    if series_of(data, dims):
        return ""
    return f"has no variable with one number for each {dims[0]} and {dims[1]}"


def _gini(data: xr.Dataset) -> str:
    dims = clock_of(data), copies_of(data)
    if any(name.startswith("gini") for name in series_of(data, dims)):
        return ""
    return "has no Gini coefficients"


def _distribution(data: xr.Dataset) -> str:
    if any(f"agent_{name}" in data for name in (*MEASURES, "utility")):
        return ""
    return _without(data, "variables of agents", "record them with record.agent=10")


def _shock(data: xr.Dataset) -> str:
    clock = clock_of(data)
    marks = happenings(data)
    if not marks:
        return "has neither shock nor intervention in its configuration"
    last, first = int(data[clock].values[-1]), marks[0].tick
    if last < first + AFTERWARDS:
        return (
            f"has {last - first} {plural(clock)} after its first event, on {clock} {first}; "
            f"a recovery needs {AFTERWARDS}"
        )
    return ""


def _trades(data: xr.Dataset) -> str:
    source = str(data.encoding.get("source", ""))
    if not Path(source).is_file():
        return "is not in a file, in which the trades are"
    if not {NETWORK, SWAPS} & {*event_tables(source)}:
        return _without(data, "trades between agents", "record them with record.network=[DAY]")
    return ""


def _study(data: xr.Dataset) -> str:
    return "" if RUN in data.dims else "is not a study: this figure takes the file of a sweep"


def _sweep(data: xr.Dataset) -> str:
    if reason := _study(data):
        return reason
    if not varied(runs_done(data)):
        return "varies no key"
    return "" if scalars(data) else "has no variable with one number per run"


def _sensitivity(data: xr.Dataset) -> str:
    return _study(data) or _refused(lambda: design_of(data))


_DEVICES = "runs with devices have it; set devices=tools or all"
_PAIRS: Mapping[str, Callable[[Cases], Cases]] = {
    "effect": cases_of_effects,
    "irf": lambda cases: shocks_of(cases)[0],
}
"""For each figure that compares with a base what it compares, the base first."""

REASONS: Mapping[str, Reason] = {
    "series": _series,
    "income": _variables(
        *MEASURES, what="income, consumption or wealth", setting="set record.measures=true"
    ),
    "gini": _gini,
    "distribution": _distribution,
    "sources": _variables("extraction_share", dims=("source",), setting=_DEVICES),
    "time": _variables("minutes", dims=("activity",), setting=""),
    "devices": _variables("device_maker_share", dims=("made_type",), setting=_DEVICES),
    "hhi": _variables("hhi", dims=("quantile",), setting=""),
    "interdependence": _variables("interdependence", setting=_DEVICES),
    "shock": _shock,
    "trade_network": _trades,
    "effect": lambda data: "",
    "irf": lambda data: "",
    "fan": lambda data: _refused(lambda: fan_of(data)).removeprefix("the result "),
    "sweep": _sweep,
    "sensitivity": _sensitivity,
}
"""For each figure a function that returns why it does not fit a result, "" if it does."""
