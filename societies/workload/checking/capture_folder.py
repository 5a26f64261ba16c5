"""How is a phase written to a folder that reproduces it on another machine, without Societies?

A workload runs to the phase. The launches of the phase are recorded, and the folder gets their
kernels, arguments and results, and a driver that needs only numpy and pyopencl.
"""

from __future__ import annotations

import json
import platform
import secrets
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, DeviceError, OutputError, option
from societies.opencl import Device, DeviceArray, Launched, Local, processor, recorded
from societies.opencl.debug import opencl
from societies.opencl.kernel import Compiled
from societies.version import package_version
from societies.workload.running.devices import chosen_device

MARK = "launch.json"
"""A folder with this file is a capture."""

_PROGRAMS = {
    "driver.py": Path(__file__).with_name("capture_driver.py"),
    "processor.py": Path(processor.__file__),
}

_README = """\
This folder reproduces {what} of Societies {version}: {kernels}.

    python driver.py                 on the device that it was captured on, or the best there is
    python driver.py --device NAME   on another one: PLATFORM:DEVICE or part of a name
    python driver.py --list          which devices there are

The driver needs Python with numpy and pyopencl, nothing else. It builds kernel.cl, launches with
the arguments of inputs.npz and compares every bit with expected.npz, which is what
{device}
gave. It prints "identical" (exit code 0) or the first difference (1).

The Python files and kernels are programs: they run with all your rights. Run folders of people
whom you trust, others in a container. The driver of your own Societies runs no Python of a folder:

    python -m societies.workload.checking.capture_driver FOLDER

To report a bug, pack this folder (`tar czf capture.tar.gz {folder}`), attach it to the report, and
add what driver.py prints on your device.

kernel.cl       the text as it was compiled, its local memory planned
source.cl       the same as it was written, macros in front, with comments: to read
                (kernel_2.cl and source_2.cl: those of a second program, if there is one)
launch.json     kernels, sizes, arguments, build options, device and driver, hashes of the state
config.yaml     the configuration, all keys; `societies verify config.yaml` compares all phases
inputs.npz      every array before the launch
expected.npz    the arrays that the launch may change, after it
processor.py    what driver.py needs on processors that PoCL 3.0 does not know
"""


def capture_launches(
    folder: Path,
    device: Device,
    launch: Callable[[], Any],
    *,
    config_text: str,
    facts: Mapping[str, Any],
    state_hash: Callable[[], str],
    overwrite: bool = False,
) -> None:
    """Call a function, and write its launches with their arrays before and after to a folder.

    Raises OutputError if the folder exists, cannot be written, or is to be replaced but is no
    capture. Raises DeviceError if nothing is launched, a launch fails, or the host writes arrays
    between launches.

    Parameters
    ----------
    folder : folder to create; it appears completely or not at all
    device : device on which the function launches its kernels
    launch : the function; only its launches are captured
    config_text : the configuration as YAML
    facts : further entries of launch.json; ``what`` is a readable name of the launch
    state_hash : returns the hash of the workload's state; called before and after
    overwrite : replace an older capture
    """
    require_folder(folder, overwrite=overwrite)
    before = state_hash()
    with recorded(device) as recording:
        launch()
    launches = recording.launches
    if not launches:
        raise DeviceError(f"{facts['what']} launches nothing")
    names = _array_names(launches)
    programs = _program_names(launches)
    described = [_launch(one, names, programs) for one in launches]
    expected = {
        names[array]: array.get() for array in recording.before if _written(array, launches)
    }
    text = {
        **facts,
        "societies": package_version(),
        "state_sha256_before": before,
        "state_sha256_after": state_hash(),
        "programs": {name: list(program.options) for program, name in programs.items()},
        "launches": described,
        "device": _device_facts(device),
        "software": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pyopencl": opencl().VERSION_TEXT,
            "system": platform.platform(),
        },
    }
    readme = _README.format(
        what=facts["what"],
        version=package_version(),
        kernels=", then ".join(f"kernel {row['kernel']}" for row in described),
        device=device.name,
        folder=shlex.quote(folder.name),
    )
    files = {
        **{name: program.source for program, name in programs.items()},
        **{
            name.replace("kernel", "source"): program.amalgamated.text
            for program, name in programs.items()
        },
        "config.yaml": config_text,
        "README.txt": readme,
        **{name: path.read_text(encoding="utf-8") for name, path in _PROGRAMS.items()},
        MARK: json.dumps(text, indent=1) + "\n",
    }
    inputs = {names[array]: values for array, values in recording.before.items()}
    _write(folder, files, {"inputs.npz": inputs, "expected.npz": expected}, overwrite)


def prepare(
    name: str, device: str | Device, out: str | Path | None, *, overwrite: bool
) -> tuple[Path, Device, str]:
    """Return folder, device and the device's displayed name for the capture of a phase.

    Raises ConfigError if the device is no OpenCL device. Raises OutputError as for
    `require_folder`.
    """
    folder = Path(out) if out is not None else Path(f"capture-{name}")
    require_folder(folder, overwrite=overwrite)
    chosen, shown, _ = chosen_device(device)
    if chosen is None:
        raise ConfigError(
            f"{option('device', 'reference')}: kernels are captured; choose an OpenCL device"
        )
    if chosen.compiler is not None:
        raise ConfigError(
            f"{option('device', str(device))}: a capture is replayed by OpenCL; choose an OpenCL "
            "device"
        )
    return folder, chosen, shown


def require_folder(folder: Path, *, overwrite: bool) -> None:
    """Check that the folder can be created.

    Raises OutputError if it exists, unless it is a capture to be overwritten, or if its parent does
    not exist.
    """
    if folder.exists() or folder.is_symlink():
        if not overwrite:
            raise OutputError(
                f"{folder}: exists already.\n"
                f"Choose another with {option('out')}, or replace an older capture with "
                f"{option('overwrite', True)}."
            )
        if not (folder / MARK).is_file() or folder.is_symlink():
            raise OutputError(f"{folder}: is not a capture, so it is not replaced.")
    if not folder.absolute().parent.is_dir():
        raise OutputError(f"{folder}: there is no folder {folder.absolute().parent} to put it in.")


def _array_names(launches: Sequence[Launched]) -> dict[DeviceArray, str]:
    """Return a name for every array: that of its first parameter, with a number if it is taken."""
    names: dict[DeviceArray, str] = {}
    for one in launches:
        for name, value in one.arguments.items():
            if isinstance(value, DeviceArray) and value not in names:
                taken = set(names.values())
                numbered = (f"{name}_{i}" for i in range(2, len(taken) + 3))
                names[value] = next(n for n in (name, *numbered) if n not in taken)
    return names


def _program_names(launches: Sequence[Launched]) -> dict[Compiled, str]:
    """Return the file name of every program: kernel.cl, kernel_2.cl."""
    programs = dict.fromkeys(_program(one) for one in launches)
    return {
        program: f"kernel_{i}.cl" if i > 1 else "kernel.cl" for i, program in enumerate(programs, 1)
    }


def _program(one: Launched) -> Compiled:
    program = one.kernel.program
    if program is None:
        raise DeviceError(f"kernel {one.kernel.name}: is of no Program, so it cannot be captured")
    return program


def _written(array: DeviceArray, launches: Sequence[Launched]) -> bool:
    """Return True if a launch may change the array."""
    return any(
        one.arguments[parameter.name] is array and not parameter.const
        for one in launches
        for parameter in one.kernel.parameters
    )


def _launch(
    one: Launched, names: Mapping[DeviceArray, str], programs: Mapping[Compiled, str]
) -> dict[str, Any]:
    """Return the entry of launch.json for a launch."""
    kernel, rows = one.kernel, []
    for parameter in kernel.parameters:
        value = one.arguments[parameter.name]
        row: dict[str, Any] = {"name": parameter.name}
        if isinstance(value, DeviceArray):
            row["array"] = names[value]
        elif isinstance(value, Local):
            row["local_bytes"] = value.nbytes
        elif value is None:
            row["array"] = None
        else:
            raw = kernel.raw_argument(parameter, value)
            if not isinstance(raw, bytes):
                raise DeviceError(
                    f"kernel {kernel.name}: a buffer of pyopencl's (argument {parameter.name}) "
                    "cannot be captured; use a device array"
                )
            row |= {"type": parameter.type_name, "value": repr(value), "bytes": raw.hex()}
        rows.append(row)
    return {
        "kernel": kernel.name,
        "program": programs[_program(one)],
        "global_size": list(one.global_size),
        "local_size": list(one.local_size),
        "arguments": rows,
    }


def _device_facts(device: Device) -> dict[str, Any]:
    names = ("name", "platform", "platform_version", "driver", "version", "kind", "index")
    numbers = ("compute_units", "max_workgroup", "local_memory", "global_memory", "warp")
    return {name: getattr(device, name) for name in (*names, *numbers)}


def _write(
    folder: Path,
    texts: Mapping[str, str],
    arrays: Mapping[str, Mapping[str, NDArray[Any]]],
    overwrite: bool,
) -> None:
    """Write everything to a temporary folder, and rename it at the end."""
    aside = None
    try:
        parent = folder.absolute().parent
        aside = parent / f".{folder.name}.{secrets.token_hex(4)}"
        aside.mkdir()  # with the permissions of the user's umask
        for name, text in texts.items():
            (aside / name).write_text(text, encoding="utf-8")
        for name, values in arrays.items():
            np.savez_compressed(aside / name, allow_pickle=False, **values)
        require_folder(folder, overwrite=overwrite)
        if folder.exists():
            shutil.rmtree(folder)
        aside.rename(folder)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error}).") from error
    finally:
        if aside is not None:
            shutil.rmtree(aside, ignore_errors=True)
