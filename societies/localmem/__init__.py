"""Scratch local memory by `local_malloc`, planned when a kernel is built (docs/local-memory.md)."""

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
