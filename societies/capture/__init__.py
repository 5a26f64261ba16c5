"""How does one phase of a run become a folder that reproduces it elsewhere, without Societies?

A workload gives the launches of a phase; the folder gets their kernels, arguments and results, and
a driver that needs only numpy and pyopencl.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.device import BoundKernel, Device, DeviceArray, Local, Program
from societies.device.debug import opencl
from societies.errors import DeviceError, OutputError
from societies.version import package_version

MARK = "launch.json"
"""The file by which a folder is known to be a capture."""

Launches = Sequence[tuple[BoundKernel, Mapping[str, Any]]]

_README = """\
This folder reproduces {what} of Societies {version}: {kernels}.

    python driver.py                 on the device that it was captured on, or the best there is
    python driver.py --device NAME   on another one: PLATFORM:DEVICE or part of a name
    python driver.py --list          which devices there are

The driver needs Python with numpy and pyopencl, nothing else. It builds kernel.cl, launches with
the arguments of inputs.npz and compares every bit with expected.npz, which is what
{device}
gave. It prints "identical" (exit code 0) or the first difference (1).

To report a bug, pack this folder (`tar czf capture.tar.gz {folder}`), attach it to the report, and
add what driver.py prints on your device.

kernel.cl       the text as it was compiled, its local memory planned
source.cl       the same as it was written, macros in front, with comments: to read
launch.json     kernels, sizes, arguments, build options, device and driver, hashes of the state
config.yaml     the configuration, all keys; `societies verify config.yaml` compares all phases
inputs.npz      every array before the launch
expected.npz    the arrays that the launch may change, after it
"""


def capture_launches(
    folder: Path,
    program: Program,
    launches: Launches,
    *,
    config_text: str,
    facts: Mapping[str, Any],
    state_hash: Callable[[], str],
    overwrite: bool = False,
) -> None:
    """Run the launches in their order and write what they need and what they did to a folder.

    Parameters
    ----------
    folder : Path
        Made here; it appears whole or not at all.
    program : Program
        That the kernels are of.
    launches : sequence of (BoundKernel, mapping)
        Each kernel with the arguments that it is called with.
    config_text : str
        The configuration as YAML.
    facts : mapping
        What else to tell; ``what`` names the launch for people.
    state_hash : callable
        Gives the hash of the workload's state, before and after.
    overwrite : bool
        Replace an older capture.

    Raises
    ------
    OutputError
        If the folder exists, cannot be written, or is to be replaced but is no capture.
    DeviceError
        If there is nothing to launch, or a launch fails.
    """
    require_folder(folder, overwrite=overwrite)
    bound = [(kernel, {**kernel.arguments, **changed}) for kernel, changed in launches]
    if not bound:
        raise DeviceError(f"{facts['what']} launches nothing")
    names = _array_names([arguments for _, arguments in bound])
    described = [_launch(kernel, arguments, names) for kernel, arguments in bound]
    arrays = {name: array for array, name in names.items()}
    written = {
        names[arguments[p.name]]
        for kernel, arguments in bound
        for p in kernel.kernel.parameters
        if isinstance(arguments[p.name], DeviceArray) and not p.const
    }
    before = state_hash()
    inputs = {name: array.get() for name, array in arrays.items()}
    for kernel, changed in launches:
        kernel(**changed)
    expected = {name: arrays[name].get() for name in sorted(written)}
    device = program.device
    text = {
        **facts,
        "societies": package_version(),
        "state_sha256_before": before,
        "state_sha256_after": state_hash(),
        "launches": described,
        "build_options": list(program.options),
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
        kernels=", then ".join(f"kernel {launch['kernel']}" for launch in described),
        device=device.name,
        folder=folder.name,
    )
    files = {
        "kernel.cl": program.source,
        "source.cl": program.amalgamated.text,
        "config.yaml": config_text,
        "README.txt": readme,
        "driver.py": Path(__file__).with_name("driver.py").read_text(encoding="utf-8"),
        MARK: json.dumps(text, indent=1) + "\n",
    }
    _write(folder, files, {"inputs.npz": inputs, "expected.npz": expected}, overwrite)


def require_folder(folder: Path, *, overwrite: bool) -> None:
    """Say at once what stands in the way of the folder.

    Raises
    ------
    OutputError
        If it exists, unless it is a capture and to be overwritten, or if it has no parent.
    """
    if folder.exists() or folder.is_symlink():
        if not overwrite:
            raise OutputError(
                f"{folder}: exists already.\n"
                "Choose another --out, or replace an older capture with --overwrite."
            )
        if not (folder / MARK).is_file() or folder.is_symlink():
            raise OutputError(f"{folder}: is no capture, so it is not replaced.")
    if not folder.absolute().parent.is_dir():
        raise OutputError(f"{folder}: there is no folder {folder.absolute().parent} to put it in.")


def _array_names(arguments: Sequence[Mapping[str, Any]]) -> dict[DeviceArray, str]:
    """Return a name for every array: that of its first parameter, numbered where two share one."""
    names: dict[DeviceArray, str] = {}
    for given in arguments:
        for name, value in given.items():
            if isinstance(value, DeviceArray) and value not in names:
                taken = set(names.values())
                numbered = (f"{name}_{i}" for i in range(2, len(taken) + 3))
                names[value] = next(n for n in (name, *numbered) if n not in taken)
    return names


def _launch(
    bound: BoundKernel, arguments: Mapping[str, Any], names: Mapping[DeviceArray, str]
) -> dict[str, Any]:
    """Return a launch as launch.json has it."""
    kernel, rows = bound.kernel, []
    for parameter in kernel.parameters:
        value = arguments[parameter.name]
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
    if bound.sizes is None:
        raise DeviceError(f"kernel {kernel.name} has no work-items: there is nothing to capture")
    return {
        "kernel": kernel.name,
        "global_size": list(bound.sizes[0]),
        "local_size": list(bound.sizes[1]),
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
    """Write everything aside and give it its name at the end."""
    aside = None
    try:
        parent = folder.absolute().parent
        aside = Path(tempfile.mkdtemp(dir=parent, prefix=f".{folder.name}."))
        aside.chmod(0o755)
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
