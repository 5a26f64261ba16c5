"""How is a text compiled for a device, and which line of which file caused a compiler error?"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from societies.errors import BuildError
from societies.kerneltext import cache
from societies.kerneltext.source import AmalgamatedText, without_comments
from societies.opencl import private, race, shipped
from societies.opencl.debug import debug_mode, device_error, opencl, translated_errors
from societies.opencl.device import Device
from societies.opencl.stderr import heard_stderr, without_counts


class RawParameter(NamedTuple):
    """The compiler's description of a kernel's parameter."""

    name: str
    space: str
    type_name: str
    pointer: bool
    const: bool


def compile_program(
    device: Device, source: AmalgamatedText, options: tuple[str, ...]
) -> tuple[Any, dict[str, list[RawParameter]]]:
    """Return the OpenCL program and its signatures, from our cache if possible."""
    if device.compiler is not None:
        own: tuple[Any, dict[str, list[RawParameter]]] = device.compiler(source, options)
        return own
    key = cache.program_key(device, source.text, options)
    with cache.alone(key):
        return _compiled(device, source, options, key)


def _compiled(
    device: Device, source: AmalgamatedText, options: tuple[str, ...], key: str
) -> tuple[Any, dict[str, list[RawParameter]]]:
    cl = opencl()
    if cache.caches_itself(device):
        with _quiet_build():
            found = shipped.program(device, source.text, options)
        if found is not None:
            return found[0], _signatures(found[1])
    cached = not cache.caches_itself(device) and not debug_mode()
    entry = cache.load(key) if cached else None
    if entry is not None:
        try:
            program = cl.Program(device.context, [device.cl_device], [entry[1]])
            with heard_stderr(), _quiet_build():
                program.build(options=list(options), cache_dir=False)
            return program, _signatures(entry[0])
        except (cl.Error, TypeError, AttributeError):
            pass  # made by another driver, or damaged in spite of its checksum: build again
    if device.simulator or not cache.caches_itself(device):
        program = _build(device, source, options)
    else:
        program = _sound_build(device, source, options, key)
    if race.race_mode():
        race.remember(source.lines)
    signatures = {
        kernel.function_name: [_described(kernel, i) for i in range(kernel.num_args)]
        for kernel in [cl.Kernel(program, name) for name in _kernel_names(program)]
    }
    if cached:
        cache.store(key, signatures, bytes(program.get_info(cl.program_info.BINARIES)[0]))
    return program, signatures


def _signatures(rows: Mapping[str, Any]) -> dict[str, list[RawParameter]]:
    """Return the parameters of each kernel, as a cached program has them."""
    return {name: [RawParameter(*row) for row in value] for name, value in rows.items()}


def _sound_build(
    device: Device, source: AmalgamatedText, options: tuple[str, ...], key: str
) -> Any:
    """Compile with PoCL, without loading incomplete entries of a killed process from its cache.

    PoCL does not write an entry of its cache in one step, and does not recognise incomplete ones:
    3.0 then returns a program without kernels, 3.1 ends the process. So we record the begin and the
    end of every build. If a build did not end, or has no kernels, a macro that no text uses gives
    the program another entry in PoCL's cache.
    """
    damaged = cache.begin_build(key)
    try:
        program = _build(device, source, (*options, *_place(damaged)))
        if not _kernel_names(program):  # or conditions exclude all kernels of the text
            _never_release(device.context)
            program = _build(device, source, (*options, *_place(damaged + 1)))
            damaged += bool(_kernel_names(program))
    finally:
        cache.end_build(key, damaged)
    return program


def _kernel_names(program: Any) -> list[str]:
    """Return the names of a program's kernels.

    ``all_kernels`` is not used because pyopencl 2026.1 never releases its kernels, and so neither
    the program, its context nor the device's memory.
    """
    cl = opencl()
    try:
        if not program.get_info(cl.program_info.NUM_KERNELS):
            return []  # here NVIDIA's runtime would end the process at the next call
        names = program.get_info(cl.program_info.KERNEL_NAMES).strip("\0 ")
    except cl.Error as error:
        if error.code != cl.status_code.INVALID_PROGRAM_EXECUTABLE:
            raise
        return []  # Intel's runtime reports a built program without kernels as not built
    return [name for name in names.split(";") if name]


def _place(damaged: int) -> tuple[str, ...]:
    """Return options with which PoCL does not use the ``damaged`` builds in its cache."""
    return (f"-DSOCIETIES_DAMAGED_BUILDS={damaged}",) if damaged else ()


def _never_release(context: Any) -> None:
    """Prevent that an OpenCL context is ever released, even at the end of the process.

    PoCL 3.0 ends a process that releases a context in which a damaged program was loaded.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(context))


def _described(kernel: Any, position: int) -> RawParameter:
    cl = opencl()
    info, space = cl.kernel_arg_info, cl.kernel_arg_address_qualifier
    spaces = {space.GLOBAL: "global", space.LOCAL: "local", space.CONSTANT: "constant"}
    with translated_errors(f"asking for the arguments of kernel {kernel.function_name}"):
        type_name = kernel.get_arg_info(position, info.TYPE_NAME).strip("\0 ")
        qualifier = kernel.get_arg_info(position, info.TYPE_QUALIFIER)
        found = spaces.get(kernel.get_arg_info(position, info.ADDRESS_QUALIFIER), "private")
        name = kernel.get_arg_info(position, info.NAME).strip("\0 ")
        # PoCL's headers rename built-in functions, and also parameters of the same name
        name = name.removeprefix("_cl_")
    const = bool(qualifier & cl.kernel_arg_type_qualifier.CONST)
    return RawParameter(
        name, found, type_name.rstrip("* "), type_name.endswith("*"), const or found == "constant"
    )


@contextmanager
def _quiet_build() -> Iterator[None]:
    """Build with our options only, and without pyopencl's warnings."""
    forced = os.environ.pop("PYOPENCL_BUILD_OPTIONS", None)  # could change results unnoticed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if forced is not None:
            os.environ["PYOPENCL_BUILD_OPTIONS"] = forced


def _try_build(device: Device, text: str, options: tuple[str, ...]) -> tuple[Any, str, Any]:
    """Return (program, build log, exception or None)."""
    cl = opencl()
    with translated_errors("creating a program"), _quiet_build():
        program = cl.Program(device.context, text)
        program.get_info(cl.program_info.REFERENCE_COUNT)  # creates it now, without the cache
    failure = None
    with heard_stderr() as heard:
        heard.counts = debug_mode()
        try:
            with _quiet_build():
                program.build(options=list(options), cache_dir=False)
        except cl.Error as error:
            failure = error
            heard.withheld = _refuses_text(failure) and not debug_mode()  # the message says it
    try:
        log = str(program.get_build_info(device.cl_device, cl.program_build_info.LOG))
    except cl.Error:
        log = ""
    if failure is not None:
        log += "\n" + without_counts(heard.text)
    return program, log, failure


def _refuses_text(failure: Any) -> bool:
    """Return True if the error is in the text, and not a failure of the device."""
    codes = opencl().status_code
    return failure.code in (
        codes.BUILD_PROGRAM_FAILURE,
        codes.COMPILE_PROGRAM_FAILURE,
        codes.LINK_PROGRAM_FAILURE,
    )


def _build(device: Device, source: AmalgamatedText, options: tuple[str, ...]) -> Any:
    """Compile, or raise `BuildError` with the lines of the kernel files."""
    if cache.caches_itself(device) and not device.simulator:
        private.require_room()
    program, log, failure = _try_build(device, source.text, options)
    if failure is None:
        if debug_mode() and log.strip("\0 \n"):
            print(log, file=sys.stderr)
        return program
    if not _refuses_text(failure):
        raise device_error(failure, f"building for {device.name}") from failure
    found = [e for e in parse_log(log) if e.file in source.lines]
    if not found:
        # the compiler ignores the names in #line: build again to get lines of the text itself
        _, plain_log, _ = _try_build(device, source.without_directives(), options)
        for error in parse_log(plain_log):
            name, line = source.origin(error.line)
            if name:
                found.append(error._replace(file=name, line=line))
    raise BuildError(_message(device, source, found, log)) from None


class LogError(NamedTuple):
    """One error of a build log."""

    file: str
    line: int
    column: int | None
    message: str


_ERROR_FORMS = (
    # PoCL; what a macro expands to also has the place where the macro spells it
    re.compile(
        r"^(?:fatal )?error: (?P<file>.+?):(?P<line>\d+):(?P<column>\d+)"
        r"(?: <Spelling=.*?>)?: (?P<message>.*)"
    ),
    # clang, NVIDIA, Intel
    re.compile(
        r"^(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<message>.*)"
    ),
    # EDG (older AMD)
    re.compile(r'^"(?P<file>[^"]+)", line (?P<line>\d+)(?P<column>): \w*\s*error: (?P<message>.*)'),
    # a warning to NVIDIA's compiler, which then fails to link without naming a line
    re.compile(
        r"^(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? "
        r"warning: (?P<message>implicit declaration of function.*)"
    ),
)


_UNDEFINED = re.compile(
    r"(?:cannot find symbol|unresolved (?:extern )?(?:function|symbol)|"
    r"undefined (?:symbol|reference(?: to)?|external function)|external symbol|"
    r"symbols not found)"
    r":?\s+(?:\[ )?['\"`]*(?P<name>[A-Za-z_]\w*)",
    re.IGNORECASE,
)
_NOTHING_SAID = re.compile(
    r"Device .* failed to build the program|Error\(s\) while linking:|Build(?:ing)? failed\.?|"
    r"(?:Compilation|Linking|Device build) (?:started|done)|Options used by .*|"
    r"Failed to build device program|remark: .*",
    re.IGNORECASE,
)


def parse_log(log: str) -> list[LogError]:
    """Return the errors (not the warnings) that a build log names with a line."""
    found = []
    for row in log.replace("\0", "").splitlines():
        for form in _ERROR_FORMS:
            match = form.match(row.strip())
            if match:
                column = int(match["column"]) if match["column"] else None
                found.append(
                    LogError(match["file"], int(match["line"]), column, match["message"].strip())
                )
                break
    return found


def undefined_functions(log: str) -> list[str]:
    """Return the functions that the linker did not find, from its part of a build log."""
    return list(dict.fromkeys(match["name"] for match in _UNDEFINED.finditer(log)))


def _message(device: Device, source: AmalgamatedText, errors: Sequence[LogError], log: str) -> str:
    """Return the first error with its file and line, and the text of that line below."""
    errors = list(dict.fromkeys(errors)) or [
        missing(source, name) for name in undefined_functions(log)
    ]
    if not errors:
        return _without_place(device, log)
    first, rest = errors[0], len(errors) - 1
    more = f" (and {rest} more error{'s' if rest > 1 else ''})" if rest else ""
    if not first.file:
        return f"the kernels do not build for {device.name}: {first.message}{more}"
    return located(source, first, rest)


def located(source: AmalgamatedText, error: LogError, more: int = 0) -> str:
    """Return an error with its file and line, the number of further ones, and the line's text."""
    column = "" if error.column is None else f":{error.column}"
    lines = source.lines[error.file]
    shown = f"\n    {lines[error.line - 1].strip()}" if 0 < error.line <= len(lines) else ""
    others = f" (and {more} more error{'s' if more > 1 else ''})" if more else ""
    place = f"{source.shown(error.file)}:{error.line}{column}"
    return f"{place}: {error.message}{others}{shown}"


def missing(source: AmalgamatedText, name: str) -> LogError:
    """Return the error of a function without definition, at the first line that names it."""
    message = f"function {name} is declared or called, but defined nowhere"
    for file, lines in source.lines.items():
        code = without_comments("\n".join(lines)).split("\n")
        for number, row in enumerate(code, start=1):
            found = re.search(rf"\b{name}\b", row)
            if found:
                return LogError(file, number, found.start() + 1, message)
    return LogError("", 0, None, message)


def _without_place(device: Device, log: str) -> str:
    """Return the message for an error that names no line of a kernel."""
    rows = [row.strip() for row in log.replace("\0", "").splitlines()]
    said = [row for row in rows if row and not _NOTHING_SAID.fullmatch(row)]
    if said:
        first = min(said, key=lambda row: ": warning: " in row)
        other = "another OpenCL for CPUs: pip install 'societies[intel]'"
        hint = f"\n{other}" if "unknown target CPU" in first else ""
        return f"the kernels do not build for {device.name}: {first}{hint}"
    return (  # PoCL says no more when it cannot write to its cache
        f"the kernels do not build for {device.name}, and its compiler gives no reason\n"
        + (private.trouble() or "SOCIETIES_DEBUG=1 shows what it says while building")
    )
