"""Does a simulator compute every run once, whatever its executor does, and count what fails?"""

import threading
from concurrent.futures import Future

import numpy as np
import pytest

from societies.errors import BuildError, ConfigError
from societies.study import simulate as module
from societies.study import simulator
from societies.study.simulate import mean_over_replicates, sweep_of
from societies.sweep.executors import Here

SMALL = {"agents": 2, "resources": 2, "days": 2}
KEYS = ["extraction.max_effort"]
UNITS = {"units": {"of": "units_extracted", "statistic": "last"}}
POINTS = [[7.0], [7.5], [8.0], [8.5], [9.0]]
NUMBERS = np.arange(5)[:, None]


def of_economy(keys=KEYS, **options):
    options = {"device": "reference", "set": SMALL, **options}
    return simulator("economy/quickstart", keys, UNITS, **options)


@pytest.fixture(scope="module")
def expected():
    with of_economy() as own:
        return own.runs(POINTS, NUMBERS)[:, 0, 0]


class Failing(Here):
    """Fails to compute batches as ``rule`` says, and notes the rows of what it gets."""

    def __init__(self, rule):
        super().__init__("reference")
        self.rule, self.seen = rule, []

    def submit(self, batch):
        self.seen.append(list(batch.rows))
        error = self.rule(batch)
        if error is None:
            return super().submit(batch)
        future = Future()
        future.set_exception(error)
        return future


class Lanes(Here):
    """Computes up to three batches at a time, the last one first, and has room for ``room``."""

    slots = 3

    def __init__(self, room):
        super().__init__("reference")
        self.room, self.waiting, self.most, self.lock = room, [], 0, threading.Lock()

    def has_room(self, batch=None):
        self.asked = batch
        return len(self.waiting) < self.room

    def submit(self, batch):
        assert batch is self.asked
        future = Future()
        self.waiting.append((future, batch))
        self.most = max(self.most, len(self.waiting))
        threading.Timer(0.01, self.compute).start()
        return future

    def compute(self):
        with self.lock:
            future, batch = self.waiting[-1]
            done = super().submit(batch).result()
            self.waiting.remove((future, batch))
            future.set_result(done)


def test_of_a_batch_that_fails_only_the_run_at_fault_is_missing(expected):
    """Halves of halves: rows 0 to 4, then 0 and 1, then 2 to 4, in this order."""
    executor = Failing(lambda batch: ValueError("run\n  3 is bad") if 3 in batch.rows else None)
    with of_economy() as own:
        own._executor, reported = executor, []
        found = own.runs(POINTS, NUMBERS, lambda *so_far: reported.append(so_far))[:, 0, 0]
        again = own.runs(POINTS[3:4], NUMBERS[:1])[:, 0, 0]
    assert executor.seen == [[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [2], [3, 4], [3], [4], [0]]
    assert np.isnan(found[3]) and np.isfinite(again).all()
    np.testing.assert_array_equal(np.delete(found, 3), np.delete(expected, 3))
    assert reported == [(2, 5), (3, 5), (4, 5), (5, 5)]
    assert (own.failures, own.runs_done) == ({"run 3 is bad": 1}, 6)


def test_a_program_that_cannot_be_built_is_not_tried_in_parts():
    executor = Failing(lambda _: BuildError("no kernel"))
    with of_economy() as own:
        own._executor = executor
        assert np.isnan(own.runs(POINTS, NUMBERS)).all()
        own.runs(POINTS[:2], NUMBERS[:2])
    assert executor.seen == [[0, 1, 2, 3, 4], [0, 1]]
    assert (own.failures, own.runs_done) == ({"no kernel": 7}, 7)


def test_an_interrupt_is_no_run_that_failed():
    with of_economy() as own, pytest.raises(KeyboardInterrupt):
        own._executor = Failing(lambda _: KeyboardInterrupt())
        own.runs(POINTS, NUMBERS)
    assert own.failures == {}


def test_what_one_device_fails_another_computes(expected):
    with of_economy() as own:
        own._executor = executor = Failing(
            lambda _: ValueError("lost") if len(executor.seen) == 1 else None
        )
        executor.settled = lambda batch, future: batch if future.exception() else None
        np.testing.assert_array_equal(own.runs(POINTS, NUMBERS)[:, 0, 0], expected)
    assert len(executor.seen) == 2
    assert (own.failures, own.runs_done) == ({}, 5)


@pytest.mark.parametrize("room", [2, 9])
def test_no_more_is_submitted_than_there_are_slots_and_room(expected, room, monkeypatch):
    monkeypatch.setattr(module, "MOST_OF_BATCH", 1)
    with of_economy() as own:
        own._executor = Lanes(room)
        np.testing.assert_array_equal(own.runs(POINTS, NUMBERS)[:, 0, 0], expected)
        assert own._executor.most == min(room, 3)


@pytest.mark.parametrize("empty", [0, 2])
def test_an_executor_is_asked_whether_it_lives_when_nothing_comes(expected, empty, monkeypatch):
    waits, asked, wait = [], [], module.wait

    def patient(running, **options):
        waits.append(running)
        return (set(), set()) if len(waits) <= empty else wait(running, **options)

    monkeypatch.setattr(module, "wait", patient)
    with of_economy() as own:
        own._executor = Here("reference")
        own._executor.require_alive = lambda: asked.append(len(waits))
        np.testing.assert_array_equal(own.runs(POINTS, NUMBERS)[:, 0, 0], expected)
    assert asked == [1, 2][:empty]


@pytest.mark.parametrize(
    ("runs", "slots", "workers", "size"),
    [
        *((1, 1, 0, 1), (10, 1, 0, 10), (10, 4, 0, 3), (12, 4, 0, 3), (13, 4, 0, 4)),
        *((4096, 1, 0, 4096), (9000, 1, 0, 4096), (9000, 2, 0, 4096), (3, 8, 0, 1)),
        *((16, 2, 2, 2), (17, 2, 2, 3), (3, 2, 2, 1), (40000, 2, 2, 4096)),
    ],
)
def test_a_batch_is_what_a_slot_gets_and_with_workers_a_quarter_of_it(
    runs, slots, workers, size, monkeypatch
):
    """At most 4096, whose series are in memory."""
    monkeypatch.setattr(Here, "slots", slots)
    with of_economy(workers=workers) as own:
        own._executor = Here("reference")
        assert own._size(runs) == size


def test_an_executor_knows_how_many_programs_there_are_and_ends_with_the_simulator(monkeypatch):
    """Many programs are for processes that are restarted: they fill the memory of one."""
    made, closed = [], []

    def executor_of(*options):
        made.append(options)
        executor = Here("reference")
        executor.close = lambda: closed.append(1)
        return executor

    monkeypatch.setattr(module, "executor_of", executor_of)
    points = [["geometric"], ["unit"], ["inverse_geometric"], ["unit"]]
    with of_economy(["trading.price"]) as own:
        own(points)
        own(points)
        assert made == [("reference", 0, "", 3)] and closed == []
    own.close()
    assert closed == [1]
    own(points[:1])
    assert len(made) == 2


def test_new_seeds_continue_from_0():
    with of_economy(set={"agents": 4, "resources": 4, "days": 6}) as own:
        first, second = own(POINTS[:2]), own(POINTS[:3])
        assert (first != second[:2]).any()
        np.testing.assert_array_equal(first, own(POINTS[:2], seeds=[0, 1]))
        np.testing.assert_array_equal(second, own(POINTS[:3], seeds=[2, 3, 4]))
        assert own.names == ["units"] and own.replicates == 1
        assert own.runs_done == 10


def test_seeds_begin_at_the_first_copy_of_the_configuration():
    with of_economy(replicates=2) as own:
        expected = own(POINTS[:1], seeds=[3])
    with of_economy(replicates=2, set={**SMALL, "first_society": 6}) as own:
        np.testing.assert_array_equal(own(POINTS[:1], seeds=[0]), expected)
        most = (2**31 - 1 - 6) // 2
        with pytest.raises(ConfigError, match=f"whole numbers from 0 to {most - 1},"):
            own(POINTS[:1], seeds=[most])


@pytest.mark.parametrize("first", [0, 3])
def test_the_largest_seed_has_its_run(first):
    """Random streams of societies of two agents are used up at that number."""
    streams = 16 * (2 + 1)
    most = 2147441677 // streams - 2 * first  # the key of the first one counts, and so does its run
    with of_economy(set={**SMALL, "first_society": first}) as own:
        assert np.isfinite(own(POINTS[:1], seeds=[most - 1])).all()
        with pytest.raises(ConfigError, match=r"no point is valid: .* random streams are needed"):
            own(POINTS[:1], seeds=[most + first])
        with pytest.raises(ConfigError, match=r"no point is valid: .* random streams are needed"):
            own(POINTS[:2], seeds=[most + first, 0])


def test_an_intervention_may_name_a_society_that_is_not_run():
    changed = {"day": 1, "set": {"extraction.min_effort": 1.0}, "societies": [5]}
    with of_economy() as own:
        usual = own(POINTS[:1] * 2, seeds=[0, 5])
    with of_economy(set={**SMALL, "replicates": 6, "interventions": [changed]}) as own:
        found = own(POINTS[:1] * 2, seeds=[0, 5])
        np.testing.assert_array_equal(own(POINTS[:1], seeds=[0]), found[:1])
        assert found[0] == usual[0] and found[1] > usual[1] and own.failures == {}


def test_no_point_has_no_statistics():
    with of_economy() as own:
        assert own([]).shape == own([], seeds=[]).shape == (0, 1)
        assert own.runs_done == 0


def test_points_without_keys_are_the_configuration_itself():
    with of_economy([]) as own, of_economy() as other:
        effort = own.sweep.base.extraction.max_effort
        found = own.runs([[], []], NUMBERS[:2])
        np.testing.assert_array_equal(found, other.runs([[effort]] * 2, NUMBERS[:2]))


def test_words_and_numbers_keep_their_kinds_in_a_point():
    with of_economy(["trading.price", "extraction.max_effort"]) as own:
        assert np.isfinite(own([["unit", 9.0], ["geometric", 9.0]])).all()
        assert np.isfinite(own(["unit", 9.0])).all()
        assert own.failures == {}


def test_points_that_are_not_valid_are_counted_and_the_others_keep_their_rows(expected):
    with of_economy(["extraction.max_effort", "utility.exponent"]) as own:
        exponent = own.sweep.base.utility.exponent
        good = [[*point, exponent] for point in POINTS]
        bad = [7.0, -1.0]
        found = own.runs([bad, good[1], bad, good[3]], NUMBERS[[0, 1, 2, 3]])[:, 0, 0]
        assert np.isnan(found[[0, 2]]).all()
        np.testing.assert_array_equal(found[[1, 3]], expected[[1, 3]])
        assert list(own.failures.values()) == [2] and own.runs_done == 2
        with pytest.raises(ConfigError, match=r"^no point is valid: .*utility.exponent: must be"):
            own.runs([bad], NUMBERS[:1])


def test_a_workload_without_draws_has_no_replicates():
    targets = {"n": {"of": "nodes", "statistic": "last"}}
    with pytest.raises(ConfigError, match="chess_perft has no random draws"):
        simulator({"workload": "chess_perft"}, [], targets, replicates=2)
    assert simulator({"workload": "chess_perft"}, [], targets, replicates=1).replicates == 1


def test_statistics_are_a_file_plain_data_or_read_before(tmp_path):
    (tmp_path / "t.yaml").write_text("statistics: {units: {of: units_extracted, statistic: last}}")
    said = tmp_path / "t.yaml", {"statistics": UNITS}, UNITS
    made = [simulator("economy/quickstart", KEYS, one, set=SMALL).targets for one in said]
    assert [one.statistics for one in made] == [made[0].statistics] * 3
    assert simulator("economy/quickstart", KEYS, made[0], set=SMALL).targets is made[0]


def test_a_section_is_no_key():
    with pytest.raises(ConfigError, match=r"^utility: is a section; name one of its keys"):
        sweep_of("economy/quickstart", SMALL, ["utility"])


def test_a_mean_is_of_the_replicates_that_have_a_number():
    values = np.array([[[1.0, np.nan], [4.0, np.nan]], [[np.inf, 2.0], [3.0, np.nan]]])
    np.testing.assert_array_equal(mean_over_replicates(values), [[2.5, np.nan], [3.0, 2.0]])
    assert sum([0.1] * 3) / 3 > 0.1  # in double precision
    assert mean_over_replicates(np.full((1, 3, 1), 0.1)).tolist() == [[0.1]]
    assert mean_over_replicates(np.full((1, 3, 1), -0.1)).tolist() == [[-0.1]]
    for one in (0.1, -0.1):
        assert mean_over_replicates(np.array([[one, one, np.nan, one]])[..., None]) == [[one]]


def test_what_does_not_fit_is_refused_before_any_run():
    with of_economy() as own:
        for seeds in ([-1, 3], [3, 2**31]):
            with pytest.raises(ConfigError, match="seeds: expected whole numbers from 0"):
                own(POINTS[:2], seeds=seeds)
        with pytest.raises(ConfigError, match=r"points: 2 values for 1 keys: extraction.max_eff"):
            own([[7.0, 8.0]])
    late = {"late": {"of": "gini", "ticks": "7:9"}}
    with pytest.raises(ConfigError, match="7:9"):
        simulator("economy/quickstart", KEYS, late, set=SMALL)
    of = {"set": SMALL, "device": "reference"}
    with simulator("economy/quickstart", ["days"], late, **of) as longer:
        assert np.isfinite(longer([[9]])).all()


def test_a_simulator_is_closed_at_the_end_of_its_block():
    with of_economy() as own:
        own(POINTS[:1])
        assert own._executor is not None
    assert own._executor is None


def test_an_intervention_may_name_any_society_up_to_the_last_that_is_run():
    changed = {"day": 1, "set": {"extraction.min_effort": 1.0}, "societies": [4]}
    with of_economy(set={**SMALL, "replicates": 5, "interventions": [changed]}) as own:
        assert np.isfinite(own(POINTS[:1] * 2, seeds=[0, 5])).all()
