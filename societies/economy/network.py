"""Which agents gave how much to which on chosen days? The table of links in an economy's file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.state import NO_AGENT
from societies.economy.columns import ROOM, of_day
from societies.economy.config import EconomyConfig
from societies.output import Column, EventTable, ResultFile
from societies.workload.declare.fields import State

NETWORK = "trade_network"
COLUMNS = (
    *of_day("trades"),
    Column("giver", "int32", "agent", "agent that gave"),
    Column("taker", "int32", "agent", "agent that was given"),
    Column("units", "int32", "units", "units given in swaps, all resources"),
    Column("swaps", "int32", "swaps", "swaps between the two, in which each gave the other"),
)
DEVICE_COLUMNS = (
    Column("units_paid", "int32", "units", "units paid for devices, all resources"),
    Column("devices", "int32", "devices", "devices sold by the giver", dim="device_type"),
)
FIELDS = {"units": "link_units", "swaps": "link_swaps"}


def network_tables(config: EconomyConfig) -> list[EventTable]:
    """Return the table of links, or nothing if links are recorded on no day."""
    if not config.record.network:
        return []
    columns = COLUMNS if config.devices == "none" else COLUMNS + DEVICE_COLUMNS
    links = min(ROOM, max(1, config.agents - 1))
    room = config.replicates * config.agents * links * len(config.record.network)
    return [EventTable(NETWORK, columns, room, in_study=True)]


def network_stops(config: EconomyConfig) -> set[int]:
    """Return the days after which the links are read."""
    return {day for day in config.record.network if day <= config.days}


def write_network(file: ResultFile, config: EconomyConfig, day: int, state: State) -> None:
    """Append the links of a day, in the order of societies, givers and takers."""
    if day in config.record.network:
        found = links(state, config.first_society)
        file.append(NETWORK, {"day": np.full(len(found["giver"]), day, np.int32), **found})


def links(state: State, first_society: int) -> dict[str, NDArray[Any]]:
    """Return the links of a day by column, without the column of the day: (link,) int32.

    ``devices`` is (link, device_type). Societies come in their order, then givers, then takers.
    """
    taker = state["link_taker"]
    society, giver, place = np.nonzero(taker != NO_AGENT)
    order = np.lexsort((taker[society, giver, place], giver, society))
    society, giver, place = society[order], giver[order], place[order]
    found = {
        "society": society + first_society,
        "giver": giver,
        "taker": taker[society, giver, place],
        **{name: state[field][society, giver, place] for name, field in FIELDS.items()},
    }
    if "link_paid" in state:
        found["units_paid"] = state["link_paid"][society, giver, place]
        found["devices"] = state["link_devices"][society, giver, :, place]
    return {name: values.astype(np.int32) for name, values in found.items()}
