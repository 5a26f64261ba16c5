"""Models of rules in Python, which other modules of tests share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
