"""How is a planned OpenCL text compiled by NVRTC, and which parameters have its kernels?

This module needs no GPU: NVRTC compiles for any architecture that is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from societies.errors import BuildError, DeviceError
from societies.kerneltext import cache
from societies.kerneltext.source import AmalgamatedText
from societies.opencl.build import LogError, RawParameter, located, missing
from societies.opencl.cuda.cupy import nvrtc
from societies.opencl.cuda.translate import HEADER, header, translate
from societies.opencl.signature import Declarations

OPTIONS = (
    "--std=c++20",
    "--device-as-default-execution-space",
    "--fmad=false",
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--disable-warnings",
)
"""Options of every build: no fused operations, subnormal numbers preserved, divisions and roots
rounded correctly."""

_ERROR = re.compile(
    r"^(?:(?P<file>.+?)\((?P<line>\d+)\)|At end of source): (?:catastrophic )?error(?: #[\w-]+)?: "
    r"(?P<message>.*)",
    re.MULTILINE,
)
_CAUSE = re.compile(
    r"^(?P<opened>.+?)\((?P<at>\d+)\): note.*: to match this"
    r"|\bat line (?P<line>\d+) of (?P<file>.+?)[ \t]*$",
    re.MULTILINE,
)
"""Notes with the real line of an error: where an unclosed brace is opened, and where a kernel calls
a function of our header with arguments for which it does not compile."""
_UNRESOLVED = re.compile(r"Unresolved extern function '(?:_Z(?P<length>\d+))?(?P<name>\w+)'")
_ENTRY_ERROR = re.compile(r"^ptxas error\s*: (?P<message>.*\b[Ff]unction '(?P<name>\w+)'.*)", re.M)
_VECTOR = re.compile(r"\bcl_vec<([a-z ]+), (\d+)>")
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\((.*?)\)\s*([^{]*)\{", re.DOTALL)
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.([busf])(\d+)[^,\[]*(?:\[(\d+)\])?")


@dataclass(frozen=True)
class Entry:
    """A kernel of a compiled text.

    ``sizes`` are the bytes of each parameter, ``required`` the required size of the workgroup.
    """

    sizes: tuple[int, ...]
    parameters: tuple[RawParameter, ...]
    required: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class MachineCode:
    """A text compiled for one architecture: machine code, and its kernels by name."""

    code: bytes
    entries: Mapping[str, Entry]


def compile_text(
    source: AmalgamatedText,
    predefined: Mapping[str, str | None],
    architecture: str,
    options: tuple[str, ...] = (),
) -> tuple[str, bytes, dict[str, Entry]]:
    """Return the PTX of a planned text, its machine code, and its kernels.

    Parameters
    ----------
    source : the text after the planner of local memory
    predefined : macros that are facts of the device
    architecture : target, such as ``sm_90``
    options : ``-D`` options of the program

    Raises
    ------
    BuildError
        With file and line of the OpenCL text, if it does not compile.
    DeviceError
        If NVRTC is not installed or does not know the architecture.
    """
    translated = translate(source, predefined)
    ptx, code = _nvrtc(source, translated.text, architecture, options)
    declared = Declarations(translated.expanded)
    entries = {}
    for name, sizes in entry_sizes(ptx).items():
        signature = declared.signature(name)
        parameters = tuple(
            RawParameter(p.name, p.space, p.type_name, p.pointer, p.const)
            for p in signature.parameters
        )
        entries[name] = Entry(sizes, parameters, translated.required.get(name))
    return ptx, code, entries


def compiled(
    device: Any,
    source: AmalgamatedText,
    predefined: Mapping[str, str | None],
    options: tuple[str, ...],
) -> MachineCode:
    """Return a text compiled for a device, from our cache if possible."""
    words = (*device.build_options, *options, header())
    key = cache.program_key(device, source.text, words)
    with cache.alone(key):
        entry = cache.load(key)
        if entry is not None:
            return MachineCode(entry[1], {name: _restored(row) for name, row in entry[0].items()})
        _, code, entries = compile_text(source, predefined, device.architecture, options)
        cache.store(key, {name: asdict(entry) for name, entry in entries.items()}, code)
        return MachineCode(code, entries)


def entry_sizes(ptx: str) -> dict[str, tuple[int, ...]]:
    """Return the bytes of the parameters of every kernel in PTX."""
    found = {}
    for name, parameters, _ in _ENTRY.findall(ptx):
        found[name] = tuple(
            int(bits) // 8 * int(count or 1) for _, bits, count in _PARAMETER.findall(parameters)
        )
    return found


def _restored(row: Any) -> Entry:
    required = None if row["required"] is None else tuple(row["required"])
    parameters = tuple(RawParameter(*one) for one in row["parameters"])
    return Entry(tuple(row["sizes"]), parameters, required)


def _nvrtc(
    source: AmalgamatedText, text: str, architecture: str, options: tuple[str, ...]
) -> tuple[str, bytes]:
    """Return PTX and machine code."""
    library = nvrtc()
    program = library.createProgram(text, "kernels.cu", (), ())
    try:
        try:
            words = (*OPTIONS, f"--gpu-architecture={architecture}", *options)
            library.compileProgram(program, words)
        except library.NVRTCError as error:
            log = str(library.getProgramLog(program))
            raise BuildError(message_of(source, log, str(error), architecture)) from None
        ptx = library.getPTX(program)
        text = ptx.decode("ascii", "replace") if isinstance(ptx, bytes) else ptx
        return text, bytes(library.getCUBIN(program))
    except library.NVRTCError as error:
        raise DeviceError(f"NVRTC fails: {error}") from error
    finally:
        library.destroyProgram(program)


def message_of(source: AmalgamatedText, log: str, error: str, architecture: str) -> str:
    """Return the first error in the kernels with its line, or else NVRTC's own message."""
    found = list(_errors(source, log))
    ours = [one for one in found if one.file in source.lines]
    if ours:
        return located(source, ours[0], len(ours) - 1)
    rows = (row.strip() for row in log.splitlines())
    said = next((row for row in rows if re.search(r"\b(?:error|fatal)\b", row)), error)
    inside = any(one.file == HEADER.name for one in found) and HEADER.name not in said
    place = f" ({HEADER.name}, line {found[0].line})" if inside else ""
    return f"the kernels do not build for CUDA ({architecture}): {said}{place}"


def _errors(source: AmalgamatedText, log: str) -> Iterator[LogError]:
    """Yield the errors of a log, with their lines in the kernels if known.

    The compiler of PTX names no lines, so the named function or kernel is searched in the kernels.
    """
    matches = [*_ERROR.finditer(log)]
    for number, match in enumerate(matches, start=1):
        end = matches[number].start() if number < len(matches) else len(log)
        file, line = match["file"] or "", int(match["line"] or 0)
        if file not in source.lines:
            for cause in _CAUSE.finditer(log, match.start(), end):
                named = cause["file"] or cause["opened"]
                if named in source.lines:
                    file, line = named, int(cause["line"] or cause["at"])
                    break
        yield LogError(file, line, None, _in_opencl(match["message"]))
    for match in _UNRESOLVED.finditer(log):
        yield missing(source, match["name"][: int(match["length"] or 0) or None])
    for match in _ENTRY_ERROR.finditer(log):
        place = missing(source, match["name"])
        yield LogError(place.file, place.line, None, match["message"])


def _in_opencl(message: str) -> str:
    """Return a message with OpenCL C's names instead of the header's types and functions."""

    def vector(match: re.Match[str]) -> str:
        short = re.sub(r"^unsigned ", "u", match[1]).removeprefix("signed ")
        return f"{short.replace('long long', 'long')}{match[2]}"

    return re.sub(r"\bcl_(?=[a-z]+\w*\b)", "", _VECTOR.sub(vector, message)).rstrip(": ")
