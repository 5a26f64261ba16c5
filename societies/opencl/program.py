"""How do kernel files become a program on a device, with kernels and functions by name?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from societies.errors import DeviceError
from societies.kerneltext.cache import POCL
from societies.kerneltext.source import AmalgamatedText, amalgamate, without_comments
from societies.localmem import KernelPlan, plan
from societies.opencl.argtypes import Parameter, StructType
from societies.opencl.build import RawParameter, compile_program
from societies.opencl.device import NVIDIA, Device
from societies.opencl.kernel import Compiled, Kernel
from societies.opencl.race import race_mode
from societies.opencl.signature import TypeNames, declarations

_KERNEL_WORD = re.compile(r"\b(?:__)?kernel\b")

# options that let a compiler change results
_UNSAFE = (
    "-cl-fast-relaxed-math",
    "-cl-unsafe-math-optimizations",
    "-cl-mad-enable",
    "-cl-finite-math-only",
    "-cl-no-signed-zeros",
    "-cl-denorms-are-zero",
    "-cl-single-precision-constant",
)

FACTS: dict[str, Callable[[Device, Mapping[str, Any]], bool]] = {
    # NVIDIA's OpenCL; its CUDA has functions for it (kernels/economy/crew.cl)
    "FENCES_BY_PTX": lambda device, _: device.platform == NVIDIA and device.compiler is None,
    "REVERSES_BY_PTX": lambda device, _: device.platform == NVIDIA,  # kernels/games/chess/sight.cl
}
"""Macros for facts about a device that are determined only for texts that name them, each with the
function of device and macros that determines it."""


class Program:
    """Kernels and device functions of some source files, compiled for one device.

    A text that uses ``local_malloc`` is planned first (docs/local-memory.md).

    Parameters
    ----------
    device : device on which it runs
    sources : kernel files, absolute or relative to the kernels folder
    macros
        Becomes ``#define`` lines in front: floats exact, booleans 0 or 1, strings as they are.
        ``DEVICE_IS_CPU`` and ``DEVICE_ROUNDS_SINGLES`` (division and square root of singles are
        correctly rounded) are always defined, ``DEVICE_CONTRACTS`` (the compiler was seen to fuse
        products and sums) where a text asks for it: a primitive may choose its method by them,
        never its result.
    header : OpenCL text put after the macros
    options : more build options; those that change results are refused

    Raises
    ------
    DeviceError
        If the numbers of the sources are singles (``NUM_IS_DOUBLE`` is 0) and the device has no
        subnormal ones, or if an option changes results.
    BuildError
        If a file is missing, its local memory cannot be planned or it does not compile. A text
        without kernels is compiled when one of its functions is called first.
    """

    def __init__(
        self,
        device: Device,
        sources: str | Path | Sequence[str | Path],
        macros: Mapping[str, int | float | str | bool] | None = None,
        header: str = "",
        options: Sequence[str] = (),
    ):
        unsafe = [word for option in options for word in option.split() if word in _UNSAFE]
        if unsafe:
            raise DeviceError(f"build option {unsafe[0]} is refused: it changes results")
        if isinstance(sources, (str, Path)):
            sources = [sources]
        if not (macros or {}).get("NUM_IS_DOUBLE", True) and not device.subnormal_single:
            raise DeviceError(
                f"{device.name} makes 0 of single-precision numbers below 2^-126 "
                "(no CL_FP_DENORM), so results would differ\n"
                "choose another device, or set precision: double where there is that key"
            )
        facts = {
            "DEVICE_IS_CPU": device.kind == "cpu",
            "DEVICE_ROUNDS_SINGLES": device.correct_single,
        }
        known = {**facts, **(macros or {})}
        if race_mode():
            known["DEVICE_IS_INTERPRETED"] = True
        source = amalgamate(sources, known, header)
        asked = [name for name in FACTS if name in source.text and name not in known]
        if asked:
            known |= {name: FACTS[name](device, known) for name in asked}
            source = amalgamate(sources, known, header)
        self._set_up(device, source, tuple(options))

    def _set_up(self, device: Device, source: AmalgamatedText, options: tuple[str, ...]) -> None:
        self.device = device
        self.amalgamated = source
        self.options = (*device.build_options, *options)
        self._extra_options = options
        self._kernels: dict[str, Kernel] = {}
        self._functions: dict[str, Callable[..., Any]] = {}
        self._cl_program: Any = None
        self._signatures: dict[str, list[RawParameter]] = {}

        self._planned = plan(source, predefined(device, self.options))
        self._planned.check(device.local_memory_limit, device.limits_name)
        if self._planned.kernels or _KERNEL_WORD.search(without_comments(source.text)):
            text = self._planned.source
            self._cl_program, self._signatures = compile_program(device, text, self.options)
        self._compiled = Compiled(source, self.options, self.source)

    def extended(self, name: str, text: str) -> Program:
        """Return a program with generated OpenCL text appended; ``name`` names it in errors."""
        source = self.amalgamated.copy()
        source.append(name, text)
        other = Program.__new__(Program)
        other._set_up(self.device, source, self._extra_options)
        return other

    @property
    def source(self) -> str:
        """The text that was compiled."""
        return self._planned.source.text

    @property
    def local_memory(self) -> dict[str, KernelPlan]:
        """Local memory of each kernel; empty if the text does not use ``local_malloc``."""
        return self._planned.kernels

    def arrays_used(self) -> dict[str, frozenset[str]]:
        """Return for each kernel the parameters that it or the functions that it calls use."""
        from societies.localmem.reached import arrays_used

        macros = predefined(self.device, self.options)
        return arrays_used(self.amalgamated, macros, set(self._signatures))

    def allocates(self, function: str) -> bool:
        """Return True if a device function, or one that it calls, uses ``local_malloc``."""
        return function in self._planned.functions

    @property
    def kernel_names(self) -> list[str]:
        """Names of all kernels."""
        return list(self._signatures)

    @cached_property
    def _type_names(self) -> TypeNames:
        """The meaning of the type names of the text."""
        return TypeNames(self.amalgamated.text)

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by name.

        Raises
        ------
        DeviceError
            If the program has no such kernel.
        """
        if name not in self._kernels:
            if name not in self._signatures:
                available = ", ".join(self._signatures) or "none"
                raise DeviceError(f"no kernel {name} in this program; it has: {available}")
            parameters = [
                Parameter(*raw, self._type_names.resolve(raw.type_name))
                for raw in self._signatures[name]
            ]
            # A kernel refers to `Compiled` and not to the program, which refers to the kernel: a
            # reference cycle would delay freeing the program, its device and its memory.
            kernel = Kernel(
                self.device,
                self._cl_program,
                name,
                parameters,
                partial(_struct, self.amalgamated.text),
                self._compiled,
            )
            if name in self.local_memory:  # some implementations report 0
                planned = self.local_memory[name].total
                kernel.static_local_memory = max(kernel.static_local_memory, planned)
            self._kernels[name] = kernel
        return self._kernels[name]

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.kernel(name)
        except DeviceError as error:
            raise AttributeError(str(error)) from None

    def function(self, name: str) -> Callable[..., Any]:
        """Return a device function as a Python callable; see `societies.opencl.function`.

        Raises
        ------
        DeviceError
            If the text has no such function or its signature is not supported.
        """
        from societies.opencl.function import DeviceFunction

        if name not in self._functions:
            self._functions[name] = DeviceFunction(self, name)
        return self._functions[name]

    def struct(self, name: str) -> np.dtype[Any]:
        """Return the dtype of a struct as it lies in memory, by its typedef or tag.

        Raises
        ------
        DeviceError
            If the text has no such struct or it holds pointers, unions or bit-fields.
        """
        return declarations(self.amalgamated.text).struct(name).dtype


def _struct(text: str, name: str) -> StructType:
    return declarations(text).struct(name)


def predefined(device: Device, options: Sequence[str]) -> dict[str, str | None]:
    """Return the macros that the compiler of a device defines, including those of ``-D`` options.

    The value None means a macro of the OpenCL standard that it does not define.
    """
    cl_device = device.cl_device
    macros: dict[str, str | None] = {}
    macros |= dict.fromkeys(getattr(cl_device, "extensions", "").split(), "1")
    if device.fp64:
        macros["cl_khr_fp64"] = "1"
    macros["__IMAGE_SUPPORT__"] = "1" if getattr(cl_device, "image_support", False) else None
    if device.platform == POCL:
        macros["POCL_DEVICE_ADDRESS_BITS"] = str(getattr(cl_device, "address_bits", 64))
    relaxed = any("-cl-fast-relaxed-math" in option for option in options)
    macros["__FAST_RELAXED_MATH__"] = "1" if relaxed else None
    if version := re.match(r"OpenCL (\d)\.(\d)", device.version):
        macros["__OPENCL_VERSION__"] = f"{version[1]}{version[2]}0"
    words = iter(" ".join(options).split())
    for word in words:
        if word.startswith("-D"):
            name, _, value = (word[2:] or next(words, "")).partition("=")
            macros[name] = value or "1"
    return macros
