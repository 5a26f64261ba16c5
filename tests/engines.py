"""How do tests run an economy without a configuration? By the core's engines, from parameters."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.parameters import Parameters
from societies.economy.workload import WORKLOAD
from societies.opencl import Device
from societies.workload.running import engines


class DeviceEngine(engines.DeviceEngine):
    """Runs societies with given parameters on an OpenCL device.

    Parameters
    ----------
    device : Device
    parameters : Parameters
    workgroup : int, optional
        Work-items per workgroup; the results do not depend on it.
    only : collection of str, optional
        Phases that will be run; kernels of other phases are not built.
    """

    def __init__(
        self,
        device: Device,
        parameters: Parameters,
        workgroup: int | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        super().__init__(
            WORKLOAD,
            parameters,
            device,
            first=parameters.first_society,
            copies=parameters.societies,
            work_items=workgroup,
            only=only,
        )

    def run_days(self, first: int, last: int) -> NDArray[Any]:
        """Run days first to last (at most 64) and return (society, day, series) float64."""
        self.run_ticks(first, last)
        return self.logs()["series"]


class ReferenceEngine(engines.ReferenceEngine):
    """Runs societies with given parameters in plain Python.

    Parameters
    ----------
    parameters : Parameters
    """

    def __init__(self, parameters: Parameters) -> None:
        first, copies = parameters.first_society, parameters.societies
        super().__init__(WORKLOAD, parameters, first=first, copies=copies)

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last and return (society, day, series) float64."""
        self.run_ticks(first, last)
        return self.logs()["series"]
