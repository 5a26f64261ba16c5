"""The latest event wins: what must hold of frames, whatever events come and when.

Threads, clocks and waiting are real; the view is one whose launches sleep. What is promised within
a time is asserted as a number of launches, which does not depend on how busy the machine is.
"""

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from societies.view.renderer import Closed, Mailbox, Renderer, Share
from tests.view.slow import PreviewingView, SlowView

PAUSE, REST, AIM = 0.02, 0.006, 0.004

gaps = st.lists(st.sampled_from([0.0, 0.0, 0.001, 0.003, 0.007, 0.03]), min_size=1, max_size=25)
long_gaps = st.lists(
    st.sampled_from([0.0, 0.0005, 0.002, 0.005, 0.015, 0.05]), min_size=1, max_size=120
)
launches = st.lists(st.integers(1, 3), min_size=1, max_size=4)


class Watched(Mailbox):
    """A mailbox that notes with each state taken which one was the newest at that moment."""

    def __init__(self):
        super().__init__()
        self.newest, self.taken = None, []

    def put(self, state):
        with self._condition:
            self.newest = state
            super().put(state)

    def take(self):
        with self._condition:
            state = super().take()
            self.taken.append((state, self.newest))
            return state


class Shown:
    """A renderer in a thread of its own, and what it has delivered."""

    def __init__(self, view, pause=PAUSE, aim=AIM):
        self.view, self.mailbox = view, Watched()
        self.frames, self.errors, self.puts = [], [], []
        deliver, failed = self.frames.append, self.errors.append
        renderer = Renderer(view, self.mailbox, deliver, failed, pause, REST, aim)
        self._thread = threading.Thread(target=renderer.run)

    def put(self, state):
        before = time.monotonic()
        self.mailbox.put(state)
        self.puts.append((before, time.monotonic()))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.mailbox.close()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def wait(self, frames):
        """Wait until a number of frames of the newest state have come."""
        end, errors = time.monotonic() + 20, len(self.errors)
        while (
            sum(one.state == self.mailbox.newest and one.whole for one in [*self.frames]) < frames
        ):
            assert len(self.errors) == errors, self.errors
            assert time.monotonic() < end, f"{len(self.frames)} frames"
            time.sleep(0.0005)


def after(view, gaps, aim=AIM):
    """Return what was shown when events had come with these gaps, and all samples after them."""
    with Shown(view, aim=aim) as shown:
        for number, gap in enumerate(gaps):
            shown.put(number)
            time.sleep(gap)
        shown.wait(len(view.launches))
        time.sleep(2 * view.launch)  # whatever would come too much
    return shown


def holds(shown):
    """Assert every property of one sequence of events."""
    view, events, frames = shown.view, len(shown.puts), shown.frames
    samples = len(view.launches)
    assert not shown.errors  # among them that of two frames at once
    # Frames are numbered one by one, and an older state never follows a newer one.
    assert [one.number for one in frames] == list(range(1, len(frames) + 1))
    assert [one.state for one in frames] == sorted(one.state for one in frames)
    # What is rendered was the newest state when its frame began, and is rendered once.
    taken = [state for state, newest in shown.mailbox.taken if state == newest]
    assert len(taken) == len(shown.mailbox.taken) == len(set(taken))
    # Each state taken has a first frame; the further ones follow only after a pause.
    assert [one.state for one in frames if one.frame.caption.startswith("1 of")] == taken
    both = zip(shown.puts, shown.puts[1:], strict=False)
    pauses = 1 + sum(later - earlier >= PAUSE for (earlier, _), (_, later) in both)
    assert len(taken) <= events
    assert len(frames) <= events + (samples - 1) * pauses
    # The final state has all samples, in order.
    final = [one.frame.caption for one in frames if one.state == events - 1]
    assert final == [f"{k + 1} of {samples}" for k in range(samples)]
    # Two frame times: after the last event only the first frame under way is completed.
    last = shown.puts[-1][1]
    late = [state for when, state, _ in view.launched if when > last and state < events - 1]
    assert len(late) <= view.launches[0]
    assert len(set(late)) <= 1
    # An event abandons the further samples when the launch under way ends.
    for state, (_, then) in enumerate(shown.puts[1:]):
        late = [
            sample for when, one, sample in view.launched if one == state and sample and when > then
        ]
        assert len(late) <= 1


@settings(max_examples=25)
@given(gaps, launches)
def test_the_latest_event_wins(gaps, launches):
    holds(after(SlowView(launches=launches), gaps))


@pytest.mark.thorough
@settings(max_examples=200)
@given(
    long_gaps,
    launches,
)
def test_the_latest_event_wins_in_long_sequences(gaps, launches):
    holds(after(SlowView(launches=launches), gaps))


def test_a_burst_costs_few_frames_and_ends_with_the_last_state():
    shown = after(SlowView(launch=0.01, launches=[2]), [0.001] * 150)
    holds(shown)
    assert shown.frames[-1].state == 149
    assert len(shown.frames) < 75  # in 150 ms and two more frames: 10 frames of 20 ms


def test_further_samples_wait_for_a_pause():
    """Events that come more slowly than frames, but without a pause, give one sample each."""
    with Shown(SlowView(launch=0.001, launches=[1] * 5), pause=1.0) as shown:
        for number in range(10):
            shown.put(number)
            shown.wait(1)
        before = list(shown.frames)
        shown.wait(5)
    assert [(one.state, one.frame.caption) for one in before] == [(k, "1 of 5") for k in range(10)]


def test_an_event_abandons_a_long_sample_at_the_next_launch():
    view = SlowView(launch=0.01, launches=[1, 6000])
    with Shown(view, pause=0.0) as shown:
        shown.put(0)
        while sum(sample for _, _, sample in view.launched) < 5:
            time.sleep(0.001)
        shown.put(1)
        shown.wait(1)
        shown.mailbox.close()
    then = shown.puts[1][1]
    assert sum(when > then for when, state, _ in view.launched if state == 0) <= 1


def test_nothing_is_rendered_when_nothing_changes():
    view = SlowView(launches=[2, 2])
    with Shown(view) as shown:
        shown.put(7)
        shown.wait(2)
        used = time.process_time()
        time.sleep(0.3)
        assert len(view.launched) == 4
        assert len(shown.frames) == 2
        assert time.process_time() - used < 0.1


def test_a_frame_that_waits_to_be_delivered_holds_the_next_one_back():
    delivering, mailbox, seen = threading.Semaphore(0), Mailbox(), []

    def deliver(one):
        seen.append(one.state)
        delivering.acquire()

    renderer = Renderer(SlowView(launches=[1]), mailbox, deliver, pytest.fail)
    thread = threading.Thread(target=renderer.run)
    thread.start()
    for state in range(5):
        mailbox.put(state)
        while not seen:
            time.sleep(0.001)
    assert seen == [0]
    delivering.release()
    end = time.monotonic() + 10
    while len(seen) < 2 and time.monotonic() < end:
        time.sleep(0.001)
    mailbox.close()
    delivering.release()
    thread.join(10)
    assert seen == [0, 4]


def test_an_error_of_the_view_is_reported_and_the_next_state_rendered():
    view, frames = SlowView(launches=[1]), SlowView.frames

    def failing(state):
        if not state:
            raise ZeroDivisionError
        yield from frames(view, state)

    view.frames = failing
    with Shown(view) as shown:
        shown.put(0)
        while not shown.errors:
            time.sleep(0.001)
        shown.put(1)
        shown.wait(1)
    assert [type(error) for error in shown.errors] == [ZeroDivisionError]


def test_a_closed_mailbox_lets_no_one_wait():
    mailbox = Mailbox()
    mailbox.put(1)
    mailbox.close()
    with pytest.raises(Closed):
        mailbox.take()
    assert not mailbox.rest(10.0)


def test_states_of_a_burst_are_skipped():
    view = SlowView(launch=0.01, launches=[1])
    with Shown(view) as shown:
        for state in range(40):
            shown.put(state)
            time.sleep(0.002)
        shown.wait(1)
    assert len(view.launched) < 40 and view.launched[-1][1] == 39


# -------------------------------------------------------------------------------------- previews


def apart(shown, number):
    """Return the seconds by which an event came after the one before, at least."""
    return shown.puts[number][0] - shown.puts[number - 1][1]


def holds_with_previews(shown):
    """Assert every property of one sequence of events whose frames may be previews."""
    view, frames = shown.view, shown.frames
    samples, last = len(view.launches), len(shown.puts) - 1
    assert not shown.errors
    assert [one.number for one in frames] == list(range(1, len(frames) + 1))
    assert [one.state for one in frames] == sorted(one.state for one in frames)
    assert all(state == newest for state, newest in shown.mailbox.taken)
    taken = [state for state, _ in shown.mailbox.taken]
    whole = [one.state for one in frames if one.whole and one.frame.caption.startswith("1 of")]
    previews = [one.state for one in frames if not one.whole]
    assert len(whole) == len(set(whole)) and len(previews) == len(set(previews))
    # The last that is shown is whole, and has all samples.
    final = [one.frame.caption for one in frames if one.state == last and one.whole]
    assert final == [f"{k + 1} of {samples}" for k in range(samples)]
    assert frames[-1].whole and frames[-1].state == last
    # A preview comes before the whole of its state.
    numbers = {(one.state, one.frame.caption): one.number for one in frames}
    assert all(
        numbers[one, "preview"] < numbers.get((one, f"1 of {samples}"), 1e9)
        for one in taken
        if one in previews
    )
    # Whatever was taken is seen, or was given up for a newer state, which is seen.
    begun = {state for _, state, sample in view.launched if sample == 0}
    for state, following in zip(taken, [*taken[1:], None], strict=True):
        if state not in whole and state not in previews:
            assert state in begun and (following in previews or following in whole)
    # A preview is only shown while events come: two of them in quick succession, or one that came
    # while the picture of another was not whole yet.
    quick = [n for n in range(1, last + 1) if apart(shown, n) < PAUSE]
    given_up = begun - set(whole)
    for state in previews:
        assert any(n >= state for n in quick) or any(one < state for one in given_up)
    # After the last event at most one frame, or launch, of an older state ends.
    late = [one for when, one, _ in view.launched if when > shown.puts[-1][1] and one < last]
    assert len(late) <= view.launches[0] and len(set(late)) <= 1


@settings(max_examples=25)
@given(gaps, st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_the_latest_event_wins_with_previews(gaps, launches):
    holds_with_previews(after(PreviewingView(launches=launches), gaps))


@pytest.mark.thorough
@settings(max_examples=200)
@given(
    long_gaps,
    st.lists(st.integers(1, 8), min_size=1, max_size=3),
)
def test_the_latest_event_wins_with_previews_in_long_sequences(gaps, launches):
    holds_with_previews(after(PreviewingView(launches=launches), gaps))


def test_previews_are_shown_while_events_come_and_the_whole_picture_after_them():
    shown = after(PreviewingView(launch=0.005, launches=[8]), [0.001] * 150)
    holds_with_previews(shown)
    previews = [one for one in shown.frames if not one.whole]
    assert len(previews) > 3
    assert min(one.frame.pixels.size for one in previews) < 2 * 3 * 4


def test_an_event_alone_gives_the_whole_picture_at_once():
    with Shown(PreviewingView(launch=0.002, launches=[8])) as shown:
        for number in range(5):
            shown.put(number)
            shown.wait(1)
            time.sleep(2 * PAUSE)
    assert [(one.state, one.whole) for one in shown.frames] == [(k, True) for k in range(5)]


def test_pictures_that_are_quick_enough_have_no_previews():
    shown = after(PreviewingView(launches=[2]), [0.001] * 100, aim=20.0)
    holds(shown)
    assert all(one.whole for one in shown.frames)


def test_events_that_keep_giving_up_the_whole_picture_are_seen_all_the_same():
    """Events too far apart for a drag, and too near to each other for a whole picture."""
    view = PreviewingView(launch=0.01, launches=[30])
    with Shown(view) as shown:
        shown.put(0)
        shown.wait(1)
        for number in range(1, 9):
            shown.put(number)
            time.sleep(3 * PAUSE)
        shown.wait(1)
    holds_with_previews(shown)
    assert sum(not one.whole for one in shown.frames) >= 3


def test_an_error_of_a_preview_is_reported_and_the_whole_picture_shown():
    view = PreviewingView(launch=0.01, launches=[2])

    def broken(state, share):
        raise ZeroDivisionError
        yield

    view.preview = broken
    with Shown(view) as shown:
        shown.put(0)
        shown.wait(1)
        end = time.monotonic() + 20
        while not shown.errors:
            assert time.monotonic() < end, "no preview was asked for"
            shown.put(len(shown.puts))
            time.sleep(0.001)
        while shown.frames[-1].state != shown.mailbox.newest:
            assert time.monotonic() < end, "the last state is not shown"
            time.sleep(0.001)
    assert {type(error) for error in shown.errors} == {ZeroDivisionError}
    assert all(one.whole for one in shown.frames)


def test_the_share_follows_what_was_measured():
    share = Share(0.04)
    assert share.now() == 1.0  # nothing is known
    share.measured(0.05, 1.0)
    assert share.now() == 0.5
    share.measured(0.9, 0.5)  # kernels were built
    share.measured(0.025, 0.5)
    assert share.now() == 0.5
    for _ in range(5):
        share.measured(0.1, 0.5)
    assert share.now() == 1 / 8
    for _ in range(5):
        share.measured(0.003, 1 / 8)  # 0.012 with twice, 0.024 with eight times the pixels
    assert share.now() == 1.0
    for _ in range(5):
        share.measured(100.0, 1.0)
    assert share.now() == 1 / 64
    for _ in range(5):
        share.measured(2.0, 1.0)  # 1/64 takes 0.031: a size that will do is used again
    assert share.now() == 1 / 64
