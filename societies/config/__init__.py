"""How a YAML file becomes a checked, frozen configuration, with every problem at its line."""

from societies.config.load import config_from_dict, json_schema, load_config, to_yaml
from societies.config.model import WorkloadConfig

__all__ = ["WorkloadConfig", "config_from_dict", "json_schema", "load_config", "to_yaml"]
