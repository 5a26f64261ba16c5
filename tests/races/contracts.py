"""Do the collective functions of kernels/primitives/ keep their contract: no race, no overrun?

For every function two kernels are generated that call it as a careless caller may. ``NAME_read``
reads all results straight after the call, each by another work-item than wrote it;
``NAME_reuse`` overwrites every argument straight after the call. Neither has a barrier after it,
because the contract says that the last barrier of the function is enough. Scratch and pure results
have undefined contents before the call, and exactly the documented size.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pcpp

from societies.kerneltext.source import amalgamate, without_comments

_HEAD = re.compile(
    r"^COLLECTIVE\s+(?P<result>\w+)\s+(?P<name>\w+)\s*\((?P<inside>[^)]*)\)\s*\{", re.MULTILINE
)
_PARAMETER = re.compile(
    r"^(?:const )?(?:(?P<space>__local|__global) )?(?:const )?"
    r"(?P<type>\w+) (?P<star>\*)?(?P<name>\w+)$"
)
DTYPES = {
    "real": np.float64,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "uchar": np.uint8,
}
NONE = 0xFFFFFFFF


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    space: str  # "local", "global", "rng" or "value"
    const: bool


@dataclass(frozen=True)
class Function:
    name: str
    file: str
    result: str
    parameters: tuple[Parameter, ...]


def functions(folder: Path, *, on_cpu: bool) -> list[Function]:
    """Return the collective functions that a folder has on a CPU or a GPU."""
    found: dict[str, Function] = {}
    for path in sorted(folder.glob("*.cl")):
        code = without_comments(path.read_text())
        compiled = compiled_names(path, on_cpu=on_cpu)
        for head in _HEAD.finditer(code):
            parts = [" ".join(part.split()) for part in head["inside"].split(",")]
            parameters = tuple(_parameter(part) for part in parts)
            if any(p.type == "void" for p in parameters):
                continue  # written for several types: called by a function of each
            if head["name"] in compiled:
                found[head["name"]] = Function(head["name"], path.name, head["result"], parameters)
    return list(found.values())


def compiled_names(path: Path, *, on_cpu: bool) -> set[str]:
    """Return the names in a file that are left when its ``#if`` are decided."""
    preprocessor = pcpp.Preprocessor()
    preprocessor.parse(amalgamate([path], {"DEVICE_IS_CPU": on_cpu}).text)
    text = io.StringIO()
    preprocessor.write(text)
    return set(re.findall(r"\b(\w+)\s*\(", text.getvalue()))


def _parameter(text: str) -> Parameter:
    match = _PARAMETER.match(text.replace("* ", "*"))
    if match is None:
        raise ValueError(f"parameter '{text}' is not understood")
    if match["type"] == "rng_t":
        return Parameter(match["name"], "rng_t", "rng", False)
    space = (match["space"] or "value").lstrip("_")
    return Parameter(match["name"], match["type"], space, "const" in text.split("*")[0].split())


# ---------------------------------------------------------------- what to pass

Sizes = Callable[[int], int]


@dataclass(frozen=True)
class Special:
    """What differs from the defaults: sizes of arrays, contents, and what a result array holds."""

    sizes: dict[str, Sizes]
    values: dict[str, Callable[[int], Any]]
    undefined: frozenset[str] = frozenset()  # contents before the call
    unread: frozenset[str] = frozenset()  # not a result


def _pairs(n: int) -> int:
    return max(1, n // 2 + n % 2)


def _k(n: int) -> int:
    return min(n, 5)


def special(function: Function) -> Special:
    """Return sizes and contents by the names that the library uses."""
    sizes: dict[str, Sizes] = {"results": _k, "count": lambda n: 1}
    values: dict[str, Callable[[int], Any]] = {
        "k": _k,
        "masked": lambda n: 1,
        "largest": lambda n: 1,
        "descending": lambda n: 1,
        "what": lambda n: 0,
        "capacity": lambda n: n,
        "empty": lambda n: 0.0,
        "count": lambda n: np.full(1, n, np.uint32),
        "first": lambda n: n,
    }
    undefined, unread = {"scratch", "results", "order", "partner"}, {"scratch"}
    name, file = function.name, function.file
    if file == "select.cl":
        sizes["scratch"] = _pairs
    if name.endswith("_random") or name == "select_random":
        sizes["scratch"] = lambda n: max(_pairs(n), -(-n // 32) + 1)
    if name in ("reduce_count", "reduce_any", "reduce_all"):
        sizes["scratch"] = lambda n: 1
    if name == "choose_among":
        sizes["scratch"] = lambda n: 2
    if name == "varray_reset":
        undefined.add("count")
    if file == "tree.cl":  # n leaves of a tree with three children a node
        sizes["tree"] = lambda n: sum(3**level for level in range(_depth(n) + 1))
        values |= {"k": lambda n: 3, "depth": _depth}
    return Special(sizes, values, frozenset(undefined), frozenset(unread))


def _depth(n: int) -> int:
    depth = 0
    while 3**depth < n:
        depth += 1
    return depth


def inputs(function: Function, n: int) -> dict[str, Any]:
    """Return arguments for arrays of n entries: equal and masked values, NaN and infinity in it."""
    generator = np.random.default_rng(n)
    own = special(function)
    given: dict[str, Any] = {}
    for p in function.parameters:
        if p.space == "rng":
            given[p.name] = np.array([0x0123456789ABCDEF], np.uint64)
        elif p.space == "value":
            given[p.name] = own.values.get(p.name, lambda n: n)(n)
        elif p.name in own.values and p.name not in own.undefined:
            given[p.name] = own.values[p.name](n)
        else:
            size = own.sizes.get(p.name, lambda n: n)(n)
            given[p.name] = _contents(p, size, generator)
    return given


def _contents(p: Parameter, size: int, generator: np.random.Generator) -> Any:
    if p.type == "real":
        values = generator.integers(0, 5, size).astype(float)
        if p.name in ("values", "keys"):
            values[3::7] = np.nan
            values[5::11] = -np.inf
        return values
    if p.type == "uchar":
        return (generator.random(size) < 0.4).astype(np.uint8)
    if p.name in ("items", "payload"):  # distinct
        return generator.permutation(size).astype(DTYPES[p.type])
    return generator.integers(0, 100, size).astype(DTYPES[p.type])


# ---------------------------------------------------------------- the kernels


def driver(function: Function, *, reuse: bool) -> str:
    """Return the text of ``NAME_reuse`` or ``NAME_read``."""
    own = special(function)
    declared, before, passed, after = [], [], [], []
    for p in function.parameters:
        n, kind = p.name, p.type
        if p.space == "value":
            declared.append(f"const {'int' if kind == 'bool' else kind} {n}")
            passed.append(n)
            continue
        if p.space == "rng":
            declared.append(f"__global ulong *{n}_state")
            before.append(f"rng_t {n}; if (lid == 0) {n} = rng_load({n}_state[0]);")
            passed.append(f"&{n}")
            after.append(f"if (lid == 0) {n}_state[0] = rng_pack({n});")
            continue
        declared += [f"const uint length_{n}", f"__{p.space} {kind} *{n}"]
        passed.append(n)
        every = f"for (uint i = lid; i < length_{n}; i += lanes)"
        opposite = f"{n}[length_{n} - 1u - i]"
        if p.space == "local":
            declared.append(f"__global {kind} *copy_{n}")
            if n not in own.undefined:
                before.append(f"{every} {n}[i] = copy_{n}[i];")
        if reuse:
            after.append(f"{every} {opposite} = 1;")
        elif not p.const and n not in own.unread:
            declared.append(f"__global {kind} *after_{n}")
            after.append(f"{every} after_{n}[length_{n} - 1u - i] = {opposite};")
    call = f"{function.name}({', '.join(passed)});"
    if function.result != "void":
        declared.append(f"__global {function.result} *result")
        call = f"const {function.result} value = {call} result[lid] = value;"
    suffix = "reuse" if reuse else "read"
    body = "\n    ".join(
        [
            "const uint lid = get_local_id(0), lanes = get_local_size(0);",
            *before,
            "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the arguments",
            call,
            *after,
        ]
    )
    return f"__kernel void {function.name}_{suffix}({', '.join(declared)})\n{{\n    {body}\n}}\n"


def program_text(found: Iterable[Function], file: Path | str) -> str:
    """Return both kernels of every function, with the file that they are in."""
    found = list(found)
    includes = f'#include "{file}"\n#include "primitives/rng.cl"\n'
    return includes + "".join(driver(f, reuse=reuse) for f in found for reuse in (False, True))


def launch(program: Any, function: Function, n: int, workgroup: int) -> dict[str, Any]:
    """Run both kernels; return what ``NAME_read`` wrote, by name."""
    from societies.opencl import Local

    device = program.device
    results: dict[str, Any] = {}
    for suffix in ("read", "reuse"):
        kernel = program.kernel(f"{function.name}_{suffix}")
        wanted = {p.name for p in kernel.parameters}
        given, outs = inputs(function, n), {}
        arguments: dict[str, Any] = {}
        for p in function.parameters:
            value = given[p.name]
            if p.space == "value":
                arguments[p.name] = value
                continue
            array = device.array(value)
            if p.space == "rng":
                arguments[f"{p.name}_state"] = outs[p.name] = array
                continue
            arguments[f"length_{p.name}"] = len(value)
            arguments[p.name] = array if p.space == "global" else Local(value.dtype, len(value))
            arguments |= {f"copy_{p.name}": array} if p.space == "local" else {}
            if f"after_{p.name}" in wanted:
                outs[p.name] = arguments[f"after_{p.name}"] = device.empty(len(value), value.dtype)
        if "result" in wanted:
            dtype = DTYPES[function.result]
            outs["result"] = arguments["result"] = device.empty(workgroup, dtype)
        kernel(global_size=workgroup, local_size=workgroup, **arguments).wait()
        if suffix == "read":
            results = {name: array.get() for name, array in outs.items()}
    return results


# ---------------------------------------------------------------- the same in Python


def expected(function: Function, n: int) -> SimpleNamespace | None:
    """Return what the twin gives (see `TWINS`), or None for helpers, which have none."""
    twin = TWINS.get(function.name)
    return None if twin is None else twin(SimpleNamespace(**inputs(function, n)))


def _none(values: Iterable[int | None]) -> list[int]:
    return [NONE if value is None else value for value in values]


def _twins() -> dict[str, Callable[[Any], Any]]:
    from reference_py.primitives import permute, reduce, scan, select, sort, tree, varray, wide
    from reference_py.primitives.rng import Rng

    def rng(a: Any) -> Rng:
        word = int(a.rng[0])
        return Rng(word & NONE, word >> 32)

    def result(value: Any) -> SimpleNamespace:
        return SimpleNamespace(result=NONE if value is None else value)

    def scanned(pair: tuple[list[int], int]) -> SimpleNamespace:
        return SimpleNamespace(x=pair[0], result=pair[1])

    def winners(method: Callable[..., list[int | None]], a: Any) -> SimpleNamespace:
        mask = a.mask.tolist()
        found = method(a.values.tolist(), mask, a.k)
        return SimpleNamespace(results=_none(found), mask=[int(m) for m in mask])

    def sorted_by(method: Callable[..., Any], a: Any) -> SimpleNamespace:
        keys, payload = method(a.keys.tolist(), a.payload.tolist(), descending=bool(a.descending))
        return SimpleNamespace(keys=keys, payload=payload)

    twins: dict[str, Callable[[Any], Any]] = {
        "random_permutation": lambda a: SimpleNamespace(
            order=permute.random_permutation(rng(a), a.n)
        ),
        "random_permutation_global": lambda a: SimpleNamespace(
            order=permute.random_permutation(rng(a), a.n)
        ),
        "random_matching": lambda a: SimpleNamespace(
            partner=_none(permute.random_matching(rng(a), a.n))
        ),
        "scan_exclusive": lambda a: scanned(scan.scan_exclusive(a.x.tolist())),
        "scan_inclusive": lambda a: scanned(scan.scan_inclusive(a.x.tolist())),
        "compact": lambda a: result(len(scan.compact(a.flags.tolist()))),
        "choose_among": lambda a: result(varray.choose_among(rng(a), a.items.tolist())),
        "n_largest": lambda a: winners(select.n_largest, a),
        "n_smallest": lambda a: winners(select.n_smallest, a),
        "wide_scan_exclusive": lambda a: scanned(scan.scan_exclusive(a.x.tolist())),
        "wide_compact": lambda a: result(wide.count(a.flags.tolist())),
        "wide_count": lambda a: result(wide.count(a.flags.tolist())),
        "wide_reduce_sum": lambda a: result(reduce.reduce_sum(a.x.tolist())),
        "wide_reduce_sum_long": lambda a: result(reduce.reduce_sum_long(a.x.tolist())),
        "wide_reduce_max_uint": lambda a: result(reduce.reduce_max_uint(a.x.tolist())),
        "sort_keys": lambda a: sorted_by(sort.sort_keys, a),
        "sort_keys_uint": lambda a: sorted_by(sort.sort_keys_uint, a),
    }
    for kind in ("max", "min"):
        one = getattr(select, f"extreme_{kind}")
        drawn = getattr(select, f"extreme_{kind}_random")
        twins |= {
            f"extreme_{kind}": lambda a, f=one: result(f(a.values.tolist(), a.mask.tolist())),
            f"extreme_{kind}_unmasked": lambda a, f=one: result(f(a.values.tolist())),
            f"extreme_{kind}_random": lambda a, f=drawn: result(
                f(rng(a), a.values.tolist(), a.mask.tolist())
            ),
            f"extreme_{kind}_unmasked_random": lambda a, f=drawn: result(
                f(rng(a), a.values.tolist())
            ),
        }
    for what in ("sum", "min", "max"):
        total, subtrees = getattr(reduce, f"reduce_{what}"), getattr(tree, f"tree_{what}")
        for space in ("local", "global"):
            twins[f"reduce_{what}_{space}"] = lambda a, f=total: result(f(a.x.tolist()))
            twins[f"tree_{what}_{space}"] = lambda a, f=subtrees: SimpleNamespace(
                tree=f(a.k, a.depth, a.tree.tolist()[-(a.k**a.depth) :])
            )
        for kind in ("long", "uint"):
            whole = getattr(reduce, f"reduce_{what}_{kind}")
            twins[f"reduce_{what}_{kind}"] = lambda a, f=whole: result(f(a.x.tolist()))
    for what in ("count", "any", "all"):
        flagged = getattr(reduce, f"reduce_{what}")
        twins[f"reduce_{what}"] = lambda a, f=flagged: result(int(f(a.flags.tolist())))
    return twins


TWINS = _twins()
