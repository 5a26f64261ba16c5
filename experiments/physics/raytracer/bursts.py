"""How long after the last of many events does its picture come, if the latest one wins?"""

import threading
import time
from collections import deque

from societies.view.renderer import AIM, Mailbox, Renderer


class Queue(Mailbox):
    """A mailbox that holds all states, which are rendered in turn."""

    def __init__(self):
        super().__init__()
        self._states = deque()


def delay_after_burst(view, states, *, interval=1 / 60, newest_only=True):
    """Return the seconds from the last of many states to its first whole frame.

    Parameters
    ----------
    view : View
    states : successive states, each different from the one before
    interval : seconds between two states, as a dragged mouse sends them
    newest_only : whether a newer state replaces a waiting one (`Mailbox`); otherwise all states are
        rendered in turn (`Queue`), without previews

    Raises
    ------
    Exception
        The error that the view raised.
    """
    mailbox = Mailbox() if newest_only else Queue()
    shown, errors, times = threading.Event(), [], []

    def deliver(one):
        if one.state == states[-1] and one.whole and not times:
            times.append(time.perf_counter())
            shown.set()

    def failed(error):
        errors.append(error)
        shown.set()

    aim = AIM if newest_only else float("inf")
    thread = threading.Thread(target=Renderer(view, mailbox, deliver, failed, aim=aim).run)
    thread.start()
    try:
        begin = time.perf_counter()
        for number, state in enumerate(states):
            time.sleep(max(0.0, begin + number * interval - time.perf_counter()))
            mailbox.put(state)
        last = time.perf_counter()
        shown.wait()
    finally:
        mailbox.close()
        thread.join()
    if errors:
        raise errors[0]
    return times[0] - last
