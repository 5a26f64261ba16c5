"""What does the report of a run of plates contain? The last change, with its step."""

from __future__ import annotations

from typing import Any

from societies.workload.running.report import RunReport


def step_of_change(config: Any, first: int, last: int) -> int:
    """Return the step of the reported change, the last that was computed; 0 if there is none.

    If the file was complete before the run, it is the last step that is recorded.
    """
    series = int(config.record.series)
    recorded = last // series * series
    return (
        recorded if first > last else max(recorded, last // config.check_every * config.check_every)
    )


def plate_report(workload: Any, config: Any, **facts: Any) -> RunReport:
    """Return the report of a run, without a change if the change of no step was computed."""
    if not step_of_change(config, facts["first_tick"], facts["last_tick"]):
        facts["final"] = {}
    return PlateReport(workload, config, **facts)


class PlateReport(RunReport):
    """The report of a run; a change of an earlier step than the last is labelled with its step."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of every run, with the step of the change if it is not the last."""
        step = step_of_change(self.config, self.first_tick, self.last_tick)
        if step == self.last_tick:
            return super().rows
        called = {"change": f"change of step {step}"}
        return [(called.get(name, name), value) for name, value in super().rows]
