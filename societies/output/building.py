"""How is the layout of a result file written into an empty file, and read back from one?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np

from societies.output.files import CLAIMS
from societies.output.layout import (
    CHECKSUMS,
    CLOCK,
    COMMITS,
    COPIES,
    COUNTER,
    ENDED,
    FILL,
    FURTHER,
    LAYOUT_ATTRIBUTE,
    NO_TICK,
    RESERVED_ATTRIBUTES,
    SEALS,
    SESSION_BYTES,
    SESSION_RECORDS,
    SESSIONS,
    TICKS,
    Coordinate,
    Layout,
    Variable,
)
from societies.output.tables import (
    EVENT,
    NONE,
    EventTable,
    address,
    none_of,
    read_tables,
    scale_names,
)
from societies.words import plural


def build(file: h5py.File, layout: Layout) -> list[h5py.Dataset]:
    """Write all structures and fill values of ``layout`` into the empty ``file``.

    Returns
    -------
    list of h5py.Dataset
        The caller must hold them until the file is flushed: if a dataset is closed earlier, a
        failed write is not reported.
    """
    for key, value in layout.attributes.items():
        file.attrs[key] = value
    file.attrs[LAYOUT_ATTRIBUTE] = layout.version
    file.attrs[CLOCK], file.attrs[COPIES] = layout.clock, layout.copies
    file.attrs[TICKS] = layout.ticks
    # One seal at each end of the file.
    file.create_group("provenance/seal")
    datasets = [reserve(file, SEALS[0], (layout.seal_bytes,), np.dtype(np.uint8))]
    datasets.append(reserve(file, COUNTER, (), np.dtype(np.int64)))
    describe(datasets[-1], layout.clock, f"{plural(layout.clock)} complete in this file")

    if layout.further:
        file.attrs[FURTHER] = " ".join(one.name for one in layout.further)
    dimensions = [one for one in layout.coordinates.values() if not one.along]
    for coordinate in (*dimensions, *layout.further):
        scale = along_dimension(file, coordinate)
        datasets.append(scale)
        if not coordinate.along:
            scale.make_scale(coordinate.name)
        for axis, dim in enumerate(coordinate.along):
            scale.dims[axis].attach_scale(file[dim])
        describe(scale, coordinate.units, coordinate.long_name or coordinate.name)
    for variable in layout.variables.values():
        # All 256 values of a byte may be meant, as in a picture.
        missing = np.dtype(variable.dtype).itemsize > 1 or layout.axis(variable) is not None
        dataset = build_variable(file, variable, layout.shape(variable), missing=missing)
        datasets.append(dataset)
        if variable.lag:
            dataset.attrs["lag"] = variable.lag
    for table in layout.tables.values():
        datasets += build_table(file, table, layout.lengths)

    file.create_group(CHECKSUMS)
    for name, shape in layout.checksums.items():
        place = f"{CHECKSUMS}/{name}"
        file.require_group(place.rpartition("/")[0])
        datasets.append(reserve(file, place, shape, np.dtype(np.uint32)))
    records = (2, 3 + len(layout.tables))
    datasets.append(reserve(file, COMMITS, records, np.dtype(np.int64)))
    file.create_group("checkpoint")
    for slot in range(layout.slots):
        group = file.create_group(f"checkpoint/{slot}")
        state = group.create_group("state")
        datasets.append(reserve(group, "tick", (), np.dtype(np.int64), NO_TICK))
        datasets.append(reserve(group, "checksum", (), np.dtype(np.uint32)))
        for name, (shape, dtype) in layout.state.items():
            datasets.append(reserve(state, name, shape, dtype))
    kind = np.dtype(f"S{SESSION_BYTES}")
    datasets.append(reserve(file, SESSIONS, (SESSION_RECORDS,), kind))
    datasets.append(reserve(file, ENDED, (1,), kind))
    datasets.append(reserve(file, SEALS[1], (layout.seal_bytes,), np.dtype(np.uint8)))
    return datasets


def build_variable(
    file: h5py.File,
    variable: Variable,
    shape: tuple[int, ...],
    *,
    missing: bool,
    first: tuple[str, ...] = (),
) -> h5py.Dataset:
    """Make the dataset of a variable and write its fill values.

    Parameters
    ----------
    missing : whether the fill value is declared as one that reads as missing
    first : dimensions before those of the variable
    """
    dataset = reserve(file, variable.name, shape, np.dtype(variable.dtype), variable.fill)
    for axis, dim in enumerate((*first, *variable.dims)):
        dataset.dims[axis].attach_scale(file[dim])
    describe(dataset, variable.units, variable.long_name or variable.name)
    if missing or variable.none is not None:
        describe_missing(dataset, variable.fill, variable.none)
    return dataset


def read_variable(dataset: h5py.Dataset, dims: tuple[str, ...]) -> Variable:
    """Return the variable that a dataset holds."""
    name, about = dataset.name.lstrip("/"), dataset.attrs
    units, long_name = str(about["units"]), str(about["long_name"])
    fill, lag = dataset.fillvalue.item(), int(about.get("lag", 0))
    return Variable(name, dims, dataset.dtype, units, long_name, fill, lag, none_of(dataset))


def along_dimension(file: h5py.File, coordinate: Coordinate) -> h5py.Dataset:
    """Make the dataset of a coordinate; it is no scale yet and has no attributes."""
    text = coordinate.values.dtype.kind == "U"
    return file.create_dataset(
        coordinate.name,
        data=coordinate.values.astype(object) if text else coordinate.values,
        dtype=h5py.string_dtype() if text else None,
    )


def read_coordinate(dataset: h5py.Dataset, along: tuple[str, ...] = ()) -> Coordinate:
    """Return the coordinate that a dataset holds."""
    text = h5py.check_string_dtype(dataset.dtype) is not None
    values = dataset.asstr()[()] if text else dataset[()]
    units, long_name = (str(dataset.attrs[key]) for key in ("units", "long_name"))
    return Coordinate(dataset.name.lstrip("/"), values, units, long_name, along)


def build_table(
    file: h5py.File, table: EventTable, lengths: Mapping[str, int]
) -> list[h5py.Dataset]:
    """Write the structures of a table and its fill values; return its datasets, as `build` does."""
    group = file.create_group(table.group)
    scale = group.create_dataset(EVENT, data=np.arange(table.rows, dtype=np.int64))
    scale.make_scale(EVENT)
    describe(scale, "", "number of the event")
    datasets = [scale]
    for column in table.columns:
        shape, dtype = table.shape(column, lengths), np.dtype(column.dtype)
        dataset = reserve(group, column.name, shape, dtype, column.fill)
        dataset.dims[0].attach_scale(scale)
        if column.dim:
            dataset.dims[1].attach_scale(file[column.dim])
        describe(dataset, column.units, column.long_name)
        describe_missing(dataset, column.fill, column.none)
        if column.meanings:
            dataset.attrs["flag_values"] = np.arange(len(column.meanings), dtype=dtype)
            dataset.attrs["flag_meanings"] = " ".join(column.meanings)
        datasets.append(dataset)
    return datasets


def read_layout(file: h5py.File) -> Layout:
    """Read back what :func:`build` wrote; a KeyError means that something is missing."""
    coordinates, variables = {}, {}
    names, further = scale_names(file), str(file.attrs.get(FURTHER, "")).split()
    for name, dataset in file.items():
        if not isinstance(dataset, h5py.Dataset) or name == COUNTER:
            continue
        if dataset.is_scale:
            coordinates[name] = read_coordinate(dataset)
            continue
        dims = tuple(names[address(dim[0])] for dim in dataset.dims)
        if name in further:
            coordinates[name] = read_coordinate(dataset, dims)
        else:
            variables[name] = read_variable(dataset, dims)
    attributes = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in file.attrs.items()
        if key not in RESERVED_ATTRIBUTES
    }
    slots = file["checkpoint"]
    arrays = slots["0/state"] if len(slots) else {}
    state = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    about = file.attrs
    return Layout(
        coordinates,
        variables,
        attributes,
        state,
        read_tables(file),
        str(about[CLOCK]),
        str(about[COPIES]),
        int(about[TICKS]),
        len(slots),
        int(about[LAYOUT_ATTRIBUTE]),
    )


def reserve(
    group: h5py.Group,
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    fill: float | None = None,
) -> h5py.Dataset:
    """Make a contiguous dataset; HDF5 writes its fill values now, a buffer at a time.

    Zeros are not written if the file's space was reserved (`CLAIMS`), because it reads as zeros:
    two checkpoints of a large society would be gigabytes of them.

    This uses h5py's low-level calls because ``create_dataset`` ignores the allocation time of
    scalars.
    """
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_layout(h5py.h5d.CONTIGUOUS)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    zeros = not fill and CLAIMS
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER if zeros else h5py.h5d.FILL_TIME_ALLOC)
    if fill is not None:
        plan.set_fill_value(np.array(fill, dtype=dtype))
    plan.set_obj_track_times(False)
    kind = h5py.h5t.py_create(dtype, logical=True)
    space = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), kind, space, dcpl=plan))


def describe(dataset: h5py.Dataset, units: str, long_name: str) -> None:
    """Write the attributes that xarray and figures show; no units means a pure number."""
    dataset.attrs["units"] = units or "1"
    dataset.attrs["long_name"] = long_name


def describe_missing(dataset: h5py.Dataset, fill: float | int | None, none: int | None) -> None:
    """Write which integers xarray and others read as missing: those not written, and ``none``."""
    if dataset.dtype.kind in "iu":
        dataset.attrs[FILL] = np.array(fill, dataset.dtype)
        if none is not None:
            dataset.attrs[NONE] = np.array(none, dataset.dtype)
