"""What must be said of a model that lives day by day, so that it is a workload?

A `Model` declares its configuration, its state and the phases of its day, and says what carries
out a phase on a device and in plain Python. From that come `run`, `plan`, `verify` and `capture`:
ensembles, one HDF5 file that is resumed on any device, the comparison of every bit, and folders
that reproduce one phase. `societies new NAME` writes an example; docs/write-a-workload.md explains
it.
"""

from societies.config.model import Conflict, key
from societies.daily.config import DailyConfig
from societies.daily.engines import DeviceEngine, ReferenceEngine
from societies.daily.model import Field, Model, Series, series_macros
from societies.verifying import Count, falls, rises

__all__ = [
    "Conflict",
    "Count",
    "DailyConfig",
    "DeviceEngine",
    "Field",
    "Model",
    "ReferenceEngine",
    "Series",
    "falls",
    "key",
    "rises",
    "series_macros",
]
