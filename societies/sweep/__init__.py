"""How are thousands of configurations run as one study, in one file that survives a kill?

Scripts use the names below; ``societies sweep`` is a thin command line around them.
"""

from societies.output import open_study
from societies.sweep.conduct import run
from societies.sweep.document import Sweep, load_sweep
from societies.sweep.merge import merge
from societies.sweep.plan import plan
from societies.sweep.report import SweepReport

__all__ = ["Sweep", "SweepReport", "load_sweep", "merge", "open_study", "plan", "run"]
