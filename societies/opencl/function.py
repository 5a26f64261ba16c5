"""How is a device function called from Python? By a generated kernel, in one of three forms.

Plain form: one work-item calls the function. Vectorised form: arrays are given for by-value
parameters, and one work-item per element calls it. Group form: all work-items of some workgroups
call it together; used if the function has a ``__local`` parameter or uses ``local_malloc``, or if
``local_size`` or ``groups`` is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from societies.errors import DeviceError
from societies.kerneltext.source import AmalgamatedText
from societies.opencl.argtypes import CType, Kind, Packer, Parameter, StructType, vector_dtype
from societies.opencl.array import DeviceArray, Local
from societies.opencl.device import Device
from societies.opencl.kernel import Kernel
from societies.opencl.shim import (
    SHIM,
    Argument,
    bits,
    calls_of,
    components,
    components_last,
    handed_over,
    shim_text,
)
from societies.opencl.signature import declarations

_VECTORISED_LOCAL_SIZE = 64


class Extensible(Protocol):
    """The part of a program that its functions use (`societies.opencl.Program`)."""

    amalgamated: AmalgamatedText
    device: Device

    @property
    def kernel_names(self) -> list[str]:
        """Names of all kernels."""

    def allocates(self, function: str) -> bool:
        """Return whether a device function uses ``local_malloc``."""

    def extended(self, name: str, text: str) -> Extensible:
        """Return a program with generated OpenCL text appended."""

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by name."""


@dataclass(frozen=True)
class _Form:
    """The form of a call; ``items`` is the shape of the calls, one work-item each."""

    grouped: bool
    items: tuple[int, ...]
    groups: int | None
    local_size: int

    @property
    def count(self) -> int:
        return int(np.prod(self.items, dtype=np.int64))


class DeviceFunction:
    """A device function as a callable.

    ``f(a, b, ...)`` takes arguments by position or name:

    - by value: a number (vectors: a sequence; structs: a structured scalar of the dtype
      `Program.struct`, a tuple or a dict), or an array with one value per call;
    - ``__global`` and ``__constant`` pointers: a `DeviceArray`, or a NumPy array, changed in place;
    - pointers to private memory: a NumPy array, changed in place; the last axis is what one
      work-item sees, the axes before are the calls (one struct: also a structured scalar);
    - ``__local`` pointers: a NumPy array, changed in place.

    Keyword arguments of the call itself:

    local_size
        Work-items that call together (default: the length of the first ``__local`` array, capped
        at the limit of the device).
    groups
        Number of workgroups; then the first axis of every array behind a pointer is the group.
    uniform
        Require that all work-items of a group return the same and return it once.

    Returns a Python number (vectors: tuple, structs: structured scalar) in the plain form, else an
    array with one result per call, shape ``(local_size,)`` or ``(groups, local_size)`` in the group
    form; None for void.
    """

    def __init__(self, program: Extensible, name: str):
        self._program = program
        if name in program.kernel_names:
            raise DeviceError(f"{name} is a kernel, not a function: use program.kernel('{name}')")
        self.signature = declarations(program.amalgamated.text).signature(name)
        self.name = name
        self.__name__ = name
        self._shims: dict[Any, Kernel] = {}

    def __call__(
        self,
        *args: Any,
        local_size: int | None = None,
        groups: int | None = None,
        uniform: bool = False,
        **named: Any,
    ) -> Any:
        """Call the function on the device.

        Raises
        ------
        DeviceError
            If the arguments do not fit the signature, or results differ although ``uniform`` is
            set.
        """
        values = self._bind(args, named)
        arguments = [self._argument(p, self._kinds[p.name], v) for p, v in values]
        form = self._form(arguments, local_size, groups)
        for argument in arguments:
            self._fit(argument, form)
        results = self._run(arguments, form)
        return self._returned(results, form, uniform)

    @cached_property
    def _kinds(self) -> dict[str, Kind]:
        """Types of the parameters, or of what they point to."""
        return {p.name: p.kind for p in self.signature.parameters if p.kind is not None}

    def _error(self, text: str, parameter: Parameter | None = None) -> DeviceError:
        where = f": argument {parameter.name}" if parameter else ""
        return DeviceError(f"function {self.name}{where}: {text}")

    def _bind(self, args: Sequence[Any], named: dict[str, Any]) -> list[tuple[Parameter, Any]]:
        parameters = self.signature.parameters
        given = dict(zip((p.name for p in parameters), args, strict=False))
        twice = [n for n in named if n in given]
        names = {p.name for p in parameters}
        unknown = [n for n in named if n not in names]
        given.update(named)
        missing = [p.name for p in parameters if p.name not in given]
        if len(args) > len(parameters) or twice or unknown or missing:
            what = [f"{len(args)} arguments"] if len(args) > len(parameters) else []
            what += [f"argument {n} twice" for n in twice]
            what += [f"unknown argument {n}" for n in unknown]
            what += [f"missing argument {n}" for n in missing]
            raise self._error(f"{', '.join(what)}\n    {self.signature}")
        return [(p, given[p.name]) for p in parameters]

    # arguments -----------------------------------------------------------------------------

    def _argument(self, parameter: Parameter, kind: Kind, value: Any) -> Argument:
        if parameter.pointer:
            return self._pointer(parameter, kind, value)
        array = value.get() if isinstance(value, DeviceArray) else value
        if isinstance(kind, StructType):
            return self._struct(parameter, kind, array)
        if isinstance(array, (np.ndarray, list, tuple)):
            structured = isinstance(array, np.ndarray) and array.dtype.names is not None
            axes = np.ndim(array) - (1 if kind.width > 1 and not structured else 0)
            if axes > 0:
                host = self._varying(parameter, kind, array)
                return Argument(parameter, kind, "varying", host=host)
        try:
            Packer(kind)(array)
        except ValueError as error:
            raise self._error(str(error), parameter) from None
        return Argument(parameter, kind, "uniform", value=array)

    def _struct(self, parameter: Parameter, kind: StructType, value: Any) -> Argument:
        """Return a struct passed by value, or an array or list of them, one per call."""
        if isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim):
            host = self._structs(parameter, kind, value)[..., np.newaxis]
            return Argument(parameter, kind, "varying", host=host)
        return Argument(parameter, kind, "uniform", host=self._packed(parameter, kind, value))

    def _structs(self, parameter: Parameter, kind: StructType, values: Any) -> NDArray[Any]:
        """Return an array of structs from one, or from a list of what can be packed."""
        if isinstance(values, np.ndarray) and values.dtype.names is not None:
            if not kind.accepts(values.dtype, values.shape):
                raise self._error(kind.refused(values.dtype), parameter)
            return values
        packed = [self._packed(parameter, kind, value) for value in values]
        return np.array(packed, kind.dtype)

    def _packed(self, parameter: Parameter, kind: StructType, value: Any) -> NDArray[Any]:
        try:
            return kind.pack(value)
        except ValueError as error:
            raise self._error(str(error), parameter) from None

    def _varying(self, parameter: Parameter, kind: CType, value: Any) -> NDArray[Any]:
        """Return one value per call, shape (calls..., slots), of the parameter's dtype."""
        if isinstance(value, np.ndarray) and value.dtype.names is not None:
            if value.dtype != vector_dtype(kind.base, kind.width):
                raise self._error(f"dtype {value.dtype} is not {kind.name}", parameter)
            return components_last(value, kind)
        # object dtype: lists of large integers would otherwise become float64
        array = value if isinstance(value, np.ndarray) else np.array(value, dtype=object)
        if kind.width == 1:
            array = array[..., np.newaxis]
        elif array.shape[-1] not in (kind.width, kind.slots if array is value else kind.width):
            raise self._error(f"the last axis of a {kind.name} array is its components", parameter)
        array = array[..., : kind.width]
        packer = Packer(CType(kind.base, kind.base, 1))
        doubtful: Any = ()
        if array.dtype.kind not in "iufb" or (kind.integral and array.dtype.kind == "f"):
            doubtful = array.ravel()  # slow, but finds the value to complain about
        elif array.size and array.dtype != kind.dtype:
            doubtful = (array.min(), array.max())
        for item in doubtful:
            try:
                packer(item)
            except ValueError as error:
                raise self._error(str(error), parameter) from None
        result = np.zeros((*array.shape[:-1], kind.slots), kind.dtype)
        result[..., : kind.width] = array
        return result

    def _pointer(self, parameter: Parameter, kind: Kind, value: Any) -> Argument:
        if isinstance(value, DeviceArray):
            if parameter.space not in ("global", "constant"):
                raise self._error(
                    f"a pointer to {parameter.space} memory takes a NumPy array", parameter
                )
            if not kind.accepts(value.dtype, value.shape):
                raise self._error(f"{value!r} is not an array of {kind.name}", parameter)
            return Argument(parameter, kind, "global", device_array=value)
        single = value if isinstance(value, np.void) else None
        if isinstance(kind, StructType):
            value = self._pointed(parameter, kind, value)
        elif not isinstance(value, np.ndarray):
            if not parameter.const:
                raise self._error("takes a NumPy array, which is changed in place", parameter)
            value = self._varying(parameter, kind, value)
            value = value[..., 0] if kind.width == 1 else value
        if not kind.accepts(value.dtype, value.shape):
            raise self._error(
                f"{value.dtype} of shape {value.shape} is not an array of {kind.name}", parameter
            )
        if not parameter.const and not value.flags.writeable:
            raise self._error("the array is read-only but would be changed", parameter)
        role = "global" if parameter.space == "constant" else parameter.space
        return Argument(parameter, kind, role, host=value, single=single)

    def _pointed(self, parameter: Parameter, kind: StructType, value: Any) -> NDArray[Any]:
        """Return the array of structs that a pointer is to point to, of at least one axis."""
        if isinstance(value, np.ndarray):
            return np.atleast_1d(self._structs(parameter, kind, value))
        if not parameter.const and not isinstance(value, np.void):
            raise self._error(
                "takes a NumPy array or structured scalar, which is changed in place", parameter
            )
        values = value if isinstance(value, list) else [value]
        return self._structs(parameter, kind, values)

    # which work-items call -----------------------------------------------------------------------

    def _form(
        self, arguments: Sequence[Argument], local_size: int | None, groups: int | None
    ) -> _Form:
        local = [a for a in arguments if a.role == "local"]
        if not (local or self._program.allocates(self.name)) and local_size is groups is None:
            shapes = [calls_of(a) for a in arguments if a.role in ("varying", "private")]
            try:
                items = np.broadcast_shapes(*shapes)
            except ValueError:
                raise self._error(f"the arrays differ in shape: {shapes}") from None
            return _Form(False, items, None, 1 if items == () else _VECTORISED_LOCAL_SIZE)
        if groups is not None and groups < 0:
            raise self._error(f"groups={groups} is negative")
        if local_size is None:
            limit = self._program.device.workgroup_limit
            first = self._elements(local[0], groups) if local else 1
            local_size = max(1, min(first, limit))
        if local_size < 1:
            raise self._error(f"local_size={local_size} is not positive")
        items = (local_size,) if groups is None else (groups, local_size)
        return _Form(True, items, groups, local_size)

    def _elements(self, argument: Argument, groups: int | None) -> int:
        """Return how many elements of its type one workgroup sees behind a pointer."""
        parameter, kind = argument.parameter, argument.kind
        array = argument.device_array if argument.device_array is not None else argument.host
        assert array is not None
        elements = array.size * array.dtype.itemsize // kind.itemsize
        if groups is None:
            return elements
        if not array.shape or array.shape[0] != groups:
            raise self._error(
                f"shape {array.shape}, but its first axis must be the {groups} groups", parameter
            )
        return elements // groups if groups else 0

    def _fit(self, argument: Argument, form: _Form) -> None:
        """Bring an argument to the shape that the form asks for."""
        parameter, kind = argument.parameter, argument.kind
        if argument.role == "varying":
            assert argument.host is not None
            wanted = (*form.items, kind.slots)
            try:
                argument.host = np.ascontiguousarray(np.broadcast_to(argument.host, wanted))
            except ValueError:
                raise self._error(
                    f"shape {argument.host.shape[:-1]} does not fit the calls {form.items}",
                    parameter,
                ) from None
        elif argument.role in ("local", "global"):
            argument.length = self._elements(argument, form.groups)
        elif argument.role == "private":
            assert argument.host is not None
            lead = calls_of(argument)
            argument.length = components(argument.host, kind) // max(1, int(np.prod(lead)))
            if not argument.length and argument.host.size:
                argument.length = 1
            if lead != form.items:
                if not parameter.const:
                    raise self._error(
                        f"shape {argument.host.shape}: the axes before the last must be the "
                        f"calls {form.items}, because every call changes its own",
                        parameter,
                    )
                shape = (*form.items, *argument.host.shape[len(lead) :])
                argument.host = np.broadcast_to(argument.host, shape)

    # the generated kernel --------------------------------------------------------------------

    def _shim(self, arguments: Sequence[Argument], form: _Form) -> Kernel:
        key = (form.grouped, tuple((a.role, a.role == "private" and a.length) for a in arguments))
        if key not in self._shims:
            text = shim_text(self.name, self.signature.result, arguments, form.grouped)
            program = self._program.extended(f"<call of {self.name}>", text)
            self._shims[key] = program.kernel(SHIM)
            self._shims[key].label = f"function {self.name}"  # users do not know the kernel's name
        return self._shims[key]

    def _run(self, arguments: Sequence[Argument], form: _Form) -> NDArray[Any] | None:
        device, result = self._program.device, self.signature.result
        output = None
        passed: dict[str, Any] = {"societies_count": form.count}
        if result is not None:
            output = device.empty((form.count, result.slots), result.dtype)
            passed["societies_result"] = handed_over(result, output)
        if not form.count:
            return output.get() if output is not None else None
        changed: list[tuple[Argument, DeviceArray]] = []
        for argument in arguments:
            parameter, kind, name = argument.parameter, argument.kind, argument.parameter.name
            array = argument.device_array
            if array is None and argument.host is None:
                passed[name] = argument.value
                continue
            if array is None:
                assert argument.host is not None
                array = device.array(components_last(argument.host, kind))
                if argument.role in ("global", "private", "local") and not parameter.const:
                    changed.append((argument, array))
            if argument.role == "local":
                passed[f"societies_from_{name}"] = handed_over(kind, array)
                passed[name] = Local(kind.dtype, argument.length * kind.slots)
                passed[f"societies_length_{name}"] = argument.length
            else:
                passed[name] = handed_over(kind, array)
                if argument.role == "global":
                    stride = 0 if form.groups is None else argument.length
                    passed[f"societies_stride_{name}"] = stride
        kernel = self._shim(arguments, form)
        kernel(global_size=form.count, local_size=form.local_size, **passed)
        for argument, array in changed:
            host = argument.host
            assert host is not None
            host[...] = array.get().view(host.dtype).reshape(host.shape)
            if argument.single is not None:
                for member in host.dtype.names or ():
                    argument.single[member] = host[0][member]
        return output.get() if output is not None else None

    # results ---------------------------------------------------------------------------------

    def _returned(self, results: NDArray[Any] | None, form: _Form, uniform: bool) -> Any:
        kind = self.signature.result
        if results is None or kind is None:
            return None
        values = results[:, : kind.width].reshape(*form.items, kind.width)
        if kind.base == "bool":
            values = values.astype(np.bool_)
        if uniform and form.grouped and form.count:
            flat = values.reshape(-1, form.local_size, kind.width)
            differs = np.argwhere((bits(flat) != bits(flat[:, :1])).any(axis=-1))
            if len(differs):
                group, item = (int(i) for i in differs[0])
                raise self._error(
                    f"work-item {item} of group {group} returns {flat[group, item].tolist()}, "
                    f"work-item 0 returns {flat[group, 0].tolist()}; uniform=True wants one value"
                )
            values = values[..., 0, :]
        if kind.width == 1:
            values = values[..., 0]
        if values.ndim == (0 if kind.width == 1 else 1):
            if isinstance(kind, StructType):
                return values[()]
            return values.item() if kind.width == 1 else tuple(values.tolist())
        return values
