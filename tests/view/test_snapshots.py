"""What does a page read from the device, and does it go back, branch and change without more?"""

import threading
from dataclasses import replace

import numpy as np
import pytest

from societies.errors import DeviceError
from societies.opencl import DeviceArray
from societies.view import course
from societies.workload.declare.view import Change, Press
from societies.workload.running import engines
from societies.workload.running.batches import engine_of
from tests.view.test_run_page import at, hashes, last, made

pytestmark = pytest.mark.ci


def through(view, state):
    """Continue, change a key, go back, branch, and change the branch; return all hashes."""
    found = []
    for change in (
        lambda one: at(one, 12),
        lambda one: view.take(replace(one, key="day_length"), Change("value", 450.0)),
        lambda one: at(one, 25),
        lambda one: at(one, 17),
        lambda one: view.take(one, Press("branch")),
        lambda one: view.take(one, Change("value", 300.0)),
        lambda one: at(one, 27),
        lambda one: at(one, 14),
        lambda one: at(one, 27),
    ):
        found.append(hashes(last(view, state := change(state))))
    return found


def test_what_kernels_have_cached_of_a_state_is_cleared_with_it():
    """A snapshot and the arrays of another engine replace the state, as the host does."""
    one = made("cpu", days=30, devices="all")[0]._course
    engine, other = one._engine, one.branch()._engine
    memory = engine.run_step.memory["appraisals"]
    for replace_state in (
        lambda: engine.adopt(other, tuple(engine.fields)),
        lambda: engine.restore(engine.snapshot()),
    ):
        memory.fill(1.0)
        replace_state()
        assert not memory.get().any()


def test_until_a_key_changes_kernels_read_none_from_a_table():
    """Tables cost a GPU a fifth of its days a second, also of those who move no slider."""
    view, state = made("cpu", days=30)
    setup = view._course.setup
    assert view._course._engine.built.text == engine_of(setup, "cpu")[0].built.text
    assert not setup.config.interventions
    last(view, view.take(state, Change("value", 450.0)))
    assert view._course.setup.config.interventions


@pytest.mark.parametrize("fails", [False, True])
def test_all_changes_and_branches_take_the_program_that_was_built_in_the_background(
    fails, monkeypatch
):
    waited, program = [], engines.Program

    def noted(*given, **options):
        if threading.current_thread() is threading.main_thread():
            waited.append(1)
        elif fails:
            raise DeviceError("no memory")
        return program(*given, **options)

    monkeypatch.setattr(engines, "Program", noted)
    found = through(*made("cpu", days=30))
    assert len(waited) == (2 if fails else 1)
    assert found == through(*made("reference", days=30))


@pytest.fixture
def read(monkeypatch):
    """The arrays of a device of which something was copied to the host, and how many bytes."""
    found = []

    def noted(name, of):
        method = getattr(DeviceArray, name)

        def reading(self, *given, **options):
            values = method(self, *given, **options)
            found.append((self, of(values)))
            return values

        monkeypatch.setattr(DeviceArray, name, reading)

    noted("get", lambda values: values.nbytes)
    noted("get_part", lambda values: values.nbytes)
    noted("_begin_get", lambda begun: begun[0].nbytes)
    return found


def test_of_many_societies_only_series_and_the_chosen_one_are_read(read, monkeypatch):
    monkeypatch.setattr(course, "LARGE", 0)  # so that the first picture waits for no hash
    found = []
    for copies in (1, 40):
        view, state = made("cpu", days=30, replicates=copies)
        read.clear()
        next(filter(None, view.frames(at(state, 25))))
        list(view._course.steps_to(19))  # goes back to the snapshot of day 10
        series = view._course._engine._logs.arguments["series_log"]
        found.append(sum(nbytes for array, nbytes in read if array is not series))
    assert found[0] == found[1] > 0


def test_a_large_state_is_drawn_before_its_hash_is_known(monkeypatch):
    view, state = made()
    known = hashes(last(view, at(state, 5)))
    monkeypatch.setattr(course, "LARGE", 0)
    view, state = made()
    assert [hashes(one) for one in view.frames(at(state, 5)) if one] == [[""], known]


@pytest.mark.parametrize("key", ["day_length", "policies.transfer.equal"])
def test_days_before_a_change_are_computed_from_snapshots_that_fit(key, monkeypatch):
    """With a policy there are more arrays, which earlier snapshots lack."""
    view, state = made(days=30)
    last(view, at(state, 11))
    before = hashes(last(view, at(state, 19)))
    assert 11 in view._course._snapshots
    last(view, state := at(state, 25))
    state = view.take(replace(state, key=key), Change("value", 0.5))
    last(view, state)
    begun, run_ticks = [], engines.ReferenceEngine.run_ticks
    monkeypatch.setattr(
        engines.ReferenceEngine, "run_ticks", lambda *a: begun.append(a[1]) or run_ticks(*a)
    )
    again = hashes(last(view, at(state, 19)))
    assert begun[0] == (12 if key == "day_length" else 1)
    assert (again == before) == (key == "day_length")


def test_without_memory_for_snapshots_days_back_are_computed_from_the_first(monkeypatch):
    view, state = made(days=30)
    found = hashes(last(view, at(state, 15)))

    def full(engine):
        raise DeviceError("no memory")

    monkeypatch.setattr(engines.ReferenceEngine, "snapshot", full)
    view, state = made(days=30)
    last(view, at(state, 25))
    assert not view._course._snapshots
    assert hashes(last(view, at(state, 15))) == found
    assert np.isinf(view._course._next)
