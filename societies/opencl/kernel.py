"""How is a kernel called? With named and type-checked arguments, at a small cost per launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from societies.errors import DeviceError
from societies.kerneltext.source import AmalgamatedText
from societies.opencl.argtypes import CType, Kind, Packer, Parameter, StructType
from societies.opencl.array import DeviceArray, Local, Transfer
from societies.opencl.debug import device_error, translated_errors
from societies.opencl.device import Device

Size = int | Sequence[int]


@dataclass(frozen=True, eq=False)
class Compiled:
    """The texts and options of a kernel's program (`societies.opencl.Program`).

    ``amalgamated`` is the original text, ``source`` the one that was compiled.
    """

    amalgamated: AmalgamatedText
    options: tuple[str, ...]
    source: str


class EnqueuedKernel:
    """One enqueued kernel."""

    __slots__ = ("_event",)

    def __init__(self, event: Any):
        self._event = event

    def wait(self) -> None:
        """Wait until the kernel has completed."""
        if self._event is not None:
            with translated_errors("waiting for a kernel"):
                self._event.wait()

    @property
    def seconds(self) -> float:
        """Time that the device spent in the kernel; waits until it has completed."""
        if self._event is None:
            return 0.0
        self.wait()
        with translated_errors("timing a kernel (was the device chosen with profiling=False?)"):
            return float(self._event.profile.end - self._event.profile.start) * 1e-9


class Kernel:
    """A kernel of a program: ``kernel(global_size=..., local_size=..., name=value, ...)``.

    Arguments are passed by name. By-value parameters take Python or NumPy numbers (vectors:
    sequences, structs: tuples, dicts or structured scalars), checked for range; ``__global`` and
    ``__constant`` pointers take `DeviceArray`, a pyopencl ``Buffer``, None for a null pointer, or
    ``In``/``Out`` around a NumPy array; ``__local`` pointers take `Local`. The global
    size is rounded up to a multiple of the local size, so kernels guard the tail.

    ``static_local_memory`` is the size in bytes that the implementation reports for the kernel's
    own ``__local`` arrays (PoCL 5 reports 0); ``program`` has the texts, shared by all kernels of a
    program; ``label`` is the name in error messages.
    """

    def __init__(
        self,
        device: Device,
        cl_program: Any,
        name: str,
        parameters: Sequence[Parameter],
        struct: Callable[[str], StructType] | None = None,
        program: Compiled | None = None,
    ):
        cl = device.api
        self._struct = struct  # returns the struct of a name that is no scalar or vector
        self.device = device
        self.name = name
        self.label = f"kernel {name}"
        self.program = program
        self.parameters = tuple(parameters)
        self._positions = {p.name: i for i, p in enumerate(self.parameters)}
        self._cl_program = cl_program
        self._cl_kernel = self.new_handle()
        info = cl.kernel_work_group_info

        def fact(which: Any, default: Any) -> Any:
            try:
                return self._cl_kernel.get_work_group_info(which, device.cl_device)
            except cl.Error:
                return default

        # queried before any argument is set: some implementations add dynamic local memory
        self.static_local_memory = int(fact(info.LOCAL_MEM_SIZE, 0))
        self.max_workgroup = int(fact(info.WORK_GROUP_SIZE, device.max_workgroup))
        required = tuple(fact(info.COMPILE_WORK_GROUP_SIZE, (0, 0, 0)))
        self.required_local_size = required if any(required) else None

    @property
    def signature(self) -> str:
        """The declaration, as error messages show it."""
        return f"{self.name}({', '.join(str(p) for p in self.parameters)})"

    def new_handle(self) -> Any:
        """Return a new OpenCL kernel object: arguments belong to the object, not to the program."""
        with translated_errors(f"{self.label}"):
            return self.device.api.Kernel(self._cl_program, self.name)

    def __call__(
        self,
        *,
        global_size: Size,
        local_size: Size | None = None,
        **args: Any,
    ) -> EnqueuedKernel:
        """Check the arguments and enqueue the kernel.

        Raises
        ------
        DeviceError
            If an argument is missing, unknown or of the wrong type or range, or if the workgroup
            or its local memory is too large.
        """
        transfers = {n: a for n, a in args.items() if isinstance(a, Transfer)}
        staged = {name: transfer.stage(self.device) for name, transfer in transfers.items()}
        args.update(staged)
        values = self.check_arguments(args)
        sizes = self.check_sizes(global_size, local_size, _local_bytes(args))
        if sizes is None:
            return EnqueuedKernel(None)
        for position, value in enumerate(values):
            self.set_argument(self._cl_kernel, position, value)
        if self.device.recording is not None:
            self.device.recording.launch(self, sizes, args)
        launch = self.enqueue(self._cl_kernel, *sizes)
        for name, transfer in transfers.items():
            transfer.finish(staged[name])
        return launch

    def bind(
        self, *, global_size: Size, local_size: Size | None = None, **args: Any
    ) -> BoundKernel:
        """Check all arguments once, and return a kernel that can be enqueued at little cost.

        Raises
        ------
        DeviceError
            As for a call.
        """
        return BoundKernel(self, global_size, local_size, args)

    def check_arguments(self, args: Mapping[str, Any]) -> list[Any]:
        """Return the raw OpenCL arguments in order."""
        unknown = [name for name in args if name not in self._positions]
        missing = [p.name for p in self.parameters if p.name not in args]
        if unknown or missing:
            what = [f"unknown argument {n}" for n in unknown]
            what += [f"missing argument {n}" for n in missing]
            raise DeviceError(f"{self.label}: {', '.join(what)}\n    {self.signature}")
        return [self.raw_argument(p, args[p.name]) for p in self.parameters]

    def raw_argument(self, parameter: Parameter, value: Any) -> Any:
        """Return bytes, buffer, local memory or None for one argument."""
        cl = self.device.api
        where = f"{self.label}: argument {parameter.name}"
        if parameter.space == "local":
            if not isinstance(value, Local):
                raise DeviceError(f"{where} is __local: pass Local(dtype, n), not {_brief(value)}")
            dtype = np.dtype(value.dtype)
            kind = self._kind(parameter, dtype)
            if kind is not None and not kind.accepts(dtype, (kind.slots,)):
                raise DeviceError(
                    f"{where}: Local of {dtype} for a parameter of type {parameter.type_name}*"
                )
            return cl.LocalMemory(value.nbytes)
        if not parameter.pointer:
            try:
                if isinstance(parameter.kind, CType):
                    return Packer(parameter.kind)(value)
                if self._struct is not None:
                    return self._struct(parameter.type_name).pack(value).tobytes()
            except ValueError as error:
                raise DeviceError(f"{where}: {error}") from None
            raise DeviceError(f"{where}: type {parameter.type_name} is not known")
        if value is None or isinstance(value, cl.MemoryObject):
            return value
        if not isinstance(value, DeviceArray):
            hint = "; copy it with device.array()" if isinstance(value, np.ndarray) else ""
            raise DeviceError(f"{where} takes a device array, not {_brief(value)}{hint}")
        if value.device is not self.device:
            raise DeviceError(f"{where}: the array is on {value.device}, not on {self.device}")
        kind = self._kind(parameter, value.dtype)
        if isinstance(kind, StructType) and not kind.accepts(value.dtype, value.shape):
            raise DeviceError(f"{where}: {kind.refused(value.dtype)}")
        if kind is not None and not kind.accepts(value.dtype, value.shape):
            raise DeviceError(
                f"{where}: {value!r} for a parameter of type {parameter.type_name}* ({kind.name})"
            )
        return value.buffer

    def _kind(self, parameter: Parameter, dtype: np.dtype[Any]) -> Kind | None:
        """Return the type behind a pointer; None if it is unknown and cannot be checked.

        Structs are looked up only for structured dtypes, because reading the text takes long.
        """
        if parameter.kind is not None or dtype.names is None or self._struct is None:
            return parameter.kind
        return self._struct(parameter.type_name)

    def check_sizes(
        self, global_size: Size, local_size: Size | None, local_bytes: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return the padded global size and the local size; None if there are no work-items."""
        device, where = self.device, f"{self.label}"
        wanted = _size(global_size, f"{where}: global_size")
        required = self.required_local_size
        if local_size is None:
            if required is None:
                raise DeviceError(f"{where}: give local_size (work-items in a workgroup)")
            local = required[: len(wanted)]
        else:
            local = _size(local_size, f"{where}: local_size")
        if len(local) != len(wanted) or not 1 <= len(local) <= 3 or min(local) < 1:
            raise DeviceError(
                f"{where}: global_size {wanted} and local_size {local} need the same 1 to 3 "
                "dimensions, local sizes at least 1"
            )
        if required is not None and local + (1,) * (3 - len(local)) != required:
            raise DeviceError(f"{where}: local_size {local}, but the kernel requires {required}")
        items = int(np.prod(local))
        for limit, name in (
            (device.workgroup_limit, device.limits_name),
            (self.max_workgroup, "kernel on this device"),
        ):
            if items > limit:
                raise DeviceError(
                    f"{where}: a workgroup of {items} work-items is larger than the {limit} of "
                    f"the {name}"
                )
        for axis, (n, most) in enumerate(zip(local, device.max_item_sizes, strict=False)):
            if n > most:
                raise DeviceError(f"{where}: local_size[{axis}] is {n}, the device allows {most}")
        memory = self.static_local_memory + local_bytes
        if memory > device.local_memory_limit:
            raise DeviceError(
                f"{where}: {memory} bytes of local memory ({self.static_local_memory} in the "
                f"kernel, {local_bytes} in arguments) are more than the "
                f"{device.local_memory_limit} of the {device.limits_name}"
            )
        if 0 in wanted:
            return None
        return tuple(-(-g // n) * n for g, n in zip(wanted, local, strict=True)), local

    def set_argument(self, handle: Any, position: int, value: Any) -> None:
        """Set one raw argument of an OpenCL kernel object."""
        try:
            if isinstance(value, bytes):
                _bytes_setter(handle)(position, value)
            else:
                handle.set_arg(position, value)
        except self.device.api.Error as error:
            name = self.parameters[position].name
            raise device_error(error, f"{self.label}: argument {name}") from error

    def enqueue(
        self, handle: Any, global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> EnqueuedKernel:
        """Enqueue an OpenCL kernel object whose arguments are set."""
        cl = self.device.api
        try:
            event = cl.enqueue_nd_range_kernel(self.device.queue, handle, global_size, local_size)
        except cl.Error as error:
            raise device_error(
                error, f"launching {self.label} with {global_size} work-items by {local_size}"
            ) from error
        self.device.counters.launches += 1
        return EnqueuedKernel(event)

    def __repr__(self) -> str:
        return f"<Kernel {self.signature}>"


class BoundKernel:
    """A kernel with checked arguments; calling it enqueues it.

    ``bound(day=3)`` changes the by-value argument ``day`` for this and later calls. The arrays
    live as long as the bound kernel.
    """

    def __init__(
        self, kernel: Kernel, global_size: Size, local_size: Size | None, args: Mapping[str, Any]
    ):
        self.kernel = kernel
        for name, value in args.items():
            if isinstance(value, Transfer):
                raise DeviceError(
                    f"{kernel.label}: bind() takes device arrays, not {_brief(value)} for {name}"
                )
        values = kernel.check_arguments(args)
        self._args = dict(args)
        self._local_bytes = _local_bytes(args)
        self._handle = kernel.new_handle()
        for position, value in enumerate(values):
            kernel.set_argument(self._handle, position, value)
        self._sizes = kernel.check_sizes(global_size, local_size, self._local_bytes)
        self._local_size = local_size
        self._packers = {
            p.name: (position, Packer(p.kind))
            for position, p in enumerate(kernel.parameters)
            if not p.pointer and isinstance(p.kind, CType)
        }
        # bound once: this is the inner loop of every run
        self._set = _bytes_setter(self._handle)
        self._enqueue = kernel.device.api.enqueue_nd_range_kernel
        self._error = kernel.device.api.Error
        self._queue = kernel.device.queue
        self._device = kernel.device
        self._counters = kernel.device.counters

    def __call__(self, **changed: Any) -> EnqueuedKernel:
        """Change some by-value arguments and enqueue the kernel.

        Raises
        ------
        DeviceError
            If a name is not a by-value parameter, a value does not fit, or the launch fails.
        """
        if changed:
            self._change(changed)
        if self._sizes is None:
            return EnqueuedKernel(None)
        if self._device.recording is not None:
            self._device.recording.launch(self.kernel, self._sizes, self._args)
        try:
            event = self._enqueue(self._queue, self._handle, self._sizes[0], self._sizes[1])
        except self._error as error:
            raise device_error(error, f"launching {self.kernel.label}") from error
        self._counters.launches += 1
        return self._noted(EnqueuedKernel(event))

    def put(self, name: str, value: int) -> None:
        """Change a by-value argument for later launches.

        Raises
        ------
        DeviceError
            As for a call.
        """
        if self._args.get(name) == value:
            return
        try:
            position, packer = self._packers[name]
            self._set(position, packer(value))
            self._args[name] = value
        except (KeyError, ValueError, self._error):
            self._change({name: value})  # raises the error with its reason

    @property
    def ready(self) -> tuple[Any, ...] | None:
        """The function that enqueues the kernel, and its arguments; None without work-items.

        For callers that launch very often; they must count launches and translate errors.
        """
        if self._sizes is None:
            return None
        return self._enqueue, (self._queue, self._handle, *self._sizes)

    def _noted(self, launch: EnqueuedKernel) -> EnqueuedKernel:
        if self._device.launched is not None:
            self._device.launched.append((self, launch))
        return launch

    def launch(self, *, global_size: Size, **changed: Any) -> EnqueuedKernel:
        """Enqueue once with another global size."""
        sizes = self.kernel.check_sizes(global_size, self._local_size, self._local_bytes)
        if changed:
            self._change(changed)
        if sizes is None:
            return EnqueuedKernel(None)
        if self._device.recording is not None:
            self._device.recording.launch(self.kernel, sizes, self._args)
        return self._noted(self.kernel.enqueue(self._handle, *sizes))

    def _change(self, changed: Mapping[str, Any]) -> None:
        packed = []
        for name, value in changed.items():
            if type(value) is type(self._args.get(name)) is int and value == self._args[name]:
                continue  # set already
            try:
                position, packer = self._packers[name]
                packed.append((position, packer(value)))
            except KeyError:
                raise DeviceError(
                    f"{self.kernel.label}: {name} is not a by-value argument that a bound "
                    f"kernel can change\n    {self.kernel.signature}"
                ) from None
            except ValueError as error:
                raise DeviceError(f"{self.kernel.label}: argument {name}: {error}") from None
        for position, raw in packed:
            try:
                self._set(position, raw)
            except self._error as error:
                raise device_error(error, f"setting an argument of {self.kernel.name}") from error
        self._args.update(changed)

    @property
    def arguments(self) -> dict[str, Any]:
        """The present value of each parameter: a device array, a number, `Local` or None."""
        return dict(self._args)

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Global and local size; None if there are no work-items."""
        return self._sizes


def _bytes_setter(handle: Any) -> Any:
    """Return the fastest function that sets an argument given as bytes.

    ``set_arg`` tries every kind of object first and takes 8 to 17 microseconds per call (measured,
    pyopencl 2026.1); the function that pyopencl's generated code uses takes 0.1.
    """
    return getattr(handle, "_set_arg_buf", handle.set_arg)


def _local_bytes(args: Mapping[str, Any]) -> int:
    return sum(a.nbytes for a in args.values() if isinstance(a, Local))


def _size(size: Size, where: str) -> tuple[int, ...]:
    sizes = size if isinstance(size, Sequence) else (size,)
    if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in sizes):
        raise DeviceError(f"{where} {size!r} is not one to three whole numbers")
    return tuple(int(n) for n in sizes)


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a NumPy array ({value.dtype}, shape {value.shape})"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
