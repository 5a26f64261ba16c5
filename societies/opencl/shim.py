"""Which kernel calls a device function with arguments from Python? A generated one, the shim.

Global pointers pass through, private arrays are copied in and out by each work-item, local arrays
by the whole workgroup, with a barrier on either side of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.recfunctions import repack_fields
from numpy.typing import NDArray

from societies.opencl.argtypes import Kind, Parameter, StructType
from societies.opencl.array import DeviceArray

SHIM = "societies_shim"


@dataclass
class Argument:
    """One argument of the shim.

    ``role``: ``uniform`` (one value for all), ``varying`` (one per work-item), ``global``,
    ``private`` or ``local`` (pointers). ``length`` is the number of elements behind a pointer for
    one work-item (private) or one workgroup (local, global with groups). ``single`` is the
    structured scalar of which ``host`` is a copy.
    """

    parameter: Parameter
    kind: Kind
    role: str
    host: NDArray[Any] | None = None
    device_array: DeviceArray | None = None
    value: Any = None
    length: int = 0
    single: np.void | None = None


def shim_text(name: str, result: Kind | None, arguments: Sequence[Argument], grouped: bool) -> str:
    """Return the kernel that stages the arguments, calls the function and stores its result."""
    declared = ["ulong societies_count"]
    before: list[str] = []
    after: list[str] = []
    passed: list[str] = []
    for argument in arguments:
        p, kind = argument.parameter, argument.kind
        store, n = kind.storage, p.name
        const = "const " if p.const else ""
        if argument.role == "uniform" and isinstance(kind, StructType):
            declared.append(f"__global const {store} *{n}")  # few can pass structs by value
            passed.append(f"*{n}")
        elif argument.role == "uniform":
            declared.append(f"{store} {n}")
            passed.append(n)
        elif argument.role == "varying":
            declared.append(f"__global const {store} *{n}")
            passed.append(f"{n}[societies_item]")
        elif argument.role == "global":
            space = f"__{p.space}"
            declared += [f"{space} {const}{store} *{n}", f"ulong societies_stride_{n}"]
            passed.append(
                f"({space} {const}{p.type_name} *)({n} + societies_group * societies_stride_{n})"
            )
        elif argument.role == "local":
            declared += [
                f"__global {const}{store} *societies_from_{n}",
                f"__local {store} *{n}",
                f"ulong societies_length_{n}",
            ]
            each = (
                f"for (size_t i = societies_lid; i < societies_length_{n}; i += societies_lsize) "
            )
            far = f"societies_from_{n}[societies_group * societies_length_{n} + i]"
            before.append(f"{each}{n}[i] = {far};")
            if not p.const:
                after.append(f"{each}{far} = {n}[i];")
            passed.append(f"(__local {const}{p.type_name} *){n}")
        else:
            length = argument.length
            declared.append(f"__global {const}{store} *{n}")
            before.append(f"{p.type_name} societies_private_{n}[{max(length, 1)}];")
            each = f"for (size_t i = 0; i < {length}; i++) "
            far = f"{n}[societies_item * {length} + i]"
            before.append(f"{each}societies_private_{n}[i] = {far};")
            if not p.const:
                after.append(f"{each}{far} = societies_private_{n}[i];")
            passed.append(f"societies_private_{n}")
    call = f"{name}({', '.join(passed)});"
    if result is not None:
        declared.append(f"__global {result.storage} *societies_result")
        call = f"const {result.storage} societies_value = {call}"
        after.append("societies_result[societies_item] = societies_value;")
    barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
    rows = ["const size_t societies_item = get_global_id(0);"]
    if grouped:
        rows += [
            "const size_t societies_group = get_group_id(0);",
            "const size_t societies_lid = get_local_id(0), societies_lsize = get_local_size(0);",
            *before,
            f"{barrier}  // arguments are in local memory",
            call,
            f"{barrier}  // the function is done with local memory",
            *after,
        ]
    else:
        rows += [
            "const size_t societies_group = 0;",
            "if (societies_item >= societies_count) return;",
            *before,
            call,
            *after,
        ]
    body = "\n".join(f"    {row}" for row in rows)
    return f"__kernel void {SHIM}({', '.join(declared)})\n{{\n{body}\n}}\n"


def components_last(array: NDArray[Any], kind: Kind) -> NDArray[Any]:
    """Return the array in C order, with the components of vectors as a last axis."""
    array = np.array(array, order="C", copy=None)
    if isinstance(kind, StructType):
        return array
    if array.dtype.names is not None:
        return array.view(kind.dtype).reshape(*array.shape, kind.slots)
    return array.astype(kind.dtype, copy=False)


def handed_over(kind: Kind, array: DeviceArray) -> Any:
    """Return the argument for the generated kernel: a buffer for structs, as it ignores dtypes."""
    return array.buffer if isinstance(kind, StructType) else array


def bits(values: NDArray[Any]) -> NDArray[Any]:
    """Return the bytes of (group, work-item, component) as a last axis, without any padding."""
    if values.dtype.names is not None:
        values = repack_fields(values, recurse=True)
    values = np.ascontiguousarray(values)
    return values.view(np.uint8).reshape(*values.shape[:2], -1)


def components(array: NDArray[Any], kind: Kind) -> int:
    """Return the number of values of a type in an array."""
    return array.size * array.dtype.itemsize // kind.itemsize


def calls_of(argument: Argument) -> tuple[int, ...]:
    """Return the axes of a by-value or private array that number the calls."""
    assert argument.host is not None
    shape = argument.host.shape
    if argument.role == "varying":
        return shape[:-1]
    vector = argument.kind.width > 1 and argument.host.dtype.names is None
    return shape[: -2 if vector else -1]
