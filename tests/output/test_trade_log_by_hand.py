"""What does the trade log write of a day that is made up here? Societies of 2 agents, by hand.

Whole runs, whose trades and flows add up to the series: test_trade_log.py.
"""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from societies import config_from_dict
from societies.economy.explain import replay as replaying
from societies.economy.explain import trade_log
from societies.economy.explain.trade_log import DEVICE_TRADES, TradeLog
from societies.economy.workload import WORKLOAD
from societies.workload import Setup
from societies.workload.running.points import with_table

SETTINGS = {"workload": "economy", "agents": 2, "resources": 2, "days": 4, "replicates": 3}
GOING_ON = SimpleNamespace(is_set=lambda: False)


def log(monkeypatch, devices="tools", table=None, **record):
    """Return a log whose societies extract by hand and with a tool, and make one."""
    record = {"trade_log": {"days": [2, 4], "societies": 2}} | record
    config = config_from_dict({**SETTINGS, "devices": devices, "record": record})
    setup = Setup(WORKLOAD, with_table(config, table) if table else config)
    seen = []

    def replay(workload, p, state, day, listener):
        seen.append((p.first_society, day, state["x"].tolist()))
        tool = listener._p.devices is not None
        listener.on_unit(resource=1, source=0, minutes=2.0)
        listener.on_unit(resource=0, source=int(tool), minutes=3.0)
        if tool:
            of = {"device_type": 0, "resource": 1, "by": None, "minutes": 5.0}
            listener.on_made(**of, parts=[0, 0, 1], component=None)
        return state

    monkeypatch.setattr(replaying, "replay", replay)
    monkeypatch.setattr(replaying, "require_same", lambda *_: None)
    return TradeLog(setup), setup.p, seen


class File:
    def __init__(self):
        self.written, self.appended = {}, []

    def write(self, name, values, society):
        self.written[name, society] = np.array(values).tolist()

    def append(self, name, columns):
        self.appended.append((name, len(columns["day"])))


@pytest.fixture
def states():
    return {"x": np.array([[1], [2], [3]])}


def written(one, p, day, states):
    file = File()
    stop = SimpleNamespace(is_set=GOING_ON.is_set, at_once=nullcontext)
    one.begin(day - 1, states)
    one.write(file, p, day, states, stop)
    return file


MATRIX = [
    *([0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]),  # the tool for resource 1 contains 0, 0 and 1
    *([3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),  # 0 was extracted with a tool, for 3 min
    [3.0, 2.0, 0.0, 5.0],  # labour
]


@pytest.mark.parametrize("table", [None, {"utility.exponent": [2.0, 2.5, 3.0]}])
def test_the_last_day_has_a_matrix_of_each_society(monkeypatch, states, table):
    one, p, seen = log(monkeypatch, table=table, input_output=True)
    file = written(one, p, 4, states)
    assert seen == [(0, 4, [[1]]), (1, 4, [[2]]), (2, 4, [[3]])]
    for society in range(3):
        assert file.written["input_output", society] == MATRIX
        assert file.written["input_total", society] == [sum(row) for row in MATRIX]
        assert file.written["output_total", society] == [1, 1, 0, 1]
    assert len(file.written) == 9
    assert [name for name, _ in file.appended] == ["resource_trades", "device_trades"]


def test_a_day_of_the_log_has_its_societies_alone(monkeypatch, states):
    one, p, seen = log(monkeypatch, input_output=True)
    assert written(one, p, 1, states).appended == [] == seen
    file = written(one, p, 2, states)
    assert [number for number, *_ in seen] == [0, 1] and file.written == {}
    assert len(file.appended) == 2
    without, p, _ = log(monkeypatch, devices="none")
    assert [name for name, _ in written(without, p, 2, states).appended] == ["resource_trades"]


def test_trades_of_societies_that_are_not_logged_are_left_out(monkeypatch, states):
    """On the last day all are replayed for the matrix."""
    one, p, _ = log(monkeypatch, input_output=True)
    rows = []
    monkeypatch.setattr(trade_log, "_swap_rows", lambda day, events: rows.extend(events) or [])
    monkeypatch.setattr(replaying.FlowListener, "events", [("when", "trade")], raising=False)
    monkeypatch.setattr(replaying.TradeListener, "__init__", lambda self: None)
    written(one, p, 4, states)
    assert [number for number, *_ in rows] == [0, 1]


def test_a_payment_ends_where_nothing_more_is_paid():
    nothing = {one.name: one.none for one in DEVICE_TRADES if one.dim == "payment"}
    assert {"paid_resource": -1, "paid_units": 0}.items() <= nothing.items()
