"""What does the workload of a result declare of its page, and which network does the file hold?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.config import read_text
from societies.config.files import as_saved, never_carried_out
from societies.errors import ConfigError, SocietiesError
from societies.output import open_results
from societies.output.reading import event_tables
from societies.view.steering import page_notes
from societies.workload import Setup
from societies.workload.declare.scene import Links, Scene
from societies.workload.running.registry import config_from_dict, workload


@dataclass(frozen=True, eq=False)
class Recorded:
    """The network of a file.

    ``columns`` are those of the table of its links; ``ticks`` are those that are recorded, some of
    which may have no links.
    """

    net: Links
    columns: dict[str, NDArray[Any]]
    ticks: list[int]
    agents: int


@dataclass(frozen=True, eq=False)
class DeclaredPage:
    """What the page of a file has of its workload.

    Attributes
    ----------
    title : the workload and its summary; "" if it is not known
    scene, network : both empty if it is not known
    remarks : warnings, and what happens on the way
    """

    title: str = ""
    scene: Scene = field(default_factory=Scene)
    network: Recorded | None = None
    remarks: Mapping[str, Any] = field(default_factory=dict)


def declared(path: Path, attributes: Mapping[str, Any]) -> DeclaredPage:
    """Return what the workload of a file declares.

    A model or rules in files of Python are carried out only if this machine has done so before: the
    file may come from anyone. The page then says what it lacks.
    """
    try:
        read = read_text(str(attributes.get("configuration", "")), "configuration").data
        data = as_saved(read, attributes, path)
        if unknown := never_carried_out(data):
            raise ConfigError(f"{unknown} was never carried out on this machine")
        config = config_from_dict(data)
        kind = workload(config.workload)
        setup = Setup(kind, config)
        scene, said = kind.scene(setup.p), page_notes(config, config, kind)
    except SocietiesError as error:
        why = " ".join(str(error).split())
        said = {"happenings": [], "warnings": [f"shown without what the model declares: {why}"]}
        return DeclaredPage(remarks=said)
    net, network = scene.network, None
    if net is not None and net.table in event_tables(path):
        with open_results(path, events=net.table) as table:
            clock, copies = kind.clock, kind.copies
            wanted = (copies, clock, "giver", "taker", *net.columns.values())
            columns = {one: np.asarray(table[one].values) for one in wanted}
        listed = [one for one in config.model_dump()["record"]["network"] if one <= setup.ticks]
        network = Recorded(net, columns, listed, setup.sizes[setup.fields[net.taker].dims[0]])
    return DeclaredPage(f"{kind.name}: {kind.summary}", scene, network, said)
