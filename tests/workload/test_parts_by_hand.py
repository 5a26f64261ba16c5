"""Do the small parts of which runs are made do what they say where it matters rarely? By hand."""

from __future__ import annotations

import copy
import dataclasses
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pytest
import tallies
import xarray as xr
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import societies.words
from societies import SocietiesError, config_from_dict
from societies.config.model import Conflict
from societies.workload import Setup
from societies.workload.running import devices, file, points, provenance, registry, varying
from societies.workload.running.batches import Batches
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.tables import table_of
from societies.workload.values import copies, keys

ECONOMY = config_from_dict({"workload": "economy", "agents": 2, "resources": 2, "days": 3})


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


# -- keys -----------------------------------------------------------------------------------------


class Plain(BaseModel):
    number: int = 1


def test_a_key_without_unit_meaning_or_advice_has_none():
    assert varying.unit_and_meaning(Plain, "number") == ("", "")
    assert varying._instead(Plain, "number") == ""


def test_the_type_of_an_entry_is_that_of_its_list():
    model = type(ECONOMY)
    assert varying.field_of(model, "utility.scale.1") == varying.field_of(model, "utility.scale")
    assert varying.field_of(model, "seed") is model.model_fields["seed"].annotation


def test_a_number_has_the_type_that_its_key_declares():
    assert type(keys._number(1, FieldInfo(annotation=float))) is float
    assert type(keys._number(1, FieldInfo(annotation=int))) is int
    assert (
        keys.allowed_words(Literal["a", "b"] | None)
        == ("a", "b")
        == keys.allowed_words(Literal["a", "b"])
    )
    assert keys.allowed_words(int | None) == ()


def test_warnings_include_interventions_that_overlap(monkeypatch):
    said = Conflict(("interventions",), "two at a time")
    monkeypatch.setattr(points, "overlaps", lambda config: iter([said]))
    assert said in [*tallies.config().warnings()]


# -- copies whose parameters differ ---------------------------------------------------------------


@dataclasses.dataclass
class P:
    same: int
    own: int

    @property
    def twice(self):
        return 2 * self.same


def test_parameters_of_copies_can_be_copied_and_have_what_is_the_same():
    given = SimpleNamespace(configs=[(1, 2), (1, 3)])
    one = copies.Copies(given, lambda numbers: P(*numbers))
    assert (one.same, one.twice) == (1, 2)
    with pytest.raises(AttributeError, match="own may differ between copies"):
        _ = one.own
    assert copy.copy(one).same == 1  # which asks for methods before there are attributes


# -- files and tables -----------------------------------------------------------------------------


def test_a_file_whose_checkpoint_is_still_to_come_is_distinguished_from_one_that_has_none(
    tmp_path, monkeypatch
):
    for every, said in (
        (2, r"has no checkpoint yet; let its run continue for some days$"),
        (0, r"has no checkpoints, which record.checkpoint switched off\n"),
    ):
        config, path = (
            tallies.config(days=4, record={"checkpoint": every}),
            tmp_path / f"{every}.h5",
        )
        societies.run(config, device="reference", out=path)
        setup = Setup(tallies.WORKLOAD, config)
        before = len([*Path("/proc/self/fd").iterdir()])
        if every:
            assert file.checkpoint_of(setup, path)[0] == 4
        with monkeypatch.context() as patch:
            patch.setattr(file.checkpoints, "latest", lambda *_: None)
            for _ in range(3):
                with pytest.raises(SocietiesError, match=said):
                    file.checkpoint_of(setup, path)
        assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_a_column_without_dimensions_is_named():
    with pytest.raises(SocietiesError, match=r"table: x: needs a dimension society; it has none$"):
        table_of(xr.Dataset({"x": 1.0}))
    with pytest.raises(SocietiesError, match=r"needs a dimension society; it has a, b$"):
        table_of(xr.Dataset({"x": (("a", "b"), np.zeros((1, 2)))}))


def test_a_file_says_how_it_was_made_as_far_as_that_is_known(monkeypatch):
    for command, model in (("", None), ("societies run x.yaml", "a paper")):
        known = {"tallies": SimpleNamespace(text="a paper")} if model else {}
        monkeypatch.setattr(provenance, "command_line", lambda command=command: command)
        monkeypatch.setattr(provenance.citation, "references", lambda known=known: known)
        expected = {"reference": "a paper", "command": command} if command else {}
        assert provenance.how_made("tallies") == expected


def test_a_detail_has_a_name_of_its_own_where_another_variable_has_it(monkeypatch):
    """A series, or the last state; the entries of a dimension are numbered from 0."""
    setup = Setup(tallies.WORKLOAD, tallies.config(record={"detail": 2}))
    one = SeriesAndDetail(setup)
    assert one._detail_name("total") == "detail_total"  # a series
    assert one._detail_name("tally") == "detail_tally"  # recorded at the end, too
    assert one._detail_name("other") == "other"
    cells = {each.name: each.values for each in one.coordinates()}["cell"]
    assert np.array_equal(cells, [0, 1])


# -- workloads ------------------------------------------------------------------------------------


def test_entry_points_of_this_package_are_read_alone(monkeypatch):
    asked = []
    own = metadata.EntryPoint("walk", "walks:WORKLOAD", registry.GROUP)
    other = metadata.EntryPoint("script", "walks:main", "console_scripts")

    def distribution(name):
        asked.append(name)
        if len(asked) > 1:
            raise metadata.PackageNotFoundError
        return SimpleNamespace(entry_points=metadata.EntryPoints([own, other]))

    monkeypatch.setattr(metadata, "distribution", distribution)
    for expected in ({"walk": own}, {}):
        registry._of_distribution.cache_clear()
        assert registry._of_distribution() == expected
    registry._of_distribution.cache_clear()
    assert asked == ["societies"] * 2


@pytest.mark.parametrize(
    ("entries", "given", "same", "installed"),
    [
        (["tallies"], [], True, True),
        ([], [], True, False),
        (["tallies"], ["tallies"], True, False),
        (["tallies"], [], False, False),
    ],
)
def test_other_processes_find_what_an_entry_point_names(
    monkeypatch, entries, given, same, installed
):
    """Not what a file gave, nor another workload of the same name."""
    monkeypatch.setattr(registry, "_entries", lambda: dict.fromkeys(entries))
    monkeypatch.setattr(registry, "_GIVEN", dict.fromkeys(given))
    monkeypatch.setattr(registry, "workload", lambda name: tallies.WORKLOAD if same else None)
    assert registry.installed(tallies.WORKLOAD) is installed


def test_the_file_of_an_entry_point_is_found_or_there_is_none(tmp_path):
    entry = metadata.EntryPoint("x", "societies.words:X", registry.GROUP)
    path = Path(societies.words.__file__).resolve()
    assert registry._is_in(entry, path) and not registry._is_in(entry, tmp_path)
    for module in ("sys", "no_such_module_here", "societies.nothing"):
        entry = metadata.EntryPoint("x", f"{module}:X", registry.GROUP)
        assert not registry._is_in(entry, path)


# -- devices and batches --------------------------------------------------------------------------


def test_listed_devices_have_to_exist_and_only_gpus_are_used_together(monkeypatch):
    def choose(name):
        if name == "9:9":
            raise SocietiesError("no such device")
        return SimpleNamespace(kind="cpu", index="0:0")

    monkeypatch.setattr(devices, "choose_device", choose)
    monkeypatch.setattr(devices, "list_devices", lambda: [SimpleNamespace(index=i) for i in "ab"])
    monkeypatch.setattr(devices, "_alike", lambda one, other: True)
    assert devices.local_devices("0:0,0:1") == ["0:0", "0:1"]
    with pytest.raises(SocietiesError, match="no such device"):
        devices.local_devices("0:0,9:9")
    assert devices.local_devices("auto") == ["auto"]


def test_events_and_series_of_batches_are_put_together():
    setup = Setup(tallies.WORKLOAD, tallies.config(days=4, replicates=3))
    from societies.workload.running.batches import engine_of

    whole, _, _ = engine_of(setup, "reference")
    parts, _, _ = engine_of(setup, "reference", batch=2)
    assert isinstance(parts, Batches)
    for one in (whole, parts):
        one.start()
        one.run_ticks(1, 4)
    for name, rows in whole.events().items():
        assert sorted(rows.tolist()) == sorted(parts.events()[name].tolist())
    assert whole.logs()["count"].tolist() == parts.logs()["count"].tolist()
