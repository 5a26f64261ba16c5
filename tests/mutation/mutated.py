"""In which modules are mistakes planted, and by which tests are they to be noticed?"""

from pathlib import Path

from planting import MODEL, ROOT, label

ROOMS = (
    "societies/workload",
    "societies/sweep",
    "societies/analysis",
    "societies/economy",
    MODEL,
    "societies/study",
)

SPARED = ("listener", "parameters", "schedule", "state", "tables")
"""Modules of the reference in which no mistakes are planted. All but the last have no rule of their
own: whole days notice. Tables of curves are compared with a second opinion, digit by digit."""

DRAWN = (
    "societies/analysis/drawing",
    "societies/analysis/effect_figure",
    "societies/analysis/figures",
    "societies/analysis/network_figure",
    "societies/analysis/plot",
    "societies/analysis/print_size",
    "societies/analysis/study_figures",
    "societies/economy/explain/report",
    "societies/economy/explain/report_life",
    "societies/economy/explain/report_trades",
    "societies/economy/explain/words",
    "societies/economy/figure",
    "societies/economy/report",
    "societies/economy/scene",
    "societies/study/calibration/figures",
    "societies/study/figures",
    "societies/workload/drawing/figure",
    "societies/workload/drawing/lettering",
    "societies/workload/running/progress",
    "societies/workload/running/report",
    "societies/workload/declare/scene",
    "societies/workload/declare/view",
    "societies/workload/running/stepwise",
)
"""Modules that lay out figures and pages and put numbers into words. They compute nothing that is
recorded; what a pixel or a word shows is for tests of figures. Only mutated if they are named."""

LAUNCHED = (
    "societies/economy/coverage",
    "societies/economy/curves_on_device",
    "societies/economy/duration",
    "societies/economy/memory",
    "societies/economy/phases",
    "societies/economy/source",
    "societies/workload/checking/bench",
    "societies/workload/running/blocks",
    "societies/workload/running/saving",
    "societies/workload/checking/capture",
    "societies/workload/checking/capture_driver",
    "societies/workload/checking/capture_folder",
    "societies/workload/running/interrupts",
    "societies/workload/running/measured",
    "societies/workload/declare/phases",
    "societies/workload/running/bound",
    "societies/workload/running/launches",
    "societies/workload/running/logs",
    "societies/workload/running/plan",
    "societies/workload/running/profile",
    "societies/workload/running/several",
    "societies/workload/running/shared",
    "societies/workload/running/worker",
    "societies/workload/running/pace",
    "societies/workload/running/sufficiency",
    "societies/workload/running/waiting",
    "societies/workload/checking/windows",
    "societies/sweep/batch_sizes",
    "societies/sweep/conduct",
    "societies/sweep/executors",
    "societies/sweep/lanes",
    "societies/sweep/program_cache",
    "societies/sweep/plan",
)
"""Modules that say when and where something is launched, timed, estimated or written, and those
that write macros and make tables on a GPU, of which the reference uses neither. Most of what they
can get wrong shows on a device alone, where the parity of every phase, golden hashes and the tests
of kills notice, for seconds each: only mutated if they are named."""

ON_A_DEVICE = {
    "societies/workload/running/engines": ("_ReportedWords", "_Attributes", "DeviceEngine"),
}
"""Classes and functions that only a run on a device reaches, left out for the same reason."""

RULES = (
    *("start_and_end_of_day", "working", "bartering", "device_market", "device_payment"),
    *("making", "valuing", "inventing", "statistics_rules", "measures_rules", "curves"),
    *("evening_rules", "policies_and_rules_of_users"),
    "streams_rules",
)
TRADING_RULES = (
    "test_equal_powers_settle_at_the_geometric_mean_whatever_their_size",
    "test_the_inverse_rule_is_the_price_upside_down",
    "test_an_offer_is_on_the_ladder_and_the_best_before_its_end",
    "test_of_equal_offers_the_smallest_is_made",
)
USES = (
    "test_units_are_those_of_the_exact_loop",
    "test_whole_numbers_of_units_are_whole",
    "test_a_use_takes_few_steps",
)
OF_THE_MODEL = (
    *(f"tests/reference/test_{name}.py" for name in RULES),
    *(f"tests/invariants/test_trading_rules.py::{name}" for name in TRADING_RULES),
    *(f"tests/reference/test_device_benefit.py::{name}" for name in USES),
    "tests/statistics/test_gini_hhi.py::test_gini_at_its_ends",
)
"""The quick tests of the reference, rule by rule. Recorded vectors and whole runs notice many of
the same mistakes, seconds later. Parity and golden hashes would notice nearly all, and say nothing
about which rule is wrong."""

OF_THE_HOST = (
    *(f"tests/{room}" for room in ("analysis", "api", "cli", "config", "output", "sweep", "study")),
    *("tests/workload", "tests/translate/test_plug_ins.py", "tests/models/test_published.py"),
    "tests/parity/test_curve_tables.py",
    "tests/parity/test_parameter_tables.py",
    "tests/parity/test_interventions.py",
    "tests/parity/test_interventions_that_end.py",
    "tests/parity/test_verifying.py",
    "tests/parity/test_verifying_by_hand.py",
    "tests/parity/test_verifying_in_parts_by_hand.py",
    "tests/invariants/test_explanations.py",
    "tests/invariants/test_lives_by_hand.py",
    "tests/invariants/test_policies.py",
    "tests/models/test_accounts.py",
    "tests/models/test_flows_by_hand.py",
    "tests/invariants/test_economic_measures.py",
    "tests/reference/test_curves.py",
    "tests/statistics/test_synchronized_draws.py",
    "tests/reference/test_measures_rules.py",
    "tests/reference/test_network_rules.py",
    "tests/reference/test_statistics_rules.py",
)
"""Where the tests of what device and reference share are. Those that open a device, start a process
or take long are left out, as the run without mistakes finds: a mutant is a fork, in which no thread
of OpenCL lives on, and whose memory is that of a mistaken program."""

OF_ALL = tuple(
    f"tests/config/test_documented_ranges.py::test_what_a_page_promises_is_so[{name}]"
    for name in ("configuration-economy", "state", "variables")
)
"""Tests of what is only read where a module is imported: ranges and defaults of keys, units."""

TESTS = (*OF_THE_MODEL, *OF_THE_HOST)


def planted(names: list[str]) -> list[Path]:
    """Return the files in which mistakes are planted: those named, or all that are not left out.

    A name is that of a folder or of a file without its ending, of which the last parts are enough.
    """
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    if names:
        return [path for path in files if any(is_named(path, name) for name in names)]
    left_out = {*SPARED, *DRAWN, *LAUNCHED}
    return [path for path in files if label(path) not in left_out]


def on_a_device(module: str, function: str) -> bool:
    """Return whether only a run on a device reaches a function."""
    return function.partition(".")[0] in ON_A_DEVICE.get(module, ())


def is_named(path: Path, name: str) -> bool:
    """Return whether a name is that of the file, of the end of its path or of a folder it is in."""
    name = name.rstrip("/")
    whole = path.relative_to(ROOT).with_suffix("").as_posix()
    return name == label(path) or f"/{whole}".endswith(f"/{name}") or whole.startswith(f"{name}/")
