"""Would HDF5's newer format make the seal of our files needless, and do other programs read it?

Every structure of the format of HDF5 1.10 has a checksum, which HDF5 compares. This script writes
a result file and a study again in that format, with texts of fixed length in place of texts of
variable length, which lie in HDF5's global heap, and the heap has no checksum. It then changes one
byte at a time outside of all raw data, and lets h5py read everything that the file says, in a
process of its own. A flip is *reported* if an error is raised, *unused* if the same is read,
*silent* if something else is read without an error; *killed* means that HDF5 ended the process or
did not come back. The same is done with the format that we use, without our seal and with it.

    python tests/faults/newer_format.py --flips 500 --seed 1
    python tests/faults/newer_format.py --readers --python PYTHON_WITH_NETCDF4
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from flips import contents, datasets, make_files, make_studies, study_contents

from societies.analysis import export
from societies.output import inspect
from societies.output.building import reserve
from societies.output.opening import is_study

SECONDS = 60
"""A reader that takes longer is taken for one that never comes back."""

OF_SCALES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}
"""Attributes that HDF5 writes itself when a scale is made or attached."""


FORMS = {
    "newer, texts as now": (),
    "newer, attributes of fixed length": ("attributes",),
    "newer, all texts of fixed length": ("attributes", "values"),
}
"""Newer forms of a file, each with the texts that have a fixed length."""


def main() -> int:
    """Flip bytes of each form of two files, or let other programs read them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=500, help="of each form of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readers", action="store_true", help="let other programs read the files")
    parser.add_argument("--python", default=sys.executable, help="Python with xarray and netCDF4")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for make in (make_files, make_studies):
            own = folder / make.__name__
            own.mkdir()
            source = make(own)[0]
            forms = {"format used now": source}
            for form, fixed in FORMS.items():
                forms[form] = own / f"{len(forms)}.h5"
                write_newer(source, forms[form], fixed)
            kind = "study" if is_study(source) else "result file"
            if options.readers:
                forms["export --to netcdf"] = own / "exported.nc"
                export(source, "netcdf", out=forms["export --to netcdf"])
                compare_readers(kind, forms, options.python)
                continue
            for form, path in forms.items():
                count(kind, form, path, options, everything)
            count(kind, "format used now, with our seal", source, options, checked)
    return 0


def write_newer(source: Path, path: Path, fixed: Collection[str]) -> None:
    """Write a file again in the format of HDF5 1.10, its values contiguous as they are now."""
    newest = ("v110", "v110")
    with h5py.File(source) as old, h5py.File(path, "w", libver=newest) as new:
        names: list[str] = []
        old.visit(names.append)
        copy_attributes(old, new, "attributes" in fixed)
        for name in names:
            item = old[name]
            if isinstance(item, h5py.Group):
                new.require_group(name)
            elif h5py.check_string_dtype(item.dtype) and item.dtype.kind == "O":
                new.create_dataset(name, data=text([*item.asstr()[...]], "values" in fixed))
            else:
                values = reserve(new, name, item.shape, item.dtype, fill_of(item))
                if values.size:
                    values[...] = item[...]
        for name in names:
            item = old[name]
            copy_attributes(item, new[name], "attributes" in fixed)
            if isinstance(item, h5py.Dataset) and item.is_scale:
                new[name].make_scale(name.rpartition("/")[2])
        for name in names:
            item = old[name]
            for axis, dim in enumerate(item.dims if isinstance(item, h5py.Dataset) else ()):
                for scale in dim.values():
                    if scale != item:
                        new[name].dims[axis].attach_scale(new[scale.name])


def fill_of(item: h5py.Dataset) -> Any:
    """Return the fill value of a dataset of numbers."""
    return item.fillvalue if item.dtype.kind in "iuf" else None


def copy_attributes(old: h5py.HLObject, new: h5py.HLObject, fixed: bool) -> None:
    """Copy attributes, texts as `text` makes them."""
    for name, value in old.attrs.items():
        if name in OF_SCALES:
            continue
        made = text(value, fixed) if isinstance(value, str) else np.asarray(value)
        new.attrs.create(name, made, dtype=made.dtype)


def text(value: str | list[str], fixed: bool) -> np.ndarray:
    """Return texts in UTF-8: each as long as the longest of them, or of variable length."""
    if not fixed:
        return np.array(value, h5py.string_dtype())
    several = [value] if isinstance(value, str) else value
    longest = max(1, *(len(one.encode()) for one in several))
    made = np.array([one.encode() for one in several], h5py.string_dtype("utf-8", longest))
    return made[0:1].reshape(()) if isinstance(value, str) else made


def everything(path: Path) -> str:
    """Return all that h5py reads of a file: names, types, attributes, dimensions, values."""
    said: list[str] = []
    with h5py.File(path) as file:
        items = [("/", file)]
        file.visititems(lambda name, item: items.append((name, item)))
        for name, item in items:
            attributes = [
                (key, np.asarray(value).tolist())
                for key, value in item.attrs.items()
                if key not in OF_SCALES
            ]
            said.append(repr((name, type(item).__name__, sorted(attributes, key=str))))
            if isinstance(item, h5py.Dataset):
                dims = [[scale.name for scale in dim.values()] for dim in item.dims]
                values = item[...]
                about = (values.dtype, values.shape, fill_of(item), item.is_scale, dims)
                said.append(repr(about) + repr(values.tolist()))
    return "\n".join(said)


def checked(path: Path) -> str:
    """Return what this package reads after comparing everything with its checksums."""
    found = inspect(path, check=True)
    if found.damages:
        raise ValueError("; ".join(map(str, found.damages)))
    return repr(study_contents(path) if is_study(path) else contents(path))


def outside(path: Path) -> list[tuple[int, int]]:
    """Return the stretches of a file that hold no raw data."""
    at, found = 0, []
    for first, end in [*sorted(datasets(path)), (path.stat().st_size,) * 2]:
        if first > at:
            found.append((at, first))
        at = max(at, end)
    return found


def count(
    kind: str,
    form: str,
    path: Path,
    options: argparse.Namespace,
    read: Callable[[Path], str],
) -> None:
    """Change bytes of a file outside of its raw data; print how many flips had which outcome."""
    whole, chance = path.read_bytes(), random.Random(options.seed)
    stretches = outside(path)
    places = np.concatenate([np.arange(first, end) for first, end in stretches])
    copy = path.with_name("flipped.h5")
    copy.write_bytes(whole)
    before = outcome(copy, read)
    assert before[0] == "read", before
    found: Counter[str] = Counter()
    for _ in range(options.flips):
        changed = bytearray(whole)
        at = int(places[chance.randrange(len(places))])
        changed[at] ^= chance.randrange(1, 256)
        copy.write_bytes(changed)
        kind_of, said = outcome(copy, read)
        if kind_of == "read":
            kind_of = "unused" if said == before[1] else "silent"
        if kind_of in ("silent", "killed"):
            change = said if kind_of == "killed" else first_change(before[1], said)
            print(f"  {kind_of}: byte {at}, {change}")
        found[kind_of] += 1
    print(
        f"{kind}, {form}: {len(whole)} bytes, {len(places)} outside of raw data, "
        f"{options.flips} flips, seed {options.seed}: {dict(sorted(found.items()))}",
        flush=True,
    )


def first_change(before: str, after: str) -> str:
    """Return where two texts begin to differ."""
    at = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), -1)
    return f"{before[max(0, at - 30) : at + 20]!r} became {after[max(0, at - 30) : at + 20]!r}"


def outcome(path: Path, read: Callable[[Path], str]) -> tuple[str, str]:
    """Let a process read a file: read, reported or killed, and what it read or said."""
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=say, args=(send, path, read))
    process.start()
    send.close()
    said: tuple[str, str] | None = None
    if receive.poll(SECONDS):
        try:
            said = receive.recv()
        except EOFError:
            said = None
    if said is None:
        process.kill()
    process.join()
    return said or ("killed", f"exit code {process.exitcode}")


def say(send: Any, path: Path, read: Callable[[Path], str]) -> None:
    """Send what was read, or the error, to the parent."""
    try:
        said = ("read", read(path))
    except Exception as error:
        said = ("reported", f"{type(error).__name__}: {error}")
    send.send(said)


BY_XARRAY = """
import sys, numpy, xarray
data = xarray.open_dataset(sys.argv[1], engine=sys.argv[2])
names = [sys.argv[4]] if sys.argv[4:] else sorted(data.variables)
if sys.argv[3] == "attribute":
    print(data[names[0]].units)
else:
    for name in names:
        one = data[name]
        print(name, one.dims, one.dtype, numpy.asarray(one.values).ravel().tolist())
"""

BY_R = """
suppressWarnings(library(ncdf4))
of <- commandArgs(TRUE)
file <- nc_open(of[1])
names <- if (length(of) > 2) of[3] else sort(names(file$var))
for (name in names) {
  if (of[2] == "attribute") cat(ncatt_get(file, name, "units")$value, "\\n")
  else cat(name, format(ncvar_get(file, name), digits = 15), "\\n")
}
"""


def questions(kind: str, python: str, folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return commands by program and by what they read; the file is to be put where FILE is."""
    texts = {"study": "error", "result file": "input"}[kind]
    (folder / "read.R").write_text(BY_R)
    r, octave = ["Rscript", str(folder / "read.R"), "FILE"], ["octave-cli", "-q", "--eval"]
    package = "pkg load netcdf; "

    def xarray(engine: str, executable: str) -> dict[str, list[str]]:
        command = [executable, "-c", BY_XARRAY, "FILE", engine]
        return {
            "numbers": [*command, "values", "gini"],
            "texts": [*command, "values", texts],
            "attribute": [*command, "attribute", "gini"],
            "everything": [*command, "values"],
        }

    return {
        "h5dump": {
            "numbers": ["h5dump", "-d", "/gini", "FILE"],
            "texts": ["h5dump", "-y", "-d", f"/{texts}", "FILE"],
            "attribute": ["h5dump", "-a", "/gini/units", "FILE"],
            "everything": ["h5dump", "FILE"],
        },
        "ncdump": {
            "numbers": ["ncdump", "-v", "gini", "FILE"],
            "texts": ["ncdump", "-v", texts, "FILE"],
            "attribute": ["ncdump", "-h", "FILE"],
            "everything": ["ncdump", "FILE"],
        },
        "R, ncdf4": {
            "numbers": [*r, "values", "gini"],
            "texts": [*r, "values", texts],
            "attribute": [*r, "attribute", "gini"],
            "everything": [*r, "values"],
        },
        "Octave, netcdf": {
            "numbers": [*octave, f"{package} disp(ncread('FILE', 'gini'))"],
            "texts": [*octave, f"{package} disp(ncread('FILE', '{texts}'))"],
            "attribute": [*octave, f"{package} disp(ncreadatt('FILE', 'gini', 'units'))"],
            "everything": [*octave, f"{package} ncdisp('FILE')"],
        },
        "Octave, load": {"everything": [*octave, "x = load('-hdf5', 'FILE'); x.gini"]},
        "xarray, h5netcdf": xarray("h5netcdf", sys.executable),
        "xarray, netcdf4": xarray("netcdf4", python),
    }


def compare_readers(kind: str, forms: dict[str, Path], python: str) -> None:
    """Print what each program makes of each form of a file."""
    folder = next(iter(forms.values())).parent
    for program, commands in questions(kind, python, folder).items():
        for form, path in forms.items():
            print(f"{kind}, {form}, {program}:", end=" ")
            for what, command in commands.items():
                whole = [one.replace("FILE", str(path)) for one in command]
                print(what, answer(whole), end="; ")
            print(flush=True)


def answer(command: list[str]) -> str:
    """Return in a word or two what a program did."""
    if shutil.which(command[0]) is None:
        return "not installed"
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}"
    return "read" if done.returncode == 0 and done.stdout else "error"


if __name__ == "__main__":
    sys.exit(main())
