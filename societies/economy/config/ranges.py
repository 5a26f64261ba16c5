"""Which ranges of numbers do keys of an economy allow?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from societies.config.model import LARGEST_REAL, SMALLEST_REAL

LONGEST_EXPERIENCE = 100_000  # entries of an effort table
MOST_RESOURCES = 1024
MOST_ATTEMPTS = 256  # a meeting has its queue in local memory
MOST_ROUNDS = 100_000
DEFAULT_MENU = 6
DEFAULT_RESOURCES_IN_TOOL = 5
DEFAULT_COMPONENTS = 6
LONGEST_MEMORY = 1000

NotNegative = Annotated[float, Field(ge=0, le=LARGEST_REAL)]
Positive = Annotated[float, Field(ge=SMALLEST_REAL, le=LARGEST_REAL)]
MoreThanOne = Annotated[float, Field(gt=1, le=LARGEST_REAL)]
AtLeastOne = Annotated[float, Field(ge=1, le=LARGEST_REAL)]
Experience = Annotated[float, Field(ge=1, le=LONGEST_EXPERIENCE)]
