"""Does a sweep of any workload find what a run of each point finds?"""

import numpy as np
import pytest
from small import SMALL, names, quickstart

import societies
from societies import config_from_dict, sweep
from societies.workload.running.registry import workload


def numbers(data, path=()):
    """Yield the dotted keys of all numbers in a configuration, outside of lists."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from numbers(value, (*path, key))
        elif type(value) in (int, float) and key not in ("replicates",) and path != ("record",):
            yield ".".join((*path, key)), value


LONG = ("chess", "havannah", "raytracer")
"""Workloads whose quickstart takes plain Python seconds also in few ticks."""


def few_ticks(name, **more):
    """Return a configuration of a workload that plain Python runs at once."""
    try:
        settings = SMALL[name] if name in LONG else quickstart(name)
    except AssertionError:
        settings = SMALL[name]
    key = workload(name).ticks_key
    if type(settings.get(key)) is int:
        more[key] = min(4, settings[key])
        if settings.get("record", {}).get("detail", 0) > more[key]:
            more["record"] = {**settings["record"], "detail": 2}
    return config_from_dict({"workload": name, **settings, **more})


@pytest.mark.sample
@pytest.mark.parametrize("name", names())
def test_a_point_is_what_its_run_is(name, tmp_path):
    chosen = workload(name)
    config = few_ticks(name)
    base = config.model_dump(exclude_unset=True)
    key, value = next(numbers(config.model_dump()))
    repeated = "replicates" in chosen.config.model_fields
    path = tmp_path / "study.h5"
    report = sweep.run(
        {
            "base": {**base, "workload": name},
            "vary": {"grid": {key: [value]}},
            "replicates": 2 if repeated else 1,
        },
        out=path,
        device="reference",
    )
    assert not report.failures and report.done == report.runs
    more = {"replicates": 2} if repeated else {}
    societies.run(few_ticks(name, **more), device="reference", out=tmp_path / "run.h5")
    with sweep.open_study(path) as study, societies.open_results(tmp_path / "run.h5") as run:
        assert set(study.data_vars) == set(run.data_vars) - {"ticks_committed"}
        for variable in study.data_vars:
            if chosen.timed and run[variable].dims == (chosen.clock,):
                continue  # measured seconds
            own, found = run[variable], study[variable].values
            several = chosen.count(config) > 1 and not repeated
            expected = own.values[np.newaxis]
            if chosen.copies in own.dims and not several:
                expected = own.transpose(chosen.copies, ...).values
            # A run that ends early has fewer ticks; without copies all runs have the same.
            part = found[(slice(None), *(slice(0, length) for length in expected.shape[1:]))]
            expected = np.broadcast_to(expected, part.shape)
            np.testing.assert_array_equal(part, expected, err_msg=variable)
