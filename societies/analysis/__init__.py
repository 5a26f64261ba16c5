"""What does a result show? Statistics, figures and tables from the dataset of a run or a study.

Functions take and return xarray arrays. Dimensions that a measure does not use are retained. Units
and meanings are attributes of the arrays.
"""

from societies.analysis.accounts import Flows, flows
from societies.analysis.constant_prices import constant_prices, price_level
from societies.analysis.effects import effect
from societies.analysis.emulation import Emulator, emulator
from societies.analysis.exporting import export
from societies.analysis.fans import fan
from societies.analysis.inequality import (
    atkinson,
    gini,
    lorenz,
    mobility,
    theil,
    top_share,
    within_and_between,
)
from societies.analysis.intervals import mean_interval, quantile_interval
from societies.analysis.networks import trade_network
from societies.analysis.plot import make_figure, plot_overview
from societies.analysis.responses import asymmetry, irf
from societies.analysis.sensitivity import morris, over_replicates, sobol, varied
from societies.analysis.structure import (
    hhi,
    interdependence,
    kuznets,
    recovery_time,
    resources_contained,
    time_budget,
)

__all__ = [
    "Emulator",
    "Flows",
    "asymmetry",
    "atkinson",
    "constant_prices",
    "effect",
    "emulator",
    "export",
    "fan",
    "flows",
    "gini",
    "hhi",
    "interdependence",
    "irf",
    "kuznets",
    "lorenz",
    "make_figure",
    "mean_interval",
    "mobility",
    "morris",
    "over_replicates",
    "plot_overview",
    "price_level",
    "quantile_interval",
    "recovery_time",
    "resources_contained",
    "sobol",
    "theil",
    "time_budget",
    "top_share",
    "trade_network",
    "varied",
    "within_and_between",
]
