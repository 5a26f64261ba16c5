"""How are rows of any length summed, scanned, compacted and searched on a device?

The host side of ``kernels/primitives/wide.cl``. Arrays are (copies, row), and rows are independent.
The host never waits: totals and counts stay on the device, for the next launch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from societies.errors import DeviceError
from societies.opencl.array import DeviceArray
from societies.opencl.device import Device
from societies.opencl.program import Program

BLOCK = 2048
"""Entries of a block; equal to WIDE_BLOCK in the kernels."""

WORK_ITEMS = 64
"""Work-items per workgroup; a CPU uses a single one."""


def blocks_of(row: int) -> int:
    """Return the number of blocks of a row, which is the number of scratch elements per copy."""
    return max(1, -(-row // BLOCK))


class Wide:
    """The operations of ``wide.cl`` on a device.

    In every method ``n`` is the number of entries of each row that are used: a number or an array
    (copies,) uint32 on the device; default: the whole row. ``scratch`` has (copies,
    `blocks_of(row)`) elements: uint32, or for sums the type of the values.

    Parameters
    ----------
    device : device of the arrays
    work_items : work-items per workgroup; results do not depend on it
    """

    def __init__(self, device: Device, work_items: int | None = None) -> None:
        self._items = work_items or (1 if device.kind == "cpu" else WORK_ITEMS)
        self._program = Program(device, "primitives/wide.cl", {"WIDE_KERNELS": True})

    def scan_exclusive(
        self,
        x: DeviceArray,
        totals: DeviceArray,
        scratch: DeviceArray,
        n: int | DeviceArray | None = None,
    ) -> None:
        """Replace each entry (uint32) by the sum of those before it; ``totals`` (copies,)."""
        rows = self._rows(x, n, scratch, np.uint32, np.uint32)
        self._launch("wide_scan_blocks", rows, x=x, totals=scratch)
        self._of_blocks("wide_scan_totals", rows, scratch, totals)
        self._launch("wide_scan_add", rows, x=x, totals=scratch)

    def compact(
        self,
        flags: DeviceArray,
        out: DeviceArray,
        counts: DeviceArray,
        scratch: DeviceArray,
        n: int | DeviceArray | None = None,
    ) -> None:
        """List the set flags (uint8) of each row, ascending, in ``out`` (uint32, as ``flags``)."""
        rows = self._rows(flags, n, scratch, np.uint8, np.uint32)
        if out.shape != flags.shape or out.dtype != np.uint32:
            raise DeviceError(f"compact: out must be uint32 of shape {flags.shape}, not {out!r}")
        self._launch("wide_count_blocks", rows, flags=flags, totals=scratch)
        self._of_blocks("wide_scan_totals", rows, scratch, counts)
        self._launch("wide_compact_blocks", rows, flags=flags, totals=scratch, out=out)

    def reduce_sum(
        self,
        x: DeviceArray,
        sums: DeviceArray,
        scratch: DeviceArray,
        n: int | DeviceArray | None = None,
    ) -> None:
        """Add up each row (float64) in the fixed tree of ``reduce.cl``; ``sums`` (copies,)."""
        rows = self._rows(x, n, scratch, np.float64, np.float64)
        self._launch("wide_sum_blocks", rows, x=x, totals=scratch)
        one = {name: rows[name] for name in ("n", "lengths", "blocks")}
        self._enqueue("wide_sum_totals", len(x), totals=scratch, result=sums, **one)

    def reduce_sum_long(
        self,
        x: DeviceArray,
        sums: DeviceArray,
        scratch: DeviceArray,
        n: int | DeviceArray | None = None,
    ) -> None:
        """Add up each row (int64) modulo 2^64; ``sums`` (copies,)."""
        rows = self._rows(x, n, scratch, np.int64, np.int64)
        self._launch("wide_sum_long_blocks", rows, x=x, totals=scratch)
        self._of_blocks("wide_sum_long_totals", rows, scratch, sums)

    def reduce_max_uint(
        self,
        x: DeviceArray,
        largest: DeviceArray,
        scratch: DeviceArray,
        n: int | DeviceArray | None = None,
    ) -> None:
        """Find the largest word of each row (uint32), 0 if it has none; ``largest`` (copies,)."""
        rows = self._rows(x, n, scratch, np.uint32, np.uint32)
        self._launch("wide_max_uint_blocks", rows, x=x, totals=scratch)
        self._of_blocks("wide_max_uint_totals", rows, scratch, largest)

    def _rows(
        self,
        x: DeviceArray,
        n: int | DeviceArray | None,
        scratch: DeviceArray,
        dtype: Any,
        scratch_dtype: Any,
    ) -> dict[str, Any]:
        """Check the arguments, and return those that all kernels over blocks get."""
        if len(x.shape) != 2 or x.dtype != dtype:
            raise DeviceError(f"an array (copies, row) of {np.dtype(dtype)} is needed, not {x!r}")
        copies, row = x.shape
        blocks = blocks_of(row)
        if scratch.size < copies * blocks or scratch.dtype != scratch_dtype:
            raise DeviceError(
                f"scratch of {np.dtype(scratch_dtype)} with {copies * blocks} elements is needed, "
                f"not {scratch!r}"
            )
        lengths = n if isinstance(n, DeviceArray) else None
        if lengths is not None and (lengths.shape != (copies,) or lengths.dtype != np.uint32):
            raise DeviceError(f"n must be a number or uint32 of shape ({copies},), not {lengths!r}")
        length = n if isinstance(n, int) else row
        if not 0 <= length <= row:
            raise DeviceError(f"n = {length}: a row has {row} entries")
        return {"row": row, "n": length, "lengths": lengths, "blocks": blocks, "copies": copies}

    def _of_blocks(
        self, kernel: str, rows: dict[str, Any], scratch: DeviceArray, result: DeviceArray
    ) -> None:
        """Launch a workgroup for each copy, over the totals of its blocks."""
        self._enqueue(kernel, rows["copies"], totals=scratch, result=result, blocks=rows["blocks"])

    def _launch(self, kernel: str, rows: dict[str, Any], **arrays: DeviceArray) -> None:
        """Launch a workgroup for each block of each copy."""
        given = {name: value for name, value in rows.items() if name != "copies"}
        self._enqueue(kernel, rows["copies"] * rows["blocks"], **arrays, **given)

    def _enqueue(self, kernel: str, groups: int, **arguments: Any) -> None:
        size = groups * self._items
        self._program.kernel(kernel)(global_size=size, local_size=self._items, **arguments)
