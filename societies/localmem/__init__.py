"""Where does memory from `local_malloc` lie? That is planned when a kernel is built."""

from societies.localmem.plan import plan, plan_file, plan_source
from societies.localmem.planned import Allocation, CallSite, FunctionPlan, KernelPlan, PlannedText
from societies.localmem.table import table

__all__ = [
    "Allocation",
    "CallSite",
    "FunctionPlan",
    "KernelPlan",
    "PlannedText",
    "plan",
    "plan_file",
    "plan_source",
    "table",
]
