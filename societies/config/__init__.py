"""How does a YAML file become a checked, frozen configuration, with every problem at its line?"""

from societies.config.document import read_text
from societies.config.load import saved, to_yaml, yaml_of
from societies.config.model import WorkloadConfig
from societies.config.problems import quoted

__all__ = ["WorkloadConfig", "quoted", "read_text", "saved", "to_yaml", "yaml_of"]
