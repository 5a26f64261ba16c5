"""A file of unknown origin can neither reach other files nor make a reader wait for ever."""

import os
import threading
import warnings

import h5py
import numpy as np
import pytest
from forging import forge, forge_words

import societies
from societies.analysis import plot_overview
from societies.cli import main
from societies.errors import OutputError
from societies.inputs import HDF5
from societies.output import Coordinate, ResultFile, Variable, inspect, open_results, stored_seal
from societies.output.layout import declare
from societies.output.tables import Column, EventTable
from societies.output.trust import opened

DECLARED = {
    "coordinates": [Coordinate("society", np.arange(2)), Coordinate("day", np.arange(1, 6))],
    "variables": [Variable("gini", ("society", "day"), "float64", "1", "inequality")],
    "attributes": {"workload": "economy"},
    "state": {"held": ((2, 3), np.int32)},
}
SECRET = b"the only copy of a whole thesis, 100 bytes of it at least".ljust(128, b".")


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "run.h5"
    ResultFile.create(found, declare(**DECLARED)).close()
    return found


def test_our_mark_is_found_wherever_it_is_but_not_far_in_other_programs_files(path, tmp_path):
    """All of a terabyte was searched, and Ctrl-C did not end it."""
    content, first = path.read_bytes(), HDF5.ljust(64, b"\0")
    size = stored_seal._WINDOW
    for head, found in ((first, True), (bytes(64), False)):
        with open(tmp_path / "other", "w+b") as file:
            file.write(head)
            for place in (size, 3 * size - content.index(stored_seal.MAGIC) - 2):
                file.truncate(64)
                file.seek(place)
                file.write(content)
                file.flush()
                seal = stored_seal.find(file.fileno())
                assert (seal is not None) == found


@pytest.fixture
def victim(tmp_path):
    """Another file of the user, which no stranger's file may reach."""
    found = tmp_path / "thesis.txt"
    found.write_bytes(SECRET)
    return found


def external_storage(file, victim):
    del file["checkpoint/0/state/held"]
    file["checkpoint/0/state"].create_dataset(
        "held", (2, 3), np.int32, external=[(str(victim), 0, 24)]
    )


def external_link(file, victim):
    with h5py.File(victim.with_suffix(".h5"), "w") as other:
        other["gini"] = np.zeros((2, 5))
    del file["gini"]
    file["gini"] = h5py.ExternalLink(victim.with_suffix(".h5"), "/gini")


def external_group(file, victim):
    with h5py.File(victim.with_suffix(".h5"), "w") as other:
        other.create_group("checkpoint")
    del file["checkpoint"]
    file["checkpoint"] = h5py.ExternalLink(victim.with_suffix(".h5"), "/checkpoint")


def virtual_dataset(file, victim):
    with h5py.File(victim.with_suffix(".h5"), "w") as other:
        other["gini"] = np.zeros((2, 5))
    del file["gini"]
    parts = h5py.VirtualLayout((2, 5), np.float64)
    parts[:] = h5py.VirtualSource(victim.with_suffix(".h5"), "gini", (2, 5))
    file.create_virtual_dataset("gini", parts)


def soft_link(file, victim):
    file["elsewhere"] = h5py.SoftLink("/gini")


def dangling_soft_link(file, victim):
    file["nowhere"] = h5py.SoftLink("/elsewhere/gini")


def cycle_of_groups(file, victim):
    file["checkpoint/0/state/again"] = file["checkpoint"]


def cycle_to_the_root(file, victim):
    file["checkpoint/root"] = file["/"]


def two_names(file, victim):
    file["checkpoint/0/state/more"] = file["checkpoint/1/state/held"]


def too_many_objects(file, victim):
    for i in range(300):
        file.create_group(f"g{i}/inner")


def larger_than_the_file(file, victim):
    del file["gini"]
    file.create_dataset("gini", (10**6, 10**6), np.float64)


def compressed_beyond_reason(file, victim):
    del file["gini"]
    file.create_dataset("gini", (10**6, 10**6), np.float64, chunks=(100, 100), compression="gzip")


ATTACKS = (
    *(external_storage, external_link, external_group, virtual_dataset, soft_link),
    *(dangling_soft_link, cycle_of_groups, cycle_to_the_root, two_names, too_many_objects),
    *(larger_than_the_file, compressed_beyond_reason),
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_file_that_leads_out_of_itself_is_refused(path, victim, attack, monkeypatch):
    monkeypatch.setattr("societies.output.trust.MOST_OBJECTS", 500)
    with h5py.File(path, "r+") as file:
        attack(file, victim)
    forge(path)
    before = path.read_bytes()
    for opening in (ResultFile.resume, open_results, opened):
        with pytest.raises(OutputError) as caught:
            opening(path)
        reported = str(caught.value)
        assert str(path) in reported and ("is refused" in reported or "is damaged" in reported)
        assert len(reported.splitlines()) <= 2
    assert path.read_bytes() == before and victim.read_bytes() == SECRET


def a_counter_of_many(file):
    del file["ticks_committed"]
    file["ticks_committed"] = [1, 2]


def no_counter_but_a_group(file):
    del file["ticks_committed"]
    file.create_group("ticks_committed")


def a_reference_for_a_title(file):
    file.attrs["title"] = file.ref


@pytest.mark.parametrize(
    "change",
    (a_counter_of_many, no_counter_but_a_group, a_reference_for_a_title),
    ids=lambda change: change.__name__,
)
def test_other_types_than_a_run_writes_are_reported_as_damage(path, change):
    with h5py.File(path, "r+") as file:
        change(file)
    forge(path)
    with pytest.raises(OutputError, match="not a result file of societies, or damaged"):
        open_results(path)


def test_a_clock_that_is_no_column_is_reported_as_damage(tmp_path):
    table = EventTable("deals", (Column("day", "int32", "day", "day"),), 4)
    path = tmp_path / "run.h5"
    ResultFile.create(path, declare(**DECLARED, tables=[table])).close()
    with h5py.File(path, "r+") as file:
        file.attrs["clock"] = "\x1b[2J"
    forge(path)
    with pytest.raises(OutputError, match="not a result file of societies, or damaged"):
        open_results(path, events="deals")


@pytest.mark.ci
def test_of_thousands_of_false_seals_only_some_are_looked_at(path, monkeypatch):
    """Each claims megabytes, which would be hashed for every one of them."""
    looked, unpacked = [], stored_seal.unpacked

    def counted(*found):
        looked.append(found)
        return unpacked(*found)

    monkeypatch.setattr(stored_seal, "unpacked", counted)
    false = stored_seal.MAGIC + (6 << 20).to_bytes(8, "little") + (1 << 20).to_bytes(8, "little")
    whole = path.read_bytes()
    broken = whole.replace(stored_seal.MAGIC, bytes(len(stored_seal.MAGIC)))
    path.write_bytes(broken + false * 50_000 + bytes(6 << 20))
    for opening in (ResultFile.resume, open_results):
        with pytest.raises(OutputError, match="damaged"):
            opening(path)
    assert 0 < len(looked) <= 3 * stored_seal._MOST  # once on resuming, twice on opening


FORGED = {
    "axis": lambda words: words["series"]["gini"].update(axis=10**30),
    "axis beyond": lambda words: words["series"]["gini"].update(axis=2),
    "fill": lambda words: words["series"]["gini"].update(fill=-5),
    "fill too short": lambda words: words["series"]["gini"].update(fill="00"),
    "lag": lambda words: words["series"]["gini"].update(lag="<c16"),
    "no coordinate": lambda words: words["series"]["gini"].update(dim="week"),
    "unknown variable": lambda words: words["series"].update(hhi=words["series"]["gini"]),
    "fewer checksums": lambda words: words["extents"].update(
        {"checksums/gini": [*words["extents"]["checksums/gini"][:2], [1]]}
    ),
    "no counter": lambda words: words["extents"].pop("ticks_committed"),
    "a counter of many": lambda words: words["extents"].update(
        ticks_committed=[*words["extents"]["ticks_committed"][:2], [0]]
    ),
    "objects": lambda words: words["extents"]["gini"].__setitem__(1, "|O"),
    "texts without length": lambda words: words["extents"].update(gini=[0, "|S0", [1 << 40, 1]]),
    "outside": lambda words: words["extents"]["gini"].__setitem__(0, 1 << 62),
    "slots": lambda words: words.update(slots={}),
    "many slots": lambda words: words.update(slots=1 << 60),
    "ticks": lambda words: words.update(ticks="many"),
    "attributes": lambda words: words.update(attributes=1),
    "a table without columns": lambda words: words["tables"].update(inventions=[]),
    "columns": lambda words: words["tables"].update(inventions=[0]),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_seal_that_makes_no_sense_is_none(path, forged):
    forge_words(path, FORGED[forged])
    for opening in (ResultFile.resume, open_results, lambda file: inspect(file, check=True)):
        with pytest.raises(OutputError, match="damaged"):
            opening(path)


def test_what_a_run_writes_is_not_refused(path):
    opened(path).close()
    open_results(path).close()
    ResultFile.resume(path).close()


@pytest.fixture
def patience():
    """Fail, and end the waiting, where a test waits for a pipe without a writer."""
    pipes = []

    def wake():
        for pipe in pipes:
            os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))

    timer = threading.Timer(20, wake)
    timer.start()
    yield pipes.append
    timer.cancel()


def test_pipes_and_devices_are_no_results(tmp_path, patience):
    pipe = tmp_path / "pipe.h5"
    os.mkfifo(pipe)
    patience(pipe)
    for place, kind in ((pipe, "a pipe"), ("/dev/null", "a device"), ("/dev/zero", "a device")):
        for opening in (ResultFile.resume, open_results):
            with pytest.raises(OutputError, match=f"is {kind}, not"):
                opening(place)
        with pytest.raises(OutputError, match="not a file"):
            ResultFile.create(place, declare(**DECLARED), overwrite=True)


def test_a_stranger_s_file_cannot_be_resumed_by_the_economy(tmp_path, monkeypatch, victim):
    monkeypatch.chdir(tmp_path)
    config = societies.config_from_dict(
        {"workload": "economy", "agents": 4, "resources": 4, "days": 3, "devices": "none"},
    )
    societies.run(config, device="reference", out="run.h5")
    with h5py.File("run.h5", "r+") as file:
        shape = file["checkpoint/0/state/held"].shape
        del file["checkpoint/0/state/held"]
        file["checkpoint/0/state"].create_dataset(
            "held", shape, np.int32, external=[(str(victim), 0, 4 * int(np.prod(shape)))]
        )
    forge("run.h5")
    for call in (
        lambda: societies.run(config, device="reference", out="run.h5", resume=True),
        lambda: societies.verify(config, device="reference", start="run.h5", days=1),
    ):
        with pytest.raises(OutputError, match="external storage"):
            call()
    assert victim.read_bytes() == SECRET


CONFIG = {"workload": "economy", "agents": 4, "resources": 4, "days": 3}
BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40))])
ESCAPES = "\x1b]0;pwned\x07\x1b[2J\x9b31m\u202e"


def a_run(path, **attributes):
    """Run an economy and change attributes of its file; return its configuration."""
    config = societies.config_from_dict(CONFIG)
    societies.run(config, device="reference", out=path, overwrite=True)
    with h5py.File(path, "r+") as file:
        for name, value in attributes.items():
            file.attrs[name] = value
    forge(path)
    return config


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "missing or damaged"),
        ("[" * 60_000, "missing or damaged"),
        ("!!python/object/apply:os.getcwd []", "missing or damaged"),
        ("a: {}\na: {}", "missing or damaged"),
        ("k: [" + "1, " * 10**6 + "1]", "another configuration"),
    ],
    ids=["aliases", "depth", "tag", "twice", "size"],
)
def test_the_stored_configuration_has_the_limits_of_one(tmp_path, text, says):
    """Without limits the first would take all memory, and years."""
    config = a_run(tmp_path / "run.h5", configuration=text)
    with pytest.raises(OutputError, match=says):
        societies.run(config, device="reference", out=tmp_path / "run.h5", resume=True)


@pytest.mark.ci
def test_a_stranger_s_words_are_drawn_as_they_are(tmp_path):
    pytest.importorskip("matplotlib")
    a_run(tmp_path / "run.h5", scenario=r"costs $\frac$ " + ESCAPES, agents="$x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a character without a picture
        assert len(plot_overview(tmp_path / "run.h5")) == 2
    assert "\x1b" not in (tmp_path / "run_overview.svg").read_text()


def test_control_characters_of_a_file_are_not_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text("workload: economy\nagents: 4\nresources: 4\ndays: 3\n")
    stored = societies.config.to_yaml(societies.config_from_dict(CONFIG))
    for attribute, value in (
        ("model_version", f"1{ESCAPES}\nrun rm -rf /"),
        ("configuration", f'"{ESCAPES!r}": 1\n{stored}'),
        ("societies_layout", ESCAPES),
        ("device", ESCAPES),  # printed when there is nothing left to run
    ):
        a_run("small.h5", **{attribute: value})
        with pytest.raises(SystemExit):
            main(["run", "small.yaml", "--resume", "--device", "reference"])
        printed = "".join(capsys.readouterr())
        assert r"\x1b" in printed
        assert not {c for c in printed if c != "\n" and not c.isprintable()}, printed
