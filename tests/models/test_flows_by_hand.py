"""Is a table of flows that of payments and balances written down by hand, and of which ticks?"""

import io
from types import SimpleNamespace

import numpy as np
import pytest
import tallies
import xarray as xr
from rich.console import Console
from small import small

import societies
from societies.analysis import accounts as module
from societies.analysis.accounts import Flows, _ticks, flows, flows_table
from societies.errors import ConfigError, OutputError

SECTORS = ["homes", "firms"]
PAID = np.array([[[3, 1], [5, 2], [4, 0]], [[0, 2], [1, 1], [7, 7]]])  # (copy, tick, payment)
MONEY = {4: [10, 0], 6: [20, 5]}
"""Balances at the start by number of the copy."""


def balances():
    """Return the money of homes and firms, which get wages and pay for goods, after each tick."""
    found = []
    for first, paid in zip(MONEY.values(), PAID, strict=True):
        total = np.cumsum(paid[:, 0] - paid[:, 1])
        found.append([[first[0] + one, first[1] - one] for one in total])
    return np.array(found)


@pytest.fixture
def results(monkeypatch):
    """Return the results of copies 4 and 6, of three quarters."""

    def rows(paid, before, after):
        wages, goods = paid["wages"], paid["goods"]
        return {
            "wages": [wages, -wages],
            "goods": [-goods, goods],
            "money": [before[one] - after[one] for one in SECTORS],
        }

    accounts = SimpleNamespace(flow="flow", balance="balance", unit="grains")
    monkeypatch.setattr(module, "rows_of", lambda _, *of: rows(*of))
    workload = SimpleNamespace(accounts=accounts, clock="quarter", copies="economy")
    monkeypatch.setattr(module, "workload_of", lambda _: workload)
    monkeypatch.setattr(module, "_at_start", lambda _, one, number, __: MONEY[number])
    dims = ("economy", "quarter")
    return xr.Dataset(
        {"flow": ((*dims, "payment"), PAID), "balance": ((*dims, "sector"), balances())},
        {
            **{"economy": [4, 6], "quarter": [1, 2, 3]},
            **{"payment": ["wages", "goods"], "sector": SECTORS},
        },
        {"clock": "quarter", "copies": "economy"},
    )


def test_balances_at_the_start_are_of_the_values_of_their_copy(monkeypatch, tmp_path):
    tallies.install(monkeypatch)

    class Engine:
        """Has as much money as a day brings."""

        def __init__(self, workload, p, *, first):
            self.of, self.started = (p.pace, p.days, first), False

        def start(self):
            self.started = True

        def state(self):
            return {"money": [self.of]} if self.started else {}

    monkeypatch.setattr(module, "ReferenceEngine", Engine)
    accounts = SimpleNamespace(balance="money")
    for table, pace in (({"pace": [1.5, 2.5]}, 2.5), (None, 1.0)):
        path = tmp_path / f"{pace}.h5"
        societies.run(tallies.config(days=3), table=table, out=path, device="reference")
        with societies.open_results(path) as found:
            one = found.sel(society=1)
            assert module._at_start(tallies.WORKLOAD, one, 1, accounts) == (pace, 3, 1)


@pytest.mark.parametrize(
    ("copy", "ticks", "wages", "goods"),
    [
        (None, None, 4, 0),
        (4, 3, 4, 0),
        (4, 1, 3, 1),
        (6, "2:3", 8, 8),
        (6, "1:3", 8, 10),
        (4, "1:2", 8, 3),
    ],
)
def test_payments_are_added_up_and_balances_compared(results, copy, ticks, wages, goods):
    found = flows(results, copy=copy, ticks=ticks)
    assert found.copy == (copy or 4)
    assert found.rows == {
        **{"wages": [wages, -wages], "goods": [-goods, goods]},
        "money": [goods - wages, wages - goods],
    }
    said = found.as_dict()
    assert (said["rows"], said["sectors"]) == (found.rows, SECTORS)
    assert 3 in [*str(said)] or "quarter" in str(said)


@pytest.mark.parametrize("name", ["flow", "balance"])
def test_files_without_payments_are_refused(results, name):
    with pytest.raises(
        OutputError, match=f"no variable '{name}' for each quarter, which the table of flows"
    ):
        flows(results.drop_vars(name))


def test_a_study_is_refused_which_has_no_quarters(results):
    """Its variables are those of the last quarter, along its runs."""
    ends = results.isel(quarter=-1).rename(economy="run")
    with pytest.raises(OutputError, match="has no variable 'flow' for each quarter"):
        flows(ends)


@pytest.mark.parametrize("change", [1, -1])
@pytest.mark.parametrize("sector", [0, 1])
def test_one_grain_too_many_is_noticed(results, sector, change):
    results.balance.values[0, 2, sector] += change
    with pytest.raises(OutputError, match="quarter 3 to 3 do not add up"):
        flows(results)
    assert flows(results, ticks=2).rows["wages"] == [5, -5]


def test_a_missing_copy_is_named(results):
    with pytest.raises(ConfigError, match="copy=5: the economies of the file are 4 to 6"):
        flows(results, copy=5)


def test_workloads_without_accounts_name_those_that_have_them(monkeypatch, results):
    for other in (None, SimpleNamespace(name="x")):
        monkeypatch.setattr(module, "workload_of", lambda _, other=other: other)
        with pytest.raises(ConfigError, match=r"these do: bam$"):
            flows(results)


def copy_of(known, ended=None):
    data = {} if ended is None else {"ended": ended}
    return xr.Dataset(data, {"quarter": [*known]}, {"clock": "quarter", "copies": "economy"})


@pytest.mark.parametrize(
    ("known", "ended", "asked", "expected"),
    [
        ((1, 2, 3), None, None, (3, 3)),
        ((1, 2, 3, 4, 5), 3, None, (3, 3)),
        ((1, 2, 3), 0, 1, None),  # it ended before its first quarter
        ((1, 2, 3), -1, None, (3, 3)),
        ((1, 2, 3), 1, None, (1, 1)),
        ((1, 2, 3), 2, 2, (2, 2)),
        ((1, 2, 3), 2, 3, None),
        ((1, 2, 3), None, "1:3", (1, 3)),
        ((1, 2, 3), None, "2:3", (2, 3)),
        ((1, 2, 3), None, "1:3:2", None),
        ((2, 4, 6), None, 4, None),
        ((2, 4, 6), None, None, None),
        ((2, 3), None, 3, (3, 3)),
        ((2, 3), None, 2, None),
        ((), None, None, None),
    ],
)
def test_ticks_are_a_range_with_the_one_before_it(known, ended, asked, expected):
    one = copy_of(known, ended)
    if expected is not None:
        assert _ticks(one, 4, asked) == expected
        return
    said = "has no quarter yet" if not known else "needs every quarter of a range"
    if ended is not None:
        said = f"economy 4 ended in quarter {ended}"
    with pytest.raises(ConfigError, match=said):
        _ticks(one, 4, asked)


@pytest.mark.parametrize("varied", [None, {"tax": [0.2, 0.05]}])
def test_the_first_tick_begins_with_the_balances_of_the_configuration(varied, tmp_path):
    more = {"interventions": [{"quarter": 2, "set": {"tax": 0.1}}]} if varied is None else {}
    config = small("bam", quarters=4, replicates=2, first_economy=3, **more)
    societies.run(config, out=tmp_path / "r.h5", device="reference", table=varied)
    for number in (3, 4):
        found = flows(tmp_path / "r.h5", ticks=1, copy=number)
        assert any(map(any, found.rows.values())) and found.ticks == (1, 1)


def shown(ticks, rows):
    page = io.StringIO()
    made = flows_table(Flows("economy", 4, "quarter", ticks, "grains", SECTORS, rows))
    Console(file=page, width=120).print(made)
    return [
        line.split() for line in page.getvalue().splitlines() if "─" not in line and line.strip()
    ]


def test_the_table_leaves_out_what_was_not_paid():
    rows = {"wages": [1500, -1500], "goods": [0, 0], "money": [0, 0], "tax": [-7, 7]}
    assert shown((3, 3), rows) == [
        ["quarter", "3", "of", "economy", "4,", "grains"],
        ["homes", "firms", "total"],
        ["wages", "+1,500", "-1,500", "0"],
        ["tax", "-7", "+7", "0"],
        ["total", "1,493", "-1,493", "0"],
    ]
    assert shown((2, 3), rows)[0][:6] == ["quarters", "2", "to", "3", "of", "economy"]
