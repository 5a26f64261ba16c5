"""How is the full state kept so that one good copy always exists?

Two slots take turns. The slot to be overwritten loses its day first, and gets one again only when
its arrays are on the disk; meanwhile the other slot is complete. A checksum over the day and all
bytes shows a slot that is torn for any other reason.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from societies.output.files import to_disk
from societies.output.layout import COMMITTED, NO_DAY, SLOTS

State = dict[str, NDArray[Any]]


def latest(file: h5py.File, last: int | None = None) -> tuple[str, int, State] | None:
    """Return slot, day and arrays of the newest intact checkpoint, or None if there is none.

    A checkpoint counts only up to the day committed: the order is commit(day), checkpoint(day).
    With ``last`` those of later days do not count either.
    """
    committed = int(file[COMMITTED][()])
    committed = committed if last is None else min(committed, last)
    days = {slot: int(file[slot]["day"][()]) for slot in SLOTS}
    for slot in sorted(SLOTS, key=lambda slot: -days[slot]):
        if not 0 <= days[slot] <= committed:
            continue
        state = {name: np.asarray(array[()]) for name, array in file[slot]["state"].items()}
        if checksum(days[slot], state) == int(file[slot]["checksum"][()]):
            return slot, days[slot], state
    return None


def days(file: h5py.File) -> list[int]:
    """Return the days of the checkpoints that count, the oldest first."""
    committed = int(file[COMMITTED][()])
    written = (int(file[slot]["day"][()]) for slot in SLOTS)
    return sorted(day for day in written if 0 <= day <= committed)


def store(file: h5py.File, slot: str, day: int, state: Mapping[str, NDArray[Any]]) -> None:
    """Overwrite ``slot`` with the state at the end of ``day``."""
    group = file[slot]
    counter = group["day"]
    counter[()] = NO_DAY
    to_disk(file)
    # Kept open until the flush: a dataset that fails to write when it is closed says nothing.
    datasets = {name: group["state"][name] for name in state}
    for name, array in state.items():
        datasets[name][...] = array
    check = group["checksum"]
    check[()] = checksum(day, state)
    to_disk(file)
    counter[()] = day
    to_disk(file)


def checksum(day: int, state: Mapping[str, NDArray[Any]]) -> int:
    """Return the CRC-32 of the day and of every array's name and bytes, in the names' order."""
    value = zlib.crc32(day.to_bytes(8, "little"))
    for name in sorted(state):
        value = zlib.crc32(name.encode(), value)
        value = zlib.crc32(np.ascontiguousarray(state[name]).reshape(-1).view(np.uint8).data, value)
    return value
