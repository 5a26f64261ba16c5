"""How is a calibration carried out: batches of trials, one file, continued after a kill?

The file holds every trial, in the order in which the method asked for it. A calibration that is
resumed begins again, and takes the trials that the file has instead of computing them: its points
are the same, because a method draws all random numbers from its own seed.
"""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.config import files, to_yaml
from societies.errors import ConfigError, Interrupted, OutputError, SocietiesError, option
from societies.output.files import (
    MAKING,
    READING,
    explained,
    file_for_hdf5,
    require_target,
    written,
)
from societies.output.trailing import (
    BEGIN_AGAIN,
    add_hash,
    hash_holds,
    is_calibration,
    require_hash,
)
from societies.signals import number_of
from societies.study.bands import distances, ends_of
from societies.study.calibration.document import Calibration, load_calibration
from societies.study.calibration.methods import (
    METHODS,
    NO_DRAWS,
    NO_TRIALS,
    Answer,
    Found,
    require_scipy,
)
from societies.study.simulate import MOST_OF_BATCH, Simulator
from societies.study.statistics import Reals
from societies.version import package_version
from societies.workload.declare.protocol import Setup
from societies.workload.running.provenance import git_commit
from societies.workload.running.sources import SOURCES, compare, sources_of, text_of
from societies.workload.running.varying import unit_and_meaning

if TYPE_CHECKING:
    import xarray as xr

SECONDS_OF_WRITING = 5.0
"""A killed calibration loses about this much work, and the part that was being computed."""
Watch = Callable[[int, float], None]
"""Called with (trials done, least distance)."""


@dataclass(eq=False)
class Trials:
    """All trials of a calibration so far.

    Attributes
    ----------
    unit : (trial, parameter) points of the unit cube
    runs : (trial, replicate, statistic)
    """

    unit: Reals
    runs: Reals

    def __len__(self) -> int:
        return len(self.unit)

    def joined(self, unit: Reals, runs: Reals) -> Trials:
        """Return these trials and more."""
        both = ((self.unit, unit), (self.runs, runs))
        return Trials(*(np.concatenate(pair) for pair in both))


@dataclass(frozen=True, eq=False)
class CalibrationReport:
    """Result of a calibration.

    Attributes
    ----------
    path : the file
    data : contents of the file
    computed : trials that this call has computed
    notes : what the user should know, one sentence each
    """

    path: Path
    data: xr.Dataset
    computed: int
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """What the user should know, one sentence each."""
        return list(json.loads(self.data.attrs["notes"]))

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Names and values to print."""
        data = self.data
        best = int(np.argmin(data["distance"].values))
        failed = int(np.isinf(data["distance"].values).sum())
        found = [
            ("method", str(data.attrs["method"])),
            ("trials", f"{data.sizes['trial']}" + (f", {failed} failed" if failed else "")),
            ("least distance", f"{float(data['distance'][best]):.4g} at trial {best}"),
        ]
        for name in data["parameter"].values:
            value = data[f"value_{name}"].values[best]
            text = f"{value:.6g}" if isinstance(value, float) else str(value)
            if data.sizes["draw"]:
                draws = data[f"draw_{name}"].values
                if draws.dtype.kind in "iuf":
                    low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95])
                    text += f"; posterior {middle:.4g}, 90 % in {low:.4g} to {high:.4g}"
            found.append((str(name), text))
        return [*found, ("run it", str(data.attrs["command"])), ("file", str(self.path))]


def calibrate(
    source: str | os.PathLike[str] | Mapping[str, Any] | Calibration,
    *,
    out: str | Path | None = None,
    device: str = "auto",
    resume: bool = False,
    overwrite: bool = False,
    workers: int = 0,
    scheduler: str = "",
    progress: Watch | None = None,
) -> CalibrationReport:
    """Search the parameters with which a model has the statistics that it should have.

    Parameters
    ----------
    source : a YAML file, its contents, or what `load_calibration` returned
    out : the file; default: in the current folder, with the name of the calibration's file
    device, workers, scheduler : as for `societies.sweep.run`
    resume : continue a file, or return its result if it is complete
    overwrite : replace a file

    Returns
    -------
    CalibrationReport

    Raises
    ------
    ConfigError
        If the calibration is not valid, before anything is computed.
    OutputError
        If the file exists, or is one of another calibration.
    Interrupted
        After Ctrl-C, SIGTERM or SIGHUP; the file has the trials that were done before.
    """
    require_scipy()
    own = source if isinstance(source, Calibration) else load_calibration(source)
    path = Path(out) if out is not None else Path(f"{Path(own.name).stem}.nc")
    if resume and overwrite:
        raise ConfigError(f"{option('overwrite', True)} begins again, so it cannot also continue")
    count = len(own.targets.statistics)
    nothing = Trials(np.empty((0, len(own.priors))), np.empty((0, own.replicates, count)))
    if resume:
        known = _read(path, own)
    else:
        require_target(path, 0, overwrite=overwrite)
        known = nothing
    done, taken, trace, wrote = nothing, len(known), np.inf, time.monotonic()
    with own.simulator(device, workers, scheduler) as simulate:
        method = METHODS[own.method](len(own.priors), **own.options)
        try:
            try:
                unit = next(method)
                while True:
                    own_runs = []
                    for part in _parts(unit, own.replicates):
                        runs = _runs(own, simulate, known, len(done), part)
                        done = done.joined(part, runs)
                        own_runs.append(runs)
                        if len(done) > taken and time.monotonic() - wrote > SECONDS_OF_WRITING:
                            _write(path, _dataset(path, own, done, None))
                            wrote = time.monotonic()
                    answer = own.answer(np.concatenate(own_runs))
                    trace = min(trace, float(answer.distance.min()))
                    if progress:
                        progress(len(done), trace)
                    unit = method.send(answer)
            except StopIteration as end:
                found: Found = end.value
            if not np.isfinite(own.answer(done.runs).distance).any():
                raise SocietiesError(f"all {len(done)} trials failed: {_why(own, done, simulate)}")
            data = _dataset(path, own, done, found)
            _write(path, data)
        except KeyboardInterrupt as error:
            if len(done) > taken:
                _write(path, _dataset(path, own, done, None))
            number, count = number_of(error), max(len(done), taken)
            if not count:
                raise Interrupted(
                    "interrupted before any trial was complete; nothing was written", None, number
                ) from None
            said = f"interrupted; {count} trials are in {path}; {option('resume', True)} continues"
            raise Interrupted(said, path, number) from None
        return CalibrationReport(path, data, len(done) - taken, simulate.failures)


def _why(own: Calibration, done: Trials, simulate: Simulator) -> str:
    """Return why no trial has all statistics."""
    if simulate.failures:
        return next(iter(simulate.failures))
    lacking: Any = np.isnan(done.runs).all((0, 1))
    never = [name for name, lacks in zip(own.targets.statistics, lacking, strict=True) if lacks]
    return f"none has a number for {', '.join(never)}" if never else "each lacks a statistic"


def _parts(unit: Reals, replicates: int) -> list[Reals]:
    """Return the points of a batch in parts; the file is written after each part."""
    size = max(1, MOST_OF_BATCH // replicates)
    return [unit[i : i + size] for i in range(0, len(unit), size)]


def _runs(own: Calibration, simulate: Simulator, known: Trials, first: int, unit: Reals) -> Reals:
    """Return the statistics of some trials, from the file as far as it has them."""
    computed = max(0, min(len(known) - first, len(unit)))
    if not np.array_equal(known.unit[first : first + computed], unit[:computed]):
        raise OutputError(
            "the file has other trials than this calibration asks for: another version of NumPy "
            f"or SciPy may draw others; begin again with {option('overwrite', True)}"
        )
    parts = [known.runs[first : first + computed]]
    if computed < len(unit):
        numbers = own.numbers(first + computed, len(unit) - computed)
        parts.append(simulate.runs(own.values(unit[computed:]), numbers))
    return np.concatenate(parts)


def _read(path: Path, own: Calibration) -> Trials:
    import xarray as xr

    if not path.exists():
        raise OutputError(f"{path}: does not exist, so there is nothing to continue")
    with explained(path, READING):
        if hash_holds(path) is None and not is_calibration(path):
            raise OutputError(
                f"{path}: not the file of a calibration, or damaged. Name another file."
            )
        require_hash(path, BEGIN_AGAIN.format(option("overwrite", True)))
        with xr.open_dataset(path, engine="h5netcdf") as data:
            if data.attrs.get("definition_sha256") != own.sha256:
                raise OutputError(
                    f"{path}: is of another calibration; name another file with {option('out')}"
                )
            compare(path, data.attrs, _sources(own), git_commit(), "the calibration")
            units = zip(data["statistic"].values, data["unit_of"].values, strict=True)
            own.targets.units.update({str(name): str(unit) for name, unit in units})
            return Trials(data["unit"].values, data["runs"].values)


def _sources(own: Calibration) -> dict[str, str]:
    """Return the hashes of the model's sources."""
    return sources_of(Setup(own.sweep.workload, own.sweep.base))


def _write(path: Path, data: xr.Dataset) -> None:
    """Replace the file at once, so that a kill leaves the earlier one or the new one."""
    with explained(path, MAKING), written(path) as made:
        with file_for_hdf5(made) as file:
            data.to_netcdf(file, engine="h5netcdf")
        add_hash(made)


def _dataset(path: Path, own: Calibration, done: Trials, found: Found | None) -> xr.Dataset:
    """Return the contents of the file; ``found`` is None before the end."""
    import xarray as xr

    answer, base = own.answer(done.runs), own.sweep.base
    names, statistics = list(own.priors), list(own.targets.statistics)
    ends = np.array([ends_of(one) for one in own.targets.statistics.values()])
    result = found or Found(NO_DRAWS, [], NO_DRAWS, NO_TRIALS, [])
    data: dict[str, Any] = {
        "unit": (("trial", "parameter"), done.unit, {"long_name": "point of the unit cube"}),
        "runs": (("trial", "replicate", "statistic"), done.runs),
        "statistics": (("trial", "statistic"), answer.statistics),
        "distance": ("trial", answer.distance, {"units": "1", "long_name": "from the targets"}),
        "trace": ("batch", np.array(result.trace)),
        "profile": (("parameter", "bin"), result.profile.reshape(len(names), -1)),
        "chosen": ("choice", result.trials, {"long_name": "trials that the result is made of"}),
    }
    for rows, dim, word in ((done.unit, "trial", "value"), (result.draws, "draw", "draw")):
        values = own.values(rows) if rows.size else []
        for i, name in enumerate(names):
            unit, meaning = unit_and_meaning(type(own.sweep.base), name)
            column = np.array([row[i] for row in values])
            column = column if column.dtype.kind in "iuf" else column.astype(str).astype(object)
            data[f"{word}_{name}"] = (dim, column, {"units": unit, "long_name": meaning})
    units = [own.targets.units.get(name, "") for name in statistics]
    coords = {
        **{"parameter": names, "statistic": statistics},
        **{"unit_of": ("statistic", units), "low": ("statistic", ends[:, 0])},
        "high": ("statistic", ends[:, 1]),
    }
    attrs = {
        "title": f"calibration of {base.workload}",
        **{"method": own.method, "workload": base.workload, "configuration": to_yaml(base)},
        **files.file_attributes(path, base.model_dump(mode="json"), base.files()),
        **{"definition": json.dumps(own.definition), "definition_sha256": own.sha256},
        **{"societies_version": package_version(), "complete": int(found is not None)},
        **{"git_commit": git_commit(), SOURCES: text_of(_sources(own))},
        "command": command_of_nearest(own, done, answer),
        "notes": json.dumps(notes(own, done, answer, result)),
    }
    return xr.Dataset(data, coords, attrs)


def command_of_nearest(own: Calibration, done: Trials, answer: Answer) -> str:
    """Return the command that runs the nearest trial with its seeds."""
    if not np.isfinite(answer.distance).any():
        return ""
    best = int(np.argmin(answer.distance))
    (values,) = own.values(done.unit[[best]])
    base = own.sweep.base
    changes = dict(zip(own.priors, values, strict=True))
    if "replicates" in type(base).model_fields:
        changes["replicates"] = own.replicates
        first = next(name for name in type(base).model_fields if name.startswith("first_"))
        ((number, *_),) = own.numbers(best, 1).tolist()
        changes[first] = getattr(base, first) + number
    settings = {**own.changes, **changes}
    words = [f"--set {shlex.quote(f'{key}={json.dumps(one)}')}" for key, one in settings.items()]
    said = own.base if isinstance(own.base, str | os.PathLike) else "CONFIG"
    return " ".join(["societies run", shlex.quote(str(said)), *words])


def notes(own: Calibration, done: Trials, answer: Answer, found: Found) -> list[str]:
    """Return what the user should know, one sentence each."""
    said = list(found.notes)
    if own.shapes:
        keys = ", ".join(own.shapes)
        said.append(f"{keys}: each value is a program to compile, and a launch of its own")
    failed = int(np.isinf(answer.distance).sum())
    if failed:
        said.append(f"{failed} of {len(done)} trials failed: a statistic had no number in any seed")
    far = np.nan_to_num(distances(own.targets.statistics, answer.statistics), nan=np.inf)
    for i, (name, target) in enumerate(own.targets.statistics.items()):
        if not 1 <= far[:, i].min(initial=np.inf) < np.inf:
            continue
        nearest = int(np.argmin(far[:, i]))
        low, high = ends_of(target)
        places = zip(own.priors, done.unit[nearest], strict=True)
        ends = [key for key, place in places if min(place, 1 - place) < 0.05]
        widen = f"widen the prior of {', '.join(ends)}"
        help_ = widen if ends else "calibrate other parameters too"
        value = answer.statistics[nearest, i]
        said.append(
            f"{name}: no trial came near {low:g} to {high:g}; the nearest has {value:.4g} (trial "
            f"{nearest}); {help_}"
        )
    if found.draws.size:
        wide = found.draws.std(0) / np.sqrt(1 / 12)
        said += [
            f"{key}: its posterior is as wide as its prior, so the targets do not identify it"
            for key, ratio in zip(own.priors, wide, strict=True)
            if ratio > 0.9
        ]
    return said
