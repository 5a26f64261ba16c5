"""Is the past of a society and its twins computed once, with the same results as alone?"""

import json
from unittest.mock import Mock

import numpy as np
import pytest
import tallies

from societies import open_results, sweep
from societies.errors import Interrupted
from societies.sweep import batch
from societies.sweep.document import load_sweep
from societies.sweep.prepare import prepared
from societies.sweep.shocks import study_of_shocks
from societies.workload import Setup
from societies.workload.running.engines import DeviceEngine, ReferenceEngine
from societies.workload.running.ensembles import Points
from societies.workload.running.pasts import (
    MOST_BRANCHES,
    Past,
    SharedPasts,
    _parted,
    pasts_of,
)

POLICIES = [
    [],
    [{"day": 5, "set": {"pace": 2.0}}],
    [{"day": 3, "set": {"goal.bonus": 4.0}}, {"day": 6, "set": {"pace": 0.5}}],
    [{"day": 4, "societies": [1], "set": {"pace": 3.0}}],
    [{"day": 5, "set": {"pace": 2.0}}, {"day": 2, "remove": "cell"}],
]
BASE = {"workload": "tallies", "days": 8}


@pytest.fixture
def counted(monkeypatch):
    """Install the workload, and return the numbers of copies and ticks of all launches."""
    tallies.install(monkeypatch)
    found = []
    for engine in (ReferenceEngine, DeviceEngine):
        run = engine.run_ticks

        def run_ticks(self, first, last, *, run=run):
            found.append((self.copies, last - first + 1))
            return run(self, first, last)

        monkeypatch.setattr(engine, "run_ticks", run_ticks)
    return found


def study(policies, replicates, base=BASE, **more):
    vary = {"grid": {"interventions": policies, **more}}
    return {"base": base, "vary": vary, "replicates": replicates}


def contents(path):
    """Return all that a study holds of its runs, and the day and tally of the events of each."""
    with sweep.open_study(path) as study:
        own = {name: one for name, one in study.variables.items() if one.dims[:1] == ("run",)}
        found = {name: one.values for name, one in own.items() if name != "wall_time"}
        if study.attrs["workload"] != "tallies":
            return found
    with open_results(path, events="milestones") as log:
        events = log.to_dataframe()[["run", "day", "tally"]]
    each = [events[events.run == run].values[:, 1:].tolist() for run in found["run"].tolist()]
    return found | {"events": np.array([json.dumps(one) for one in each])}


def alike(path, parts):
    """Assert that a study has the results of studies of its points alone, one after the other."""
    whole = contents(path)
    for number, part in enumerate(parts):
        alone = contents(part)
        count = len(alone["run"])
        rows = slice(number * count, (number + 1) * count)
        for name in alone.keys() - {"run", "point", "interventions"}:
            said = f"{name} of point {number}"
            np.testing.assert_array_equal(whole[name][rows], alone[name], err_msg=said)


def test_twins_are_in_one_launch_and_begin_where_their_base_is(counted, tmp_path):
    path = tmp_path / "s.h5"
    sweep.run(study(POLICIES, 3), out=path, device="reference")
    # 3 societies alone until 3 of them lose a cell on day 2; 9 after day 3, 10 after day 4, as
    # society 1 has a policy of its own; all that differ after day 5.
    together = sum(copies * ticks for copies, ticks in counted)
    counted.clear()
    parts = []
    for number, policy in enumerate(POLICIES):
        parts.append(tmp_path / f"{number}.h5")
        sweep.run(study([policy], 3), out=parts[-1], device="reference")
    assert sum(copies * ticks for copies, ticks in counted) == len(POLICIES) * 3 * 8
    assert together == 3 * 1 + 6 * 2 + 9 * 1 + 10 * 1 + 13 * 3
    alike(path, parts)


def test_the_past_of_an_impulse_response_is_computed_once(counted, tmp_path):
    shock = {"day": 6, "set": {"pace": 5.0}}
    config = tallies.config(replicates=4)
    sweep.run(study_of_shocks(config, [shock], 4), out=tmp_path / "s.h5", device="reference")
    assert {copies for copies, _ in counted} == {4, 8}
    assert sum(ticks for copies, ticks in counted if copies == 4) == 6
    assert sum(ticks for copies, ticks in counted if copies == 8) == 2
    with sweep.open_study(tmp_path / "s.h5") as data:
        total = data.total.values.reshape(2, 4, 8)
    np.testing.assert_array_equal(total[0, :, :6], total[1, :, :6])
    # A day at a pace of 5 instead of 1 adds 4 to the first cell and twice that to the second.
    np.testing.assert_array_equal(total[1, :, 6:] - total[0, :, 6:], [[12.0, 24.0]] * 4)


def test_an_interrupted_study_of_twins_continues_to_the_same_results(counted, tmp_path):
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    given = {"device": "reference", "batch": 4}  # a batch has all runs of a society
    sweep.run(study(POLICIES[:3], 4), out=whole, **given)

    def stop(progress):
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        sweep.run(study(POLICIES[:3], 4), out=parts, progress=stop, **given)
    sweep.run(study(POLICIES[:3], 4), out=parts, resume=True, **given)
    one, two = contents(whole), contents(parts)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


def test_a_batch_has_all_twins_of_a_society(counted, tmp_path):
    sweep.run(study(POLICIES[:2], 3), out=tmp_path / "s.h5", device="reference", batch=1)
    assert [one for one in counted if one[0] == 1 and one[1] > 1]  # before they part
    assert {copies for copies, _ in counted} == {1, 2}
    assert sum(ticks for copies, ticks in counted if copies == 1) == 3 * 5


def test_what_a_policy_records_is_found_once(counted, tmp_path, monkeypatch):
    asked, contents_of = [], batch.contents_of
    monkeypatch.setattr(batch, "_RECORDED", {})
    monkeypatch.setattr(batch, "contents_of", lambda one: asked.append(one) or contents_of(one))
    sweep.run(study(POLICIES[:3], 6), out=tmp_path / "s.h5", device="reference", batch=6)
    batches = len({id(one) for one in asked if one.copies > 1})
    assert batches > 1 and sum(one.copies == 1 for one in asked) == 3


def test_a_batch_takes_at_most_as_many_twins_again(counted, tmp_path):
    """Else all runs would be one batch, which a killed study loses and other devices wait for."""
    policies = [[{"day": 5, "set": {"pace": 1.0 + number}}] for number in range(10)]
    sweep.run(study(policies, 1), out=tmp_path / "s.h5", device="reference", batch=2)
    assert {copies for copies, _ in counted} == {1, 4, 2}


def test_with_draws_of_their_own_runs_share_no_past(counted, tmp_path):
    own = study(POLICIES[:2], 3) | {"common_random_numbers": False}
    sweep.run(own, out=tmp_path / "s.h5", device="reference")
    assert {copies for copies, _ in counted} == {6}
    with sweep.open_study(tmp_path / "s.h5") as data:
        first = [sum(tallies.tally(number, 1)) for number in range(6)]
        assert data.total.values[:, 0].tolist() == first


def test_an_economy_with_a_tax_and_its_twin_without_have_the_results_of_each_alone(
    counted, tmp_path
):
    base = {"workload": "economy", "agents": 4, "resources": 3, "days": 6, "seed": 9}
    base |= {"utility": {"min_marginal": 2.5}, "trading": {"rounds": 2, "menu_size": 2}}
    policies = [
        [],
        [{"day": 4, "set": {"policies.holdings_tax.rate": 0.2, "policies.transfer.equal": 1}}],
        [{"day": 4, "set": {"day_length": [500, 700]}}],
    ]
    record = {"record": {"final": ["held", "units_extracted"]}}
    path, parts = tmp_path / "s.h5", [tmp_path / f"{i}.h5" for i in range(3)]
    sweep.run(study(policies, 2, base) | record, out=path, device="cpu")
    assert [copies for copies, _ in counted][-1] == 6
    assert sum(ticks for copies, ticks in counted if copies == 2) == 4
    for part, policy in zip(parts, policies, strict=True):
        sweep.run(study([policy], 2, base) | record, out=part, device="cpu")
    alike(path, parts)
    with sweep.open_study(path) as data:  # societies without a tax have no number for it
        assert (
            np.isnan(data.units_taxed.values).any(1).tolist()
            == [True] * 2 + [False] * 2 + [True] * 2
        )


def removal(day, what, index, **more):
    return {"day": day, "remove": what, "index": index, **more}


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_shocks_that_remove_something_share_the_past_and_the_launch(counted, tmp_path, device):
    """What a shock removes at random is drawn before the first day, from what its society keeps."""
    base = {"workload": "economy", "agents": 4, "resources": 4, "days": 6, "seed": 9}
    base |= {"utility": {"min_marginal": 2.5}, "trading": {"rounds": 1, "menu_size": 2}}
    base |= {"shocks": [removal(5, "resource", "random")]}
    later = [removal(3, "agent", "random"), removal(4, "agent", "random")]
    policies = [
        [],
        [removal(3, "resource", 1, holdings="lose")],
        later,
        [*later[:1], removal(5, "resource", 2)],
        [{"day": 3, "set": {"day_length": 500}}],
        [{"day": 2, "set": {"draws.synchronized": True}}, removal(4, "agent", 0)],
    ]
    final = ["held", "alive", "available", "stream"]
    record = {"record": {"final": final}}
    path, parts = tmp_path / "s.h5", [tmp_path / f"{i}.h5" for i in range(len(policies))]
    sweep.run(study(policies, 2, base) | record, out=path, device=device)
    assert {copies for copies, _ in counted} == {2, 10, 12}
    assert sum(copies * ticks for copies, ticks in counted) == 2 * 2 + 10 * 1 + 12 * 3
    for part, policy in zip(parts, policies, strict=True):
        sweep.run(study([policy], 2, base) | record, out=part, device=device)
    alike(path, parts)
    with sweep.open_study(path) as data:
        gone = 4 - data.final_alive.values.sum(1)
        assert gone.tolist() == [0] * 4 + [2] * 2 + [1] * 2 + [0] * 2 + [1] * 2
        left = data.final_available.values.sum(1)
        assert left.tolist() == [3] * 2 + [2] * 2 + [3] * 2 + [2] * 2 + [3] * 4


def test_points_that_only_differ_in_interventions_are_one_bucket(counted):
    ready = prepared(load_sweep(study(POLICIES, 2)))
    assert [one.points for one in ready.buckets] == [[0, 1, 2, 3, 4]]
    assert [one.settings for one in ready.buckets] == [{}]
    more = prepared(load_sweep(study(POLICIES[:2], 2, pace=[1.0, 1.5])))
    (bucket,) = more.buckets
    assert bucket.columns == ("pace",) and bucket.settings == {}
    assert [json.loads(text) for text in bucket.policies] == POLICIES[:2]


def histories(numbers, of, after, ticks):
    points = Points((), np.array(of), tuple(after))
    return [
        (past.until, past.chosen.tolist(), past.of.tolist())
        for past in _parted(points, np.array(numbers), ticks)
    ]


def test_copies_are_computed_apart_from_the_tick_on_after_which_they_may_differ():
    assert histories([7, 8, 7, 8], [[0, 0, 0, 0], [0, 0, 1, 1]], [5], 9) == [
        (5, [0, 1], [0, 1, 0, 1]),
        (9, [0, 2, 1, 3], [0, 2, 1, 3]),
    ]
    assert histories([7, 8], [[0, 0], [1, 1]], [5], 9) == []  # all differ from the beginning
    assert histories([7, 7], [[0, 1], [1, 1]], [5], 9) == []  # other parameters at the beginning
    # A policy that ends is a difference for good, and copies that never differ are computed once.
    three = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert histories([7, 7, 7], three, [2, 4], 9) == [(2, [0], [0, 0, 0]), (9, [0, 1], [0, 1, 0])]
    assert histories([7, 7], [[0, 0], [0, 1]], [9], 9) == [(9, [0], [0, 0])]  # never within the run


def test_shocks_of_many_days_move_states_a_few_times_only():
    count = 100
    of = np.zeros((count + 1, 2 * count), int)
    for number in range(count):
        of[number + 1 :, count + number] = 1
    numbers = np.tile(np.arange(count), 2)
    found = histories(numbers, of, range(10, 10 + count), 120)
    ends = [until for until, _, _ in found]
    # Every (120 - 10) / 8 = 13.75 days from the first on.
    assert ends == [10, 24, 38, 52, 66, 80, 94, 108, 120]
    for until, chosen, numbers_of_copies in found:
        parted = {count + number for number in range(count) if 10 + number < until}
        assert {*chosen} == {*range(count)} | parted
        same = [i for i in range(count, 2 * count) if i not in parted]
        assert all(numbers_of_copies[i] == numbers_of_copies[i - count] for i in same)


def test_copies_part_after_an_eighth_of_what_is_left_after_the_first_at_the_earliest():
    after = [10, 50, 56, 60]
    of = np.tril(np.ones((5, 4), int), -1)  # copy i differs from the last one after the i-th tick
    found = [until for until, _, _ in histories([7] * 5, np.c_[of, [0] * 5], after, 90)]
    assert MOST_BRANCHES == 8 and found == [10, 50, 60, 90]


def test_only_the_copies_that_are_computed_are_asked():
    first, second = (
        Mock(fields={}, parameters=None, built=None, block_seconds=seconds) for seconds in (1, 2)
    )
    first.checkpointed_state.return_value = {"held": np.array([7])}
    second.logs.return_value = {"total": np.array([[3], [4]])}
    pasts = [Past(2, np.array([0]), np.array([0, 0])), Past(4, np.array([0, 1]), np.array([0, 1]))]
    engine = SharedPasts(first, lambda chosen, built: second, pasts, {})
    assert engine.stops == {2, 4} and engine.block_seconds == 1
    engine.run_ticks(1, 2)
    assert first.throttled is False
    engine.throttled = True
    engine.run_ticks(3, 4)
    assert second.throttled is True and engine.block_seconds == 2
    ((state,), _) = second.load.call_args
    assert state["held"].tolist() == [7, 7]
    second.start.assert_not_called()
    assert engine.logs()["total"].tolist() == [[3], [4]]
    second.logs.assert_called_once_with(borrowed=False)
    engine.finish()
    engine.wait()
    second.finish.assert_called_once_with()
    second.wait.assert_called_once_with()


def test_a_single_run_shares_nothing(counted):
    assert pasts_of(Setup(tallies.WORKLOAD, tallies.config())) == []
