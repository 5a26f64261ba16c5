"""Does a configuration record the variables of the targets' statistics, and as which dataset?"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.config.problems import suggestion
from societies.errors import ConfigError
from societies.study.expressions import variables_in
from societies.study.targets import Targets
from societies.sweep.batch import Result, Shape, run_shape
from societies.sweep.in_memory import Keep
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import contents_of

if TYPE_CHECKING:
    import xarray as xr


def dataset_of(result: Result, shape: Shape, workload: Any) -> xr.Dataset:
    """Return the values of a batch with the names of their dimensions, units and coordinates."""
    import xarray as xr

    found = {}
    for name, values in result.values.items():
        one = shape.variables[name]
        real = values if one.none is None else np.where(values == one.none, np.nan, values)
        found[name] = (("run", *one.dims), real, {"units": one.units, "long_name": one.long_name})
    used = {dim for dims, *_ in found.values() for dim in dims}
    coords = {name: one.values for name, one in shape.coordinates.items() if name in used}
    return xr.Dataset(found, coords, {"clock": workload.clock, "copies": workload.copies})


def require_recorded(targets: Targets, setup: Setup[Any, Any]) -> None:
    """Raise ConfigError for a variable that the configuration does not record.

    The message names the key that records it, if one does.
    """
    recorded = {one.name for one in contents_of(setup).variables()}
    for name, target in targets.statistics.items():
        for key in ("of", "against"):
            text = getattr(target, key)
            for variable in variables_in(text) if text else ():
                if variable not in recorded:
                    message = f"{setup.workload.name} does not record '{variable}'"
                    raise targets.refused(name, key, message + _hint(variable, setup, recorded))


def _hint(variable: str, setup: Setup[Any, Any], recorded: set[str]) -> str:
    data = setup.config.model_dump()
    record = data["record"]
    for key, value in record.items():
        for other in (True,) if isinstance(value, bool) else (1,) if value == 0 else ():
            with suppress(ValueError, KeyError, ConfigError):
                more = {**data, "record": {**record, key: other}}
                own = Setup(setup.workload, type(setup.config).model_validate(more))
                if variable in {one.name for one in contents_of(own).variables()}:
                    return f"; record.{key}: {str(other).lower()} records it"
    return suggestion(variable, recorded) or f"; it records {', '.join(sorted(recorded))}"


def require_statistics(targets: Targets, setup: Setup[Any, Any]) -> None:
    """Raise ConfigError if no run can have the statistics; a trial uses random values."""
    shape, random = run_shape(setup, Keep(targets.variables)), np.random.default_rng(0)
    sizes = {name: len(one.values) for name, one in shape.coordinates.items()}
    values = {
        name: 1 + random.random([1, *({**setup.sizes, **sizes}[dim] for dim in one.dims)])
        for name, one in shape.variables.items()
    }
    targets.evaluate(dataset_of(Result(values, {}, 0.0, ""), shape, setup.workload))
