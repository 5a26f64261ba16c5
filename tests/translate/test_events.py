"""Are the events of a model those of its Python: compared, complete, in the file, and never cut?"""

import numpy as np
import pytest
import xarray as xr

import societies
from societies.errors import OutputError, SocietiesError
from societies.opencl import choose_device
from societies.translate import RuleError
from societies.workload import Setup
from societies.workload.running import registry
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine

MODEL = '''"""Agents that deal."""

from typing import Literal

from societies.model import DailyConfig, Events, Field, Model, Rng, key, value


class DealsConfig(DailyConfig):
    """What differs."""

    workload: Literal["deals"]
    agents: int = key(5, "Agents", "agents", ge=1, le=100)
    room: int = key(20, "Most deals of a day", "deals", ge=1, le=1000)
    worth: int = value(3, "Worth of a deal", "cents", ge=-(2**40), le=2**40)


def begin(config, society, day):
    """Begin the stream."""
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()


def deal(config, society, day):
    """Let some agents deal."""
    rng = Rng.load(society.stream)
    for agent in range(rng.below(config.agents + 1)):
        tell(society, day, agent, (rng.below(9) - 4) * config.worth)
    society.stream = rng.pack()


def tell(society, tick, agent, worth):
    """Append a deal."""
    society.made += 1
    society.deals.append((tick, agent, worth))


def close(config, society, day):
    """Say on some days how many deals there were so far."""
    if day % 3 == 0:
        society.days.append((day, society.made))


class Deals(Model):
    """What is declared."""

    name, summary, version = "deals", "agents that deal", "1"
    config, start, day = DealsConfig, ("begin",), ("deal", "close")

    def sizes(self, p):
        """Return the lengths."""
        return {"agent": p.agents}

    def fields(self, p):
        """Return the state."""
        return {
            "made": Field((), "int32", "deals", "deals so far"),
            "stream": Field((), "uint64", "1", "stream", within=(1, "last state")),
        }

    def events(self, p):
        """Return the lists of events."""
        named = {"agent": ("agent", "who deals"), "worth": ("cents", "what it is worth")}
        return {"deals": Events(3, p.room, named), "days": Events(2, 1)}


WORKLOAD = Deals()
'''

IN_PYTHON = '    words = f"{day}"\n    society.days.append((day, len(words)))\n'
"""What no kernel can do, so plain Python carries the phase out."""


@pytest.fixture
def config_of(tmp_path, monkeypatch):
    """Return a function that returns a configuration of the model, some of whose text is other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_GIVEN", {})

    def made(*changes, **more):
        text = MODEL
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "deals.py").write_text(text)
        return societies.config_from_dict(
            {"workload": "deals", "model": "deals.py", "days": 70, "replicates": 3, **more}
        )

    return made


def engines_of(config):
    setup = Setup(registry.workload("deals"), config)
    copies = {"copies": setup.copies, "first": setup.first}
    return (
        DeviceEngine(setup.workload, setup.p, choose_device("cpu"), **copies),
        ReferenceEngine(setup.workload, setup.p, **copies),
    )


def rows_of(engine, *blocks):
    """Return the lists of events of a run in blocks of some days."""
    engine.start()
    first, found = 1, []
    for days in blocks:
        engine.run_ticks(first, first + days - 1)
        found.append(engine.events())
        first += days
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


@pytest.mark.filterwarnings("ignore:the phase close is carried out")
@pytest.mark.parametrize("changes", [[], [("    if day % 3 == 0:\n", IN_PYTHON + "    if 0:\n")]])
def test_rows_are_those_of_python_in_blocks_of_any_length(config_of, changes):
    engine, reference = engines_of(config_of(*changes, first_society=2))
    expected = rows_of(reference, 70)
    assert len(expected["deals"]) > 300 and len(expected["days"]) == (210 if changes else 69)
    assert set(expected["deals"][:, 1]) == set(range(1, 71))
    for blocks in ((LOG_TICKS, 6), (1, 2, 3, 60, 4)):
        found = rows_of(engine, *blocks)
        for name, rows in expected.items():
            np.testing.assert_array_equal(found[name], rows)


def test_the_file_has_all_rows_after_a_stop_too(config_of, tmp_path):
    config = config_of(first_society=2, record={"checkpoint": 30})

    def stop(day, days):
        if day >= 40:
            raise KeyboardInterrupt

    _, reference = engines_of(config)
    expected = rows_of(reference, 70)
    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    societies.run(config, out=whole)
    with pytest.raises(SocietiesError):
        societies.run(config, out=part, progress=stop)
    societies.run(config, out=part, resume=True)
    societies.run(config, out=tmp_path / "python.h5", device="reference")
    for path in (whole, part, tmp_path / "python.h5"):
        with societies.open_results(path, events="deals") as table:
            names = ["society", "day", "agent", "worth"]
            found = np.column_stack([table[name] for name in names]) - (2, 0, 0, 0)
            np.testing.assert_array_equal(found, expected["deals"])
            assert (table.worth.units, table.worth.long_name) == ("cents", "what it is worth")
        with xr.open_dataset(path, group="events/days") as table:  # without Societies
            known = table.isel(event=table.day.notnull().values)
            np.testing.assert_array_equal(known.column_1, expected["days"][:, 2])


def test_a_file_from_before_events_were_written_is_not_continued(config_of, monkeypatch):
    """It was a KeyError; and a branch would have lacked the rows of its past without a word."""
    config = config_of(days=20, record={"checkpoint": 5})
    with monkeypatch.context() as former:
        former.setattr(SeriesAndDetail, "tables", lambda contents: [])
        societies.run(config, out="former.h5", device="reference")
    with pytest.raises(OutputError, match="has no 'deals', which is recorded now: an earlier ver"):
        societies.run(config, out="former.h5", device="reference", resume=True)
    societies.run(config, out="branch.h5", device="reference", start="former.h5", tick=10)
    societies.run(config, out="whole.h5", device="reference")
    branch, whole = (societies.open_results(f"{name}.h5", events="deals").load()
                     for name in ("branch", "whole"))  # fmt: skip
    assert branch.sizes["event"] > 50 and branch.equals(whole)


def test_verify_compares_and_counts_rows(config_of):
    config = config_of()
    report = societies.verify(config, days=3)
    _, reference = engines_of(config)
    rows = rows_of(reference, 3)
    assert report.identical
    assert report.coverage.counts == {name: len(one) for name, one in rows.items()}
    assert f"{len(rows['deals'])} rows of 'deals', 3 rows of 'days'" in str(report)


KERNEL = """
__kernel void close(__global int *made, __global int *days_log, __global uint *days_count,
                    const uint days_rows, const uint copies, const int day)
{
    const size_t copy = get_group_id(0);
    if (get_local_id(0) || day % 3) return;
    __global int *row = days_log + ((size_t)days_count[copy] * copies + copy) * 2;
    row[0] = day;
    row[1] = made[copy];
    ++days_count[copy];
}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ("made[copy];", "made[copy] + (copy == 2);", "array events days, index [2, 0, 1]: device"),
        ("++days", "if (copy != 1) ++days", "events days, number of rows, index [1]: device 0, "),
    ],
)
def test_a_kernel_by_hand_that_appends_otherwise_is_found(config_of, tmp_path, old, new, said):
    """A row with other numbers went through `verify`, which compared arrays alone."""
    (tmp_path / "close.cl").write_text(KERNEL.replace(old, new, 1) if old else KERNEL)
    line = '("deal", "close")\n'
    config = config_of((line, line + '    by_hand = {"close": "close.cl"}\n'))
    report = societies.verify(config, days=6)
    assert report.identical == (not said)
    assert said in str(report)
    assert not said or (report.difference.phase, report.difference.tick) == ("close", 3)


ODD = [
    ([], {"room": 1}, "more than 1 rows of 'deals'"),
    ([], {"worth": 2**31}, "does not fit"),
    ([("append((tick,", "append((tick - 1,")], {}, "a row of 'deals' begins with"),
    (
        [
            (
                "gap, society.index).pack()",
                "gap, society.index).pack()\n    tell(society, day, 0, 0)",
            )
        ],
        {},
        "rows are appended to 'deals'",
    ),
]


@pytest.mark.parametrize(("changes", "more", "said"), ODD)
def test_what_no_row_may_have_is_an_error_of_every_engine(config_of, tmp_path, changes, more, said):
    """It was cut or wrapped around, so results depended on the length of a block."""
    config = config_of(*changes, **more)
    with pytest.raises(SocietiesError, match=said):
        societies.run(config, out=tmp_path / "device.h5", device="cpu")
    with pytest.raises(RuleError, match=r"society\.deals\.append") as found:
        societies.run(config, out=tmp_path / "python.h5", device="reference")
    assert said in str(found.value)
