"""A view whose frames take a while, as those of a device do, and which notes what was done."""

import threading
import time

import numpy as np

from societies.workload import Button, Change, Choice, Drag, Frame, Mouse, Slider, Wheel


class SlowView:
    """A state is a number; each sample of it takes some launches, which take some seconds each."""

    title, initial = "slow", 0

    def __init__(self, launch=0.002, launches=(2, 2, 2), shape=(2, 3)):
        self.launch, self.launches, self.shape = launch, launches, shape
        self.launched = []
        self._rendering = threading.Lock()

    def controls(self, state):
        return [
            Mouse(drag="by pixels", wheel="by 1000"),
            Slider("state", "State", state, 0, 1_000_000, 1),
            Choice("parity", "Parity", "odd" if state % 2 else "even", ["even", "odd"]),
            Button("zero", "Zero"),
        ]

    def take(self, state, event):
        if isinstance(event, Drag):
            return event.began + int(event.dx) + 100 * int(event.dy)
        if isinstance(event, Wheel):
            return state + 1000 * int(event.turns)
        if isinstance(event, Change):
            return event.value if event.name == "state" else state // 2 * 2 + (event.value == "odd")
        return 0

    def frames(self, state):
        for sample, launches in enumerate(self.launches):
            for launch in range(launches):
                assert self._rendering.acquire(blocking=False), "two frames at once"
                time.sleep(self.launch)
                self._rendering.release()
                self.launched.append((time.monotonic(), state, sample))
                if launch < launches - 1:
                    yield None
            caption = f"{sample + 1} of {len(self.launches)}"
            yield Frame(np.full((*self.shape, 4), state % 256, np.uint8), caption)

    def configuration(self, state):
        raise NotImplementedError


PREVIEW = -1
"""Stands for the sample of a launch of a preview."""


class PreviewingView(SlowView):
    """A slow view whose previews take their share of the first sample's time."""

    def preview(self, state, share):
        assert 1 / 64 <= share <= 1 / 2
        assert self._rendering.acquire(blocking=False), "two frames at once"
        time.sleep(self.launch * self.launches[0] * share)
        self._rendering.release()
        self.launched.append((time.monotonic(), state, PREVIEW))
        yield None
        rows, columns = (max(1, round(side * share**0.5)) for side in self.shape)
        pixels = np.full((rows, columns, 4), state % 256, np.uint8)
        yield Frame(pixels, "preview", self.shape)
