"""Scratch local memory by `local_malloc`, planned when a kernel is built (docs/local-memory.md)."""

from societies.localmem.plan import plan, plan_file, plan_source
from societies.localmem.planned import Allocation, FunctionPlan, KernelPlan, Plan, Step
from societies.localmem.table import table

__all__ = [
    "Allocation",
    "FunctionPlan",
    "KernelPlan",
    "Plan",
    "Step",
    "plan",
    "plan_file",
    "plan_source",
    "table",
]
