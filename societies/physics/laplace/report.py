"""What is printed of a run of plates? Of its last change, in which step that was."""

from __future__ import annotations

from typing import Any

from societies.workload.running.report import RunReport


def step_of_change(config: Any, first: int, last: int) -> int:
    """Return the step of the change that is reported, the last looked at; 0: there is none.

    Of a file that was complete before, it is the last that is recorded.
    """
    series = int(config.record.series)
    recorded = last // series * series
    return (
        recorded if first > last else max(recorded, last // config.check_every * config.check_every)
    )


class PlateReport(RunReport):
    """The report of a run, in which a change of an earlier step is called so."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of any run, with the step of the change where it is not the last."""
        step = step_of_change(self.config, self.first_tick, self.last_tick)
        if step == self.last_tick:
            return super().rows
        called = {"change": f"change of step {step}"}
        return [(called.get(name, name), value) for name, value in super().rows]
