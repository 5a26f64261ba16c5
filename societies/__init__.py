"""Agent-based economics on OpenCL: the same bits on CPU, GPU and in plain Python.

The names below are the whole public interface; the command line is a thin shell over them. They
are imported when first used, so that reading a configuration opens no device.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from societies.analysis import plot_overview
    from societies.errors import SocietiesError
    from societies.opencl import Program, choose_device, list_devices
    from societies.output import open_results
    from societies.workload.checking.bench import bench
    from societies.workload.checking.verify import verify
    from societies.workload.running.plan import plan
    from societies.workload.running.registry import config_from_dict, json_schema, load_config
    from societies.workload.running.run import run, steps

__all__ = [
    "Program",
    "SocietiesError",
    "bench",
    "choose_device",
    "config_from_dict",
    "json_schema",
    "list_devices",
    "load_config",
    "open_results",
    "plan",
    "plot_overview",
    "run",
    "steps",
    "verify",
]

_HOME = {
    "Program": "societies.opencl",
    "SocietiesError": "societies.errors",
    "bench": "societies.workload.checking.bench",
    "choose_device": "societies.opencl",
    "config_from_dict": "societies.workload.running.registry",
    "json_schema": "societies.workload.running.registry",
    "list_devices": "societies.opencl",
    "load_config": "societies.workload.running.registry",
    "open_results": "societies.output",
    "plan": "societies.workload.running.plan",
    "plot_overview": "societies.analysis",
    "run": "societies.workload.running.run",
    "steps": "societies.workload.running.run",
    "verify": "societies.workload.checking.verify",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'societies' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
