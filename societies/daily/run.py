"""How is such a model run from its configuration to its file: plan, run, resume, verify."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies import verifying
from societies.daily.config import DailyConfig
from societies.daily.engines import (
    LOG_DAYS,
    DeviceEngine,
    Engine,
    ReferenceEngine,
    workgroup_size,
)
from societies.daily.file import Contents
from societies.daily.model import Model
from societies.device import Device
from societies.output import ResultFile, open_results
from societies.output.provenance import checkpoint_of, reopen, session
from societies.running import (
    Interruption,
    Plan,
    Progress,
    RunReport,
    block_end,
    byte_count,
    checkpoint_number,
    chosen_device,
    describe_checkpoints,
    device_failures,
    interrupted,
    interrupts,
    is_checkpoint,
    next_block,
    society_numbers,
)
from societies.sufficiency import room_warnings
from societies.verifying import VerifyReport, days_to_verify


def run(
    model: Model,
    config: DailyConfig,
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Run a configuration and write its file while running; see `societies.run`."""
    began = time.perf_counter()
    path = Path(out) if out is not None else Path(f"{model.name}.h5")
    contents = Contents(model, config)
    file, start = None, None
    with ExitStack() as stack:
        stop = stack.enter_context(interrupts())
        # What stands in the way of the file is said before any kernel is built.
        if resume:
            file = stack.enter_context(reopen(path, config, model.version))
            start = file.latest_checkpoint()
            if start:
                contents.require_checkpoint(path, *start)
        else:
            contents.require_room(path, overwrite=overwrite)
        first = start[0] + 1 if start else 1
        try:
            if file and start and first > config.days:  # complete: there is nothing to simulate
                name, digest = str(file.attributes["device"]), state_hash(model, start[1])
            else:
                with stop.building():
                    engine, name, facts = _engine(model, config, device)
                file = file or stack.enter_context(
                    contents.create(path, facts, overwrite=overwrite)
                )
                file.log_session(session(first, facts))
                with device_failures(file, config.days):
                    if start:
                        engine.load(start[1])
                    else:
                        engine.start()
                    _simulate(engine, file, contents, first, stop, progress)
                    digest = state_hash(model, engine.state())
        except KeyboardInterrupt:
            raise interrupted(file, config.days) from None
    return RunReport(
        path=path,
        first_day=first,
        days=config.days,
        societies=config.replicates,
        device=name,
        wall_seconds=time.perf_counter() - began,
        final=_final(model, path),
        state_sha256=digest,
    )


def _simulate(
    engine: Engine,
    file: ResultFile,
    contents: Contents,
    first: int,
    stop: Interruption,
    progress: Progress | None,
) -> None:
    """Run from day ``first`` to the end, writing on the way."""
    model, days = contents.model, contents.config.days
    every = file.checkpoint_interval(contents.config.record.checkpoint)
    block, day = 1, first - 1
    if progress:
        progress(day, days)
    while day < days and not stop.is_set():
        began = time.perf_counter()
        end = block_end(day, block, days, contents.detail_days, every)
        with stop.at_once():
            series = engine.run_days(day + 1, end)
        contents.write_series(file, day + 1, series)
        if end in contents.detail_days:
            contents.write_detail(file, end, engine.state())
        file.commit(end)
        if is_checkpoint(end, days, every):
            file.checkpoint(end, model.kept(engine.state()), checkpoint_number(end, every))
        block = next_block(end - day, time.perf_counter() - began, LOG_DAYS)
        day = end
        if progress:
            progress(day, days)
    if day < days:
        if every:
            file.checkpoint(day, model.kept(engine.state()), checkpoint_number(day, every))
        raise KeyboardInterrupt


def plan(
    model: Model,
    config: DailyConfig,
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
) -> Plan:
    """Say what a run would do, without building or writing anything; see `societies.plan`."""
    sizes = model.sizes(config)
    contents = Contents(model, config)
    saved, on_device = (
        sum(
            math.prod(model.shape(field, config)) * np.dtype(field.dtype).itemsize
            for field in fields
        )
        for fields in ([f for f in model.fields.values() if f.kept], model.fields.values())
    )
    chosen, name, _ = chosen_device(device)
    path = Path(out) if out is not None else Path(f"{model.name}.h5")
    rows = [
        ("societies", society_numbers(config.first_society, config.replicates)),
        *((f"{dim}s", str(length)) for dim, length in sizes.items()),
        ("days", str(config.days)),
        ("device", name if chosen else f"{name} (plain Python)"),
    ]
    if chosen:
        lanes = workgroup_size(chosen, max(sizes.values(), default=1))
        rows.append(("work-items per workgroup", str(lanes)))
    largest = max(
        math.prod(model.shape(field, config)) * np.dtype(field.dtype).itemsize
        for field in model.fields.values()
    )
    lacking = room_warnings(
        chosen, on_device, largest, path, lambda: contents.require_room(path, overwrite=True)
    )
    return Plan(
        [
            *rows,
            ("phases of a day", ", ".join(model.day)),
            ("state", byte_count(on_device)),
            (
                "checkpoints in the file",
                describe_checkpoints(config.record.checkpoint, saved),
            ),
            ("results in the file", byte_count(contents.results_bytes())),
            ("output", f"{path.absolute()}{' (exists)' if path.exists() else ''}"),
        ],
        lacking,
    )


def verify(
    model: Model,
    config: DailyConfig,
    *,
    device: str | Device = "auto",
    days: int | None = None,
    start: str | Path | None = None,
    progress: verifying.Progress | None = None,
) -> VerifyReport:
    """Run device and reference side by side, comparing every bit; see `societies.verify`."""
    begin = checkpoint_of(Path(start), config, model.version) if start else None
    days_to_verify(days, config.days, begin[0] if begin else 0)  # before any kernel is built
    if start and begin:
        Contents(model, config).require_checkpoint(Path(start), *begin)
    engine, name, _ = _engine(model, config, device)
    subject = verifying.Subject(
        engine=engine,
        reference=ReferenceEngine(model, config),
        device=name,
        days=config.days,
        schedule=lambda day: model.day if day else model.start,
        kept=model.kept,
        series=tuple(model.series),
        counts=model.counts,
    )
    return verifying.verify(subject, days=days, begin=begin, progress=progress)


def state_hash(model: Model, state: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the kept state: names, shapes and bytes in the order of the table."""
    digest = hashlib.sha256()
    for name, array in model.kept(state).items():
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()


def _engine(
    model: Model, config: DailyConfig, device: str | Device
) -> tuple[Engine, str, dict[str, str]]:
    chosen, name, facts = chosen_device(device)
    engine = DeviceEngine(model, config, chosen) if chosen else ReferenceEngine(model, config)
    return engine, name, facts


def _final(model: Model, path: Path) -> dict[str, float]:
    """Return the last day's means over societies."""
    with open_results(path) as dataset:
        return {name: float(dataset[name].isel(day=-1).mean()) for name in model.series}
