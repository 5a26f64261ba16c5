"""What did a run of the economy do, in words of days and agents?"""

from __future__ import annotations

from dataclasses import dataclass

from societies.workload.running import report


@dataclass(frozen=True)
class RunReport(report.RunReport):
    """What a run did; further attributes are those of every run."""

    @property
    def agents(self) -> int:
        """Agents in a society."""
        return int(self.config.agents)

    @property
    def resources(self) -> int:
        """Resources in a society."""
        return int(self.config.resources)

    @property
    def agent_days_per_second(self) -> float:
        """How fast it went."""
        return self.work_per_second

    @property
    def means_over(self) -> str:
        """What the numbers of the closing table are means over."""
        return "living agents" if self.copies == 1 else f"{self.copies} societies' agents"
