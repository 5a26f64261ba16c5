"""Which programs does the package bring already built? Build those of some configurations.

    python .ci/kernels.py [--check]

Writes kernels/built: the planned texts and PoCL's programs of the first day of each configuration,
for the processor of `societies/opencl/shipped.py`. Needs qemu-user (`apt install qemu-user`), which
lets PoCL run as if on that processor, and some minutes. Each run writes the same bytes; --check
only says whether everything is built.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CONFIGURATIONS = ("economy/quickstart", "economy/devices")
FOLDER = Path(__file__).resolve().parents[1] / "kernels" / "built"
QEMU = ("qemu-x86_64", "-cpu", "Haswell")
CACHES = "/tmp/societies-kernels"  # PoCL writes the names of files in it into programs
_TEMPORARY = re.compile(rb"tempfile_[A-Za-z0-9]{6}")


def main() -> None:
    """Build in an emulator, or check; a process for each configuration."""
    check, names = "--check" in sys.argv, [word for word in sys.argv[1:] if word != "--check"]
    for name in names:
        if not check:
            build(name)
        elif not is_built(name):
            sys.exit(f"{name} is not built, or an older one: run python .ci/kernels.py")
    if names:
        return
    if not check:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
    for name in CONFIGURATIONS:
        line = [sys.executable, *sys.argv, name]
        if subprocess.run(line if check else [*QEMU, *line], check=False).returncode:
            sys.exit(1)
    sizes = [file.stat().st_size for file in FOLDER.iterdir()]
    print(f"{len(sizes)} files, {sum(sizes) >> 10} KiB in {FOLDER}")


def programs(name: str) -> Iterator[tuple[Any, Any, Any, Any, Any]]:
    """Run a day of a configuration with empty caches; yield what was compiled and how."""
    for variable in ("POCL_CACHE_DIR", "SOCIETIES_CACHE_DIR", "XDG_CACHE_HOME"):
        os.environ[variable] = CACHES
    shutil.rmtree(CACHES, ignore_errors=True)
    Path(CACHES).mkdir(mode=0o700)
    from societies.cli import app
    from societies.opencl import build, program

    seen = []

    def remembered(device: Any, source: Any, options: Any) -> Any:
        seen.append((device, source.text, options, *build.compile_program(device, source, options)))
        return seen[-1][3:]

    program.compile_program = remembered
    words = ["run", name, "--device", "cpu", "--ticks", "1", "-q", "--out"]
    app([*words, f"{CACHES}/day.h5"], standalone_mode=False)
    yield from seen


def build(name: str) -> None:
    """Write what a day of a configuration needs, on the processor that the programs are for."""
    from societies.kerneltext import cache
    from societies.opencl import shipped

    for device, text, options, program, signatures in programs(name):
        if not device.version.endswith(f"-{shipped.MODEL}"):
            sys.exit(f"PoCL builds for {device.version}, not for {shipped.MODEL}")
        binary = bytes(program.get_info(device.api.program_info.BINARIES)[0])
        key = shipped.key(device, text, options)
        write(key, cache.packed(signatures, without_general(same_names(binary))))
    for plan in Path(CACHES).glob("*.clbin"):
        write(plan.stem, plan.read_bytes())


def is_built(name: str) -> bool:
    """Return whether a day of a configuration finds all of its programs and plans built."""
    from societies.kerneltext import cache
    from societies.opencl import shipped

    programs_found = [cache.shipped(shipped.key(*what[:3])) for what in programs(name)]
    return None not in programs_found and not list(Path(CACHES).glob("*.clbin"))


def write(key: str, entry: bytes) -> None:
    """Write an entry of the package."""
    (FOLDER / f"{key}.z").write_bytes(zlib.compress(entry, 9))


def same_names(binary: bytes) -> bytes:
    """Return a binary in which the names of PoCL's temporary files are always the same.

    LLVM's bitcode has them at any bit, in letters of 7 or 8 bits.
    """
    bits = "".join(f"{byte:08b}"[::-1] for byte in binary)
    for name in set(_TEMPORARY.findall(binary)):
        for width in (7, 8):
            old, new = (
                "".join(f"{byte:0{width}b}"[::-1] for byte in text)
                for text in (name, b"tempfile_000000")
            )
            bits = bits.replace(old, new)
    return bytes(int(bits[i : i + 8][::-1], 2) for i in range(0, len(bits), 8))


def without_general(binary: bytes) -> bytes:
    """Return a binary without kernels for any size of workgroup, and without tables of symbols."""
    start = 8 + 8 + 4 + 4 + 8 + 41  # of the header, as in PoCL's pocl_binary.c
    (kernels,) = struct.unpack_from("<I", binary, 20)
    _, _, start = a_file(binary, start)
    parts = [binary[:start]]
    for _ in range(kernels):
        whole, files, arguments = struct.unpack_from("<QQI", binary, start)
        end, place = start + whole, start + whole - files
        head, rest = binary[start + 20 : place], []
        while place < end:
            path, contents, place = a_file(binary, place)
            if b"/0-0-0" not in path:
                rest += [
                    b"".join(struct.pack("<I", len(x)) + x for x in (path, stripped(contents)))
                ]
        size = sum(map(len, rest))
        parts += [struct.pack("<QQI", 20 + len(head) + size, size, arguments), head, *sorted(rest)]
        start = end
    return b"".join(parts)


def a_file(binary: bytes, start: int) -> tuple[bytes, bytes, int]:
    """Return path and contents of a file in a binary, and where the next one begins."""
    (size,) = struct.unpack_from("<I", binary, start)
    path, start = binary[start + 4 : start + 4 + size], start + 4 + size
    (size,) = struct.unpack_from("<I", binary, start)
    return path, binary[start + 4 : start + 4 + size], start + 4 + size


def stripped(library: bytes) -> bytes:
    """Return a kernel's library without what only debuggers read."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(library)
        subprocess.run(["strip", "--strip-all", file.name], check=True)
        return Path(file.name).read_bytes()


if __name__ == "__main__":
    main()
