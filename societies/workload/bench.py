"""How fast is a workload on a device: work a second by number of copies."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from societies.config.model import WorkloadConfig
from societies.device import Device
from societies.errors import ConfigError
from societies.workload.devices import chosen_device
from societies.workload.engines import LOG_TICKS, DeviceEngine, ReferenceEngine
from societies.workload.protocol import Workload


@dataclass(frozen=True)
class Timing:
    """One measurement.

    Attributes
    ----------
    workload, device, work : str
    copies, ticks : int
    seconds : float, of the ticks alone: kernels are built and warm
    work_per_second : float
    build_seconds : float, until the first tick was done
    """

    workload: str
    device: str
    copies: int
    ticks: int
    seconds: float
    work: str
    work_per_second: float
    build_seconds: float

    def row(self) -> dict[str, Any]:
        """Return the measurement as a row of a table."""
        return asdict(self)


def bench(
    workload: Workload[Any, Any],
    config: WorkloadConfig,
    *,
    device: str | Device = "auto",
    copies: Sequence[int] = (),
    ticks: int | None = None,
    repeats: int = 3,
) -> Iterator[Timing]:
    """Time a configuration with different numbers of copies; nothing is written.

    Parameters
    ----------
    copies : numbers of copies; default: that of the configuration
    ticks : how many ticks a measurement takes, from the second on; default: as many as the
        configuration has, at most `LOG_TICKS`
    repeats : measurements of each number of copies

    Raises
    ------
    ConfigError
        If more ticks are asked for than the configuration has.
    DeviceError
        As `societies.errors` says.
    """
    most = workload.ticks(config)
    wanted = min(most, LOG_TICKS) if ticks is None else ticks
    if not 1 <= wanted <= most:
        raise ConfigError(
            f"bench: {wanted} {workload.clock}s are asked for; the configuration has 1 to {most}"
        )
    chosen, name, _ = chosen_device(device)
    for count in copies or (workload.count(config),):
        one = config.model_copy(update={"replicates": count})
        p = workload.parameters(one)
        began = time.perf_counter()
        engine: DeviceEngine[Any] | ReferenceEngine[Any]
        if chosen is None:
            engine = ReferenceEngine(workload, p, first=workload.first(one), copies=count)
        else:
            engine = DeviceEngine(workload, p, chosen, first=workload.first(one), copies=count)
        engine.start()
        engine.run_ticks(1, 1)
        engine.wait()
        built = time.perf_counter() - began
        for _ in range(repeats):
            engine.start()
            engine.wait()
            began = time.perf_counter()
            for first in range(1, wanted + 1, LOG_TICKS):
                engine.run_ticks(first, min(first + LOG_TICKS - 1, wanted))
            engine.wait()
            seconds = time.perf_counter() - began
            work = workload.work_done(one, wanted)
            yield Timing(
                workload.name, name, count, wanted, seconds, workload.work, work / seconds, built
            )
