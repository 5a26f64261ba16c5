"""How are the trades of chosen days and the input-output matrix of the last day recorded?

Both come from replaying a day in the reference, from the device's state in the morning (`replay`).
The state in the evening must then be the same as the device's, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.devices import DEVICE_TYPES
from reference_py.economy.parameters import Parameters
from societies.economy.columns import ROOM, of_day
from societies.economy.config import EconomyConfig
from societies.output import Column, Coordinate, EventTable, ResultFile, Variable
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.interrupts import Interruption
from societies.workload.running.written import LeftOut

if TYPE_CHECKING:
    from societies.economy.explain.replay import EventTime

PAYMENT = "payment"
LABOUR = "labour"
_WHEN = (
    *of_day("trade"),
    Column("market", "int32", "", "number of the day's resource market, or of the one before"),
    Column("round", "int32", "", "round of the market, from 0"),
)


def _values(side: str, things: str) -> tuple[Column, ...]:
    return tuple(
        Column(
            f"value_{side}_{thing}_{when}",
            "float64",
            "util",
            f"worth of one more unit of what is {thing} to {side.upper()}, {when} the swap",
        )
        for thing in things.split()
        for when in ("before", "after")
    )


RESOURCE_TRADES = (
    *_WHEN,
    Column("a", "int32", "agent", "who gives"),
    Column("b", "int32", "agent", "who takes and gives the other in return"),
    Column("proposer", "int32", "agent", "whose proposal it was"),
    Column("given", "int32", "index", "resource that A gives"),
    Column("taken", "int32", "index", "resource that A takes"),
    Column("units_given", "int32", "units", "units that A gives"),
    Column("units_taken", "int32", "units", "units that A takes"),
    Column("price", "float64", "1", "units taken for a unit given, before rounding"),
    Column(
        "most", "float64", "1", "units given for a unit taken: most that A would, at the margin"
    ),
    Column("least", "float64", "1", "units given for a unit taken: least that B would take"),
    *_values("a", "given taken"),
    *_values("b", "given taken"),
    Column("surplus_a", "float64", "util", "gain of A"),
    Column("surplus_b", "float64", "util", "gain of B"),
)
"""Columns of the table of swaps in the resource market."""

DEVICE_TRADES = (
    *_WHEN,
    Column("buyer", "int32", "agent", "who buys"),
    Column("seller", "int32", "agent", "who sells"),
    Column("device_type", "int32", "", "type of the device", meanings=DEVICE_TYPES),
    Column("resource", "int32", "index", "resource that the device is for"),
    Column("from_stock", "int32", "", "how it is had", meanings=("to_be_made", "from_stock")),
    Column("units_paid", "int32", "units", "units paid, all resources"),
    Column("worth", "float64", "util", "worth of the device to the buyer"),
    Column("cost", "float64", "util", "cost of the device to the seller"),
    Column("paid", "float64", "util", "worth of the payment to the buyer"),
    Column("received", "float64", "util", "worth of the payment to the seller"),
    Column("surplus_buyer", "float64", "util", "worth less paid"),
    Column("surplus_seller", "float64", "util", "received less cost"),
    Column(
        "paid_resource",
        "int32",
        "index",
        "resources of the payment; -1: no more",
        dim=PAYMENT,
        none=-1,
    ),
    Column("paid_units", "int32", "units", "units of each; 0: no more", dim=PAYMENT, none=0),
    *(
        Column(
            f"value_{side}_{when}",
            "float64",
            "util",
            f"worth of one more unit of each to the {side}, {when} the deal",
            dim=PAYMENT,
        )
        for side in ("buyer", "seller")
        for when in ("before", "after")
    ),
)
"""Columns of the table of sales of devices."""


class TradeLog:
    """Records all trades, and the input-output matrix, of the days that a run replays."""

    def __init__(self, setup: Setup[EconomyConfig, Parameters]) -> None:
        self._workload, self.config = setup.workload, setup.config
        config = setup.config
        log = config.record.trade_log
        self._logged = {day: range(log.societies) for day in log.days}
        self._matrix_day = config.days if config.record.input_output else 0
        self._morning: State | None = None

    def societies(self, day: int) -> int:
        """Return the number of societies replayed on a day; they are the ensemble's first."""
        if day == self._matrix_day:
            return self.config.replicates
        return len(self._logged.get(day, ()))

    def stops(self) -> set[int]:
        """Return the days after which the state is needed."""
        days = {day for day in (*self._logged, self._matrix_day) if day}
        return days | {day - 1 for day in days}

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates that the tables and the matrix need."""
        config, result = self.config, []
        if self._logged and config.devices != "none":
            places = np.arange(config.trading.menu_size)
            result.append(Coordinate(PAYMENT, places, "", "place in the payment for a device"))
        if self._matrix_day:
            names = np.array(goods(config))
            result.append(Coordinate("output", names, "", "what is extracted or made"))
            names = np.array([*goods(config), LABOUR])
            result.append(Coordinate("input", names, "", "what it takes"))
        return result

    def variables(self) -> list[Variable]:
        """Return the variables of the matrix."""
        if not self._matrix_day:
            return []
        unit = "units, or min"
        return [
            Variable(
                "input_output",
                ("society", "input", "output"),
                "float64",
                unit,
                "last day: what went into what; units of resources, minutes of devices and labour",
                float("nan"),
            ),
            Variable(
                "input_total",
                ("society", "input"),
                "float64",
                unit,
                "last day: what was used in all",
                float("nan"),
            ),
            Variable(
                "output_total",
                ("society", "output"),
                "float64",
                "units, or devices",
                "last day: what was extracted or made in all",
                float("nan"),
            ),
        ]

    def tables(self) -> list[EventTable]:
        """Return the tables of the trade log."""
        if not self._logged:
            return []
        log = self.config.record.trade_log
        room = ROOM * self.config.agents * len(log.days) * log.societies
        result = [EventTable("resource_trades", RESOURCE_TRADES, room)]
        if self.config.devices != "none":
            result.append(EventTable("device_trades", DEVICE_TRADES, room))
        return result

    def begin(self, day: int, state: State) -> None:
        """Store the state after a day if the next day will be replayed."""
        self._morning = dict(state) if self.societies(day + 1) else None

    def write(
        self, file: ResultFile, p: Parameters, day: int, state: State, stop: Interruption
    ) -> None:
        """Replay the day that has just ended and write its trades and its input-output matrix.

        Raises
        ------
        LeftOut
            If the replay was interrupted; then nothing of the day is written.
        DeviceError
            If a society's day did not end in the same state as the reference's.
        """
        before = self._morning
        if before is None:
            return
        from societies.economy.explain.replay import (
            FlowListener,
            parameters_of_one,
            replay,
            require_same,
            state_of_one,
        )

        events: list[tuple[int, EventTime, Any]] = []
        for place in range(self.societies(day)):
            if stop.is_set():
                raise LeftOut(before)
            number = p.first_society + place
            one = parameters_of_one(p, number)
            listener = FlowListener(
                self._workload.parameters_of_copy(one, 0, day), len(goods(self.config))
            )
            with stop.at_once():
                after = replay(self._workload, one, state_of_one(before, place), day, listener)
            require_same(one, day, state_of_one(state, place), after)
            if place in self._logged.get(day, ()):
                events += [(number, when, event) for when, event in listener.events]
            if day == self._matrix_day:
                file.write("input_output", listener.matrix, society=place)
                file.write("input_total", listener.matrix.sum(axis=1), society=place)
                file.write("output_total", listener.made, society=place)
        if day in self._logged:
            file.append("resource_trades", _columns(RESOURCE_TRADES, _swap_rows(day, events)))
            if self.config.devices != "none":
                slots = self.config.trading.menu_size
                rows = _sale_rows(day, events, slots)
                file.append("device_trades", _columns(DEVICE_TRADES, rows, slots))


def goods(config: EconomyConfig) -> list[str]:
    """Return the names of all goods: resources, then the devices of each type."""
    types = {"none": (), "tools": DEVICE_TYPES[:1], "all": DEVICE_TYPES}[config.devices]
    return [f"{kind} {r}" for kind in ("resource", *types) for r in range(config.resources)]


def _swap_rows(day: int, events: list[tuple[int, EventTime, Any]]) -> list[tuple[Any, ...]]:
    from societies.economy.explain.replay import swaps

    rows = []
    for number, when, event in events:
        for place, one in swaps([(when, event)]):
            swap = one.swap
            assert swap is not None
            values = [
                moment[side]
                for before, after in (
                    (one.value_a, one.value_a_after),
                    (one.value_b, one.value_b_after),
                )
                for side in (0, 1)
                for moment in (before, after)
            ]
            rows.append(
                (
                    *(number, day, place.market, place.step.round, one.a, one.b, swap.by),
                    *(one.give, one.take, swap.given, swap.taken),
                    *(one.rate, one.most_a, one.least_b, *values),
                    *(swap.surplus_a, swap.surplus_b),
                )
            )
    return rows


def _sale_rows(
    day: int, events: list[tuple[int, EventTime, Any]], slots: int
) -> list[tuple[Any, ...]]:
    from societies.economy.explain.replay import sales

    rows = []
    for number, when, event in events:
        for place, one in sales([(when, event)]):
            paid = [i for i, units in enumerate(one.units) if units]
            none = [-1] * (slots - len(paid))
            unknown = [float("nan")] * (slots - len(paid))
            values = [
                [*(moment[i] for i in paid), *unknown]
                for moment in (
                    *(one.value_buyer, one.value_buyer_after),
                    *(one.value_seller, one.value_seller_after),
                )
            ]
            rows.append(
                (
                    *(number, day, place.market, place.step.round, one.buyer, one.seller),
                    *(one.device_type, one.resource, int(one.from_stock), sum(one.units)),
                    *(one.worth, one.cost, one.paid, one.received),
                    *(one.surplus_buyer, one.surplus_seller),
                    [*(one.offered[i] for i in paid), *none],
                    [*(one.units[i] for i in paid), *[0] * len(none)],
                    *values,
                )
            )
    return rows


def _columns(
    columns: tuple[Column, ...], rows: list[tuple[Any, ...]], slots: int = 0
) -> Mapping[str, NDArray[Any]]:
    """Return the rows as one array for each column."""
    return {
        column.name: np.array([row[i] for row in rows], dtype=column.dtype).reshape(
            (len(rows), slots) if column.dim else (len(rows),)
        )
        for i, column in enumerate(columns)
    }
