"""What does the report of an economy run contain, in days and agents?"""

from __future__ import annotations

from dataclasses import dataclass

from societies.workload.running import report


@dataclass(frozen=True)
class EconomyReport(report.RunReport):
    """Report of an economy run; it also has the attributes of every workload's report."""

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
        """Agent-days computed per second."""
        return self.work_per_second

    @property
    def means_over(self) -> str:
        """Text that says over which agents the means of the closing table are taken."""
        return "living agents" if self.copies == 1 else f"{self.copies} societies' agents"
