"""How does a YAML file become a checked, frozen configuration, with every problem at its line?"""

from societies.config.document import read_text
from societies.config.load import to_yaml
from societies.config.model import WorkloadConfig
from societies.config.problems import quoted

__all__ = ["WorkloadConfig", "quoted", "read_text", "to_yaml"]
