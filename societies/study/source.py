"""How is a file of targets or of a calibration read, and how are files found that it names?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any, TypeVar

from societies.config.check import validated
from societies.config.document import Document, from_mapping
from societies.config.load import read_document
from societies.config.model import WorkloadConfig

M = TypeVar("M", bound=WorkloadConfig)


def read_validated(
    source: str | os.PathLike[str] | Mapping[str, Any] | Document,
    model: type[M],
    find: Callable[[str | os.PathLike[str]], FilePath],
    folder: FilePath = FilePath(),
) -> tuple[str, FilePath, Document, M]:
    """Return name, folder, document and checked contents of a file; its kind is optional.

    Raises ConfigError with one line ``file.yaml:12:5  key.path: message`` per problem.

    Parameters
    ----------
    source : a name for which ``find`` returns a path, plain data, or a section of another file
    model : class of the contents; the default of its ``workload`` is the kind of the file
    folder : folder of the other file
    """
    kind = str(model.model_fields["workload"].default)
    if isinstance(source, Document):
        name, document = kind, source
    elif isinstance(source, Mapping):
        name, document = kind, from_mapping(source)
    else:
        path = find(source)
        name, document, folder = str(path), read_document(path, "base: CONFIG"), path.parent
    config = validated(document, model)
    assert isinstance(config, model)
    return name, folder, document, config


def near(folder: FilePath, said: Any) -> Any:
    """Return the path of a file in a folder; return anything else unchanged."""
    return folder / said if isinstance(said, str) and os.path.isfile(folder / said) else said
