"""How are the parameters of an ensemble stored, whose societies have different parameters?

Kernels read the values from a table with a row for each society of the launch, and the number of a
curve from tables with a part for each society. All curves are concatenated; equal curves are stored
once. The reference receives the `Parameters` of one society.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.parameters import REMOVE_NOTHING, DeviceParameters, Parameters
from reference_py.primitives.rng import stream_base
from societies.economy import parameters as single
from societies.economy.config import EconomyConfig
from societies.economy.config.bounds import envelope, largest_holding
from societies.economy.config.rules import RulesConfig
from societies.economy.curves import EffortTables, UtilityTables
from societies.economy.curves_of_rules import Curves, Key
from societies.opencl import Device
from societies.workload.running.ensembles import Points, once, removing
from societies.workload.values.keys import VALUE_TABLE, table_lookups, table_rows, values

Rows = NDArray[np.uint32]

SHOCK_TABLE = "shock_table"
"""Kernel parameter: whether each shock concerns each society, if not every one concerns all."""


class Ensemble(Parameters):
    """Parameters of societies of the same shape with different values.

    Shapes are attributes. Parameters that may differ between societies are not: reading one raises
    an AttributeError, so fields, phases and schedule cannot depend on it.

    ``points`` has the configuration of each society in each stretch of time.

    Attributes
    ----------
    points : Points
    bounds : parameters of an imagined society whose numbers become larger than those of all others
    """

    _shared: dict[str, Any]
    _concerned: NDArray[np.int32] | None
    _curves: Curves
    _device: Device | None

    def __init__(self, config: EconomyConfig, points: Points) -> None:
        shared = single.of_all_points(config)
        self._set(
            points=points,
            stream_base=stream_base(config.seed),
            values=MappingProxyType({}),
            devices=None,
            _shared=shared,
            _concerned=_concerned(config),
            _curves=Curves(single.replaced(config)),
            _groups=len(config.group_sizes()),
            _made={},
            _device=None,
            **shared,
        )
        self._set(**self.shapes)
        if config.devices != "none":
            self._set(devices=DeviceParameters(config.devices == "tools", (), (), (), ()))
        around = envelope(points.configs)
        # Efforts of rules are not below the key ``min_effort``, to which the built-in curve falls.
        built_in = around.model_copy(update={"rules": RulesConfig()})
        self._set(bounds=single.parameters(built_in), largest_holding=largest_holding(around))

    def _set(self, **attributes: Any) -> None:
        for name, one in attributes.items():
            object.__setattr__(self, name, one)

    @property
    def groups(self) -> int:
        """Number of groups of agents."""
        return int(self._groups)

    @property
    def trade_power(self) -> tuple[float, ...]:
        """Always raises an AttributeError: an ensemble has no single value."""
        raise AttributeError("trade_power may differ between societies")

    @property
    def tables_cut_off(self) -> bool:
        """Whether a utility table ends before a unit is worth no more than the floor."""
        return bool(self._utility.length.max() > self.largest_holding)

    def describe_curves(self) -> str:
        """Return a text with the number of utility tables and their lengths."""
        length = self._utility.length
        return f"{len(length)} tables of {length.min()} to {length.max()} units"

    def computed_on(self, device: Device) -> None:
        """Set the device that may compute the tables, which have the same bits without it."""
        self._set(_device=device)

    def only(self, society: int) -> Ensemble:
        """Return an ensemble that has only the society of this number."""
        place, alone = society - self.first_society, object.__new__(Ensemble)
        alone._set(**vars(self))
        of = self.points.of[:, [place]]
        alone._set(points=Points(self.points.configs, of, self.points.after))
        if self._concerned is not None:
            alone._set(_concerned=self._concerned[[place]])
        alone._set(first_society=society, societies=1)
        return alone

    def of(self, place: int, day: int) -> Parameters:
        """Return the parameters of a society on a day; ``place`` is its index in the ensemble."""
        number = int(self.points.of[self.points.stretch(day), place])
        concerned = self._concerned if self._concerned is None else self._concerned[place]
        which = number, concerned if concerned is None else concerned.tobytes()
        if which not in self._made:
            self._made[which] = self._single(number, concerned)
        made: Parameters = self._made[which]
        return made

    # Tables and texts for the kernels.

    def lookups(self) -> list[str]:
        """Return the lines of OpenCL C with which kernels read values."""
        return table_lookups(values(self.points.configs[0]), "society")

    def curves(self) -> dict[str, NDArray[Any]]:
        """Return the tables of all curves, by the name of the kernels' parameter."""
        utility, effort = self._utility, self._effort
        found: dict[str, NDArray[Any]] = {
            "group_of_agent_table": np.array(self.group_of_agent, np.int32),
            "marginal_table": utility.marginal,
            "total_table": utility.total,
            "utility_start_table": utility.start,
            "utility_length_table": utility.length,
            "utility_floor_table": utility.floor,
            **_of_efforts("effort", effort),
            "max_experience_table": effort.max_experience,
        }
        if self._making is not None:
            found |= {
                "effort_total_table": effort.total,
                **_of_efforts("making", self._making),
                "making_total_table": self._making.total,
                "max_making_experience_table": self._making.max_experience,
            }
        return found

    def rows(self, day: int) -> dict[str, NDArray[Any]]:
        """Return the tables that have a part for each society, with the values of a day."""
        of = self.points.of[self.points.stretch(day)]
        found = {name: rows[of] for name, rows in self._rows.items()}
        return found if self._concerned is None else {**found, SHOCK_TABLE: self._concerned}

    # Derived from the points, once.

    @cached_property
    def _group_values(self) -> list[list[single.GroupValues]]:
        return [single.groups_of(config) for config in self.points.configs]

    @cached_property
    def _utility_keys(self) -> tuple[list[Key], Rows]:
        pairs = zip(self.points.configs, self._group_values, strict=True)
        return _shared(
            [single.utility_keys(config, self._curves, g) for g in groups]
            for config, groups in pairs
        )

    @cached_property
    def _effort_keys(self) -> tuple[list[Key], Rows]:
        return self._efforts("extraction")

    @cached_property
    def _making_keys(self) -> tuple[list[Key], Rows]:
        return self._efforts("device")

    def _efforts(self, section: str) -> tuple[list[Key], Rows]:
        return _shared(
            [single.effort_keys(self._curves, g, section) for g in groups]
            for groups in self._group_values
        )

    @cached_property
    def _utility(self) -> UtilityTables:
        keys, device = self._utility_keys[0], self._device
        self._set(_device=None)  # so that the parameters do not hold the device open
        return self._curves.utility_tables(keys, self.largest_holding, device)

    @cached_property
    def _effort(self) -> EffortTables:
        return self._curves.effort_tables("extraction", self._effort_keys[0])

    @cached_property
    def _making(self) -> EffortTables | None:
        if self.devices is None:
            return None
        return self._curves.effort_tables("device", self._making_keys[0])

    @cached_property
    def _rows(self) -> dict[str, NDArray[Any]]:
        """Tables that have a part for each point."""
        configs = self.points.configs
        found: dict[str, NDArray[Any]] = {
            VALUE_TABLE: np.array(table_rows(configs), np.float64).reshape(len(configs), -1),
            "utility_curve_table": self._utility_keys[1],
            "effort_curve_table": self._effort_keys[1],
            "consumption_threshold_table": np.array(
                [single.thresholds(groups) for groups in self._group_values], np.uint64
            ),
            "trade_power_table": self._of_groups("trade_power"),
        }
        if self.devices is not None:
            found |= {
                "making_curve_table": self._making_keys[1],
                "device_trade_power_table": self._of_groups("device_trade_power"),
                "inventiveness_table": self._of_groups("inventiveness"),
            }
        if self.endowed:
            rows = [single.endowments(groups) for groups in self._group_values]
            found["endowment_table"] = np.array(rows, np.int32)
        if self.policies:
            found["transfer_share_table"] = self._of_groups("transfer_share", 0.0)
        return found

    def _of_groups(self, name: str, without: float = 1.0) -> NDArray[np.float64]:
        rows = [single.of_groups(config, name, without) for config in self.points.configs]
        return np.array(rows)

    def _single(self, number: int, concerned: NDArray[np.int32] | None) -> Parameters:
        """Return the parameters of one point; its curves come from the ensemble's tables.

        ``concerned`` says which shocks concern a society; None: all.
        """
        config = self.points.configs[number]
        devices, cache = None, self._made
        if self._making is not None:
            making = self._making
            devices = DeviceParameters(
                config.devices == "tools",
                *_own(self._making_keys[1][number], making.curve, "making", cache),
                single.of_groups(config, "device_trade_power"),
                single.of_groups(config, "inventiveness"),
            )
        utility, utility_of = _own(
            self._utility_keys[1][number], self._utility.curve, "utility", cache
        )
        effort, effort_of = _own(self._effort_keys[1][number], self._effort.curve, "effort", cache)
        of_societies = {
            "shocks": tuple(
                one if concerned is None or concerned[i] else replace(one, remove=REMOVE_NOTHING)
                for i, one in enumerate(self.shocks)
            ),
            "first_society": self.first_society,
            "societies": self.societies,
        }
        return Parameters(
            utility_curves=utility,
            utility_curve_of=utility_of,
            effort_curves=effort,
            effort_curve_of=effort_of,
            devices=devices,
            largest_holding=self.largest_holding,
            **single.of_point(config, self._group_values[number]),
            **(self._shared | of_societies),
        )


def _concerned(config: EconomyConfig) -> NDArray[np.int32] | None:
    """Return (society, shock) whether each shock concerns each society; None: all concern all."""
    of = [which for _, which in removing(config)]
    if not of or of[0] is None:
        return None
    always = [np.ones(len(of[0]), bool)] * len(config.shocks)
    return np.array([*always, *of], np.int32).T.copy()


def _of_efforts(name: str, tables: EffortTables) -> dict[str, NDArray[Any]]:
    return {
        f"{name}_table": tables.minutes,
        f"{name}_start_table": tables.start,
        f"{name}_length_table": tables.length,
    }


def _shared(points: Iterable[list[list[Key]]]) -> tuple[list[Key], Rows]:
    """Return the distinct keys, and the index of the key of each (point, group, resource)."""
    different: dict[Key, int] = {}
    rows = [
        [[different.setdefault(key, len(different)) for key in group] for group in groups]
        for groups in points
    ]
    return list(different), np.array(rows, np.uint32)


def _own(
    numbers: Rows, curve: Callable[[int], Any], kind: str, made: dict[Any, Any]
) -> tuple[tuple[Any, ...], tuple[tuple[int, ...], ...]]:
    """Return the distinct curves of one point, and the index of the curve of (group, resource)."""
    different, of = np.unique(numbers, return_inverse=True)
    for number in different.tolist():
        if (kind, number) not in made:
            made[kind, number] = curve(number)
    curves = tuple(made[kind, number] for number in different.tolist())
    rows = of.reshape(numbers.shape)
    return curves, tuple(tuple(map(int, row)) for row in rows)


def ensemble(config: EconomyConfig, points: Points) -> Ensemble:
    """Return the parameters of a configuration's societies; they are made once and cached."""
    return once(config, "ensemble", lambda one: Ensemble(one, points))
