"""Do captured kernels give the captured results, bit for bit, on another OpenCL device?

Needs only numpy and pyopencl, and the files of the capture, which README.txt describes.
Exit code: 0 identical, 1 different, 2 usage, 3 no such device, or the kernels do not build or run,
4 a file of the capture is missing or damaged.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

HERE = Path(__file__).resolve().parent
KERNELS = re.compile(r"kernel(_\d+)?\.cl")
"""Names of kernel files; other names in launch.json are refused, so that no other file is read."""
CORRECT_DIVIDE = "-cl-fp32-correctly-rounded-divide-sqrt"
OF_NVIDIA = "-cl-nv-"
"""Begin of options that only NVIDIA's compiler knows; they change no result."""


def main() -> int:
    """Parse the command line, launch and compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE, help="default: the driver's")
    parser.add_argument("--device", metavar="D", help="PLATFORM:DEVICE, or part of a name")
    parser.add_argument("--list", action="store_true", help="list the devices")
    options = parser.parse_args()
    folder = options.folder
    try:
        launch = json.loads(text(folder / "launch.json"))
        inputs, expected = arrays(folder / "inputs.npz"), arrays(folder / "expected.npz")
        texts = {file: text(folder / kernels(file)) for file in launch["programs"]}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        print(f"failed: the capture is incomplete or damaged: {error}", file=sys.stderr)
        return 4
    try:
        found = devices()
        if options.list:
            for index, device in found:
                print(index, name(device))
            return 0
        device = choose(found, options.device, launch["device"])
        print(f"captured: {launch['what']}, on {launch['device']['name']}")
        print(f"device:   {name(device)}, driver {device.driver_version.strip()}")
        results = run(device, launch, texts, inputs, list(expected))
    except (cl.Error, LookupError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 3
    difference = compare(expected, results)
    print(difference or f"identical: {_arrays(len(expected))}")
    return 1 if difference else 0


def kernels(file: str) -> str:
    """Return the name of a kernel file; raise ValueError if no capture has such a name."""
    if not KERNELS.fullmatch(file):
        raise ValueError(f"{file!r} is not a file of kernels")
    return file


def text(file: Path) -> str:
    """Return the text of a file."""
    return file.read_text(encoding="utf-8")


def arrays(file: Path) -> dict[str, Any]:
    """Return the arrays of a file."""
    with np.load(file, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def devices() -> list[tuple[str, Any]]:
    """Return every device with its index, PLATFORM:DEVICE."""
    return [
        (f"{p}:{d}", device)
        for p, platform in enumerate(cl.get_platforms())
        for d, device in enumerate(platform.get_devices())
    ]


def name(device: Any) -> str:
    """Return the displayed name of a device."""
    return f"{device.name.strip()} ({device.platform.name.strip()})"


def choose(found: list[tuple[str, Any]], asked: str | None, captured: dict[str, Any]) -> Any:
    """Return the requested device, or else the one of the capture, or else a GPU or the first."""
    if asked is not None:
        for index, device in found:
            if asked == index or asked.lower() in name(device).lower():
                return device
        available = "; ".join(f"{index} {name(device)}" for index, device in found)
        raise LookupError(f"no device {asked}; available: {available}")
    real = [device for _, device in found if "oclgrind" not in name(device).lower()]
    if not real:
        raise LookupError("no OpenCL device found")
    known = f"{captured['name']} ({captured['platform']})"

    def rank(device: Any) -> tuple[bool, bool]:
        return name(device) != known, not device.type & cl.device_type.GPU

    return min(real, key=rank)


def use_known_model(device: Any) -> None:
    """Let PoCL compile for this processor even if its compiler does not know it."""
    for file in (HERE / "processor.py", HERE.parent.parent / "opencl" / "processor.py"):
        if file.exists():  # in a capture; in the package
            runpy.run_path(str(file))["known_model"](device, device.version)
            return


def run(
    device: Any,
    launch: dict[str, Any],
    texts: dict[str, str],
    inputs: dict[str, Any],
    wanted: list[str],
) -> dict[str, Any]:
    """Build the kernels, copy the arrays, launch in order, and return the ``wanted`` arrays."""
    use_known_model(device)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    programs = {
        file: build(context, file, code, launch["programs"][file]) for file, code in texts.items()
    }
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {
        key: cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(values))
        for key, values in inputs.items()
        if values.nbytes
    }
    for one in launch["launches"]:
        kernel = cl.Kernel(programs[one["program"]], one["kernel"])
        for position, argument in enumerate(one["arguments"]):
            if "bytes" in argument:
                value: Any = np.frombuffer(bytes.fromhex(argument["bytes"]), np.uint8)
            elif "local_bytes" in argument:
                value = cl.LocalMemory(argument["local_bytes"])
            else:
                value = buffers.get(argument["array"])
            kernel.set_arg(position, value)
        cl.enqueue_nd_range_kernel(queue, kernel, one["global_size"], one["local_size"])
    results = {}
    for key in wanted:
        results[key] = np.empty_like(inputs[key])
        if key in buffers:
            cl.enqueue_copy(queue, results[key], buffers[key], is_blocking=True)
    queue.finish()
    return results


def build(context: Any, file: str, code: str, options: list[str]) -> Any:
    """Return the program built from a text; raise LookupError with the compiler's first error."""
    (device,) = context.devices
    if not device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT:
        options = [option for option in options if option != CORRECT_DIVIDE]
    if device.platform.name != "NVIDIA CUDA":
        options = [option for option in options if not option.startswith(OF_NVIDIA)]
    program = cl.Program(context, code)
    try:
        return program.build(options=options, cache_dir=False)
    except cl.Error:
        log = program.get_build_info(device, cl.program_build_info.LOG)
        rows = [row.strip() for row in log.replace("\0", "").splitlines()]
        said = next((row for row in rows if "error" in row.lower()), "") or next(
            filter(None, rows), "the compiler gives no reason"
        )
        raise LookupError(f"{file} does not build for {name(device)}: {said}") from None


def compare(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Return the first element that differs and how many do, as text; "" if none differs."""
    first, count, arrays = "", 0, 0
    for key, a in expected.items():
        b = found[key]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"different: array {key} has shape {b.shape}, expected {a.shape}"
        bits = f"u{a.dtype.itemsize}"
        places = np.argwhere(a.view(bits) != b.view(bits))
        if len(places):
            index = tuple(int(i) for i in places[0])
            first = first or (
                f"different: array {key}, index {list(index)}: "
                f"expected {a[index].item()!r}, found {b[index].item()!r}"
            )
            count, arrays = count + len(places), arrays + 1
    elements = f"{count} element{'' if count == 1 else 's'}"
    verb = "differs" if count == 1 else "differ"
    return f"{first} ({elements} of {_arrays(arrays)} {verb})" if first else ""


def _arrays(count: int) -> str:
    return f"{count} array{'' if count == 1 else 's'}"


if __name__ == "__main__":
    sys.exit(main())
