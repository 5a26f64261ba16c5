"""How are results stored on disk so that no committed value is ever lost?

One HDF5 file per run: made at full size at the start, filled while running, opened by xarray.
"""

from societies.output.inspection import Inspection, inspect
from societies.output.layout import Coordinate, Variable
from societies.output.reading import open_results, units_of
from societies.output.resultfile import ResultFile
from societies.output.studies import open_study
from societies.output.tables import Column, EventTable

__all__ = [
    "Column",
    "Coordinate",
    "EventTable",
    "Inspection",
    "ResultFile",
    "Variable",
    "inspect",
    "open_results",
    "open_study",
    "units_of",
]
