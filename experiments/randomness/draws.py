"""Which sequences do the kernels draw? Long ones of every kind, made on the device.

Every sequence is checked against the twin (reference_py/primitives/rng.py) at places spread over
all of it, so that what a test judges is what the kernels draw and what the model defines.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from reference_py.economy.streams import PURPOSES
from reference_py.primitives.rng import BASE, A, M, Rng, binomial_reserve
from societies import config_from_dict, load_config
from societies.economy.parameters import parameters
from societies.economy.schedule import day_schedule
from societies.economy.workload import WORKLOAD
from societies.opencl import Program
from societies.workload.running.engines import DeviceEngine

ROOT = Path(__file__).parents[2]
BLOCK_WORDS = 1 << 22
WORKGROUP = 64
AGENTS = 48


def load_program(device):
    """Compile the kernels of this experiment."""
    return Program(device, Path(__file__).parent / "draws.cl")


def economy(device, societies, first_society=0, seed=1):
    """Return the shipped economy without trade, before its first day."""
    changes = [f"replicates={societies}", f"first_society={first_society}", f"seed={seed}"]
    path = ROOT / "configs" / "economy" / "no_trade.yaml"
    p = parameters(load_config(path, changes))
    engine = DeviceEngine(WORKLOAD, p, device, first=first_society, copies=societies)
    engine.start()
    return engine


def economy_streams(device, societies, seed=1):
    """Return the streams that the economy's own kernel seeds: (society, owner, purpose) uint64."""
    return economy(device, societies, seed=seed).state()["stream"]


def stream_bases(seeds):
    """Return where the streams of each seed begin on the generator's orbit."""
    any_seed = parameters(config_from_dict({"workload": "economy", "agents": 2, "days": 1}))
    return [replace(any_seed, seed=seed).stream_base for seed in seeds]


class Interleaved:
    """One word of each stream in turn: word j is word j // n of stream j % n.

    Parameters
    ----------
    program : of `load_program`
    origins : (n,) uint64, packed states of the streams
    """

    def __init__(self, program, origins):
        self.program, self.origins = program, np.ascontiguousarray(origins, np.uint64).ravel()
        self.streams = len(self.origins)
        self.compared = 0

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the sequence without end, in arrays of about `BLOCK_WORDS` uint32."""
        device = self.program.device
        chunk = max(1, min(1024, BLOCK_WORDS // self.streams))
        chunks = max(1, BLOCK_WORDS // self.streams // chunk)
        items = self.streams * chunks
        states, words = device.zeros(items, np.uint64), device.zeros(items * chunk, np.uint32)
        sizes = {"streams": self.streams, "chunks": chunks, "chunk": chunk}
        launch = {"global_size": items, "local_size": WORKGROUP, "states": states, **sizes}
        self.program.place_chunks(origins=device.array(self.origins), **launch)
        start = 0
        while True:
            self.program.draw_words(words=words, **launch)
            block = words.get()
            self._compare(block, start)
            yield block
            start += len(block)

    def _compare(self, block, start):
        """Compare the first, the last and two other words with the twin."""
        some = np.random.default_rng(start).integers(0, len(block), 2)
        for j in (0, len(block) - 1, *some.tolist()):
            rng = Rng.load(self.origins[(start + j) % self.streams])
            rng.skip((start + j) // self.streams)
            if rng.next() != block[j]:
                raise AssertionError(f"word {start + j}: the device does not draw like the twin")
            self.compared += 1


class Nights:
    """Words that consumption takes in the nights of a run of the economy without trade.

    The societies are really run, `batch` at a time; where a night's draws begin, and how far apart
    those of different resources lie, is as the run has it. In order of the agents, each agent's
    nights in succession; with ``by_day`` in order of the nights, all agents in each.
    """

    def __init__(self, program, by_day=False, batch=8, days=500):
        self.program, self.by_day, self.batch, self.days = program, by_day, batch, days
        self.compared = 0

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the sequence, one batch of societies after the other."""
        first_society = 0
        while True:
            starts, held = self._run(first_society)
            yield self._draw(starts, held)
            first_society += self.batch

    def _run(self, first_society):
        """Return (society, agent, day) uint64 streams and (society, agent, day, resource) units."""
        engine = economy(self.program.device, self.batch, first_society)
        starts, held = [], []
        for day in range(1, self.days + 1):
            for step in day_schedule(engine.parameters, day):
                if step.phase == "consumption":
                    state = engine.state()
                    starts.append(state["stream"][:, :-1, PURPOSES["consumption"]])
                    held.append(state["held"])
                engine.step(step, day)
        axis = 0 if self.by_day else 2
        return np.stack(starts, axis), np.stack(held, axis)

    def _draw(self, starts, held):
        device = self.program.device
        resources = held.shape[-1]
        held, starts = np.ascontiguousarray(held.reshape(-1, resources)), starts.ravel()
        certain = np.where(held <= 8, held, (held + 31) // 32).sum(axis=1)
        first = np.cumsum(certain) - certain
        words = device.zeros(int(certain.sum()), np.uint32)
        self.program.draw_nights(
            starts=device.array(starts), held=device.array(held),
            first=device.array(first.astype(np.uint32)), nights=len(starts), resources=resources,
            words=words, global_size=len(starts), local_size=WORKGROUP,
        )  # fmt: skip
        block = words.get()
        for night in np.random.default_rng(int(starts[0] % 2**32)).integers(0, len(starts), 20):
            at = int(first[night])
            expected = self._twin(int(starts[night]), held[night].tolist())
            if block[at : at + len(expected)].tolist() != expected:
                raise AssertionError(f"night {night}: the device does not draw like the twin")
            self.compared += len(expected)
        return block

    @staticmethod
    def _twin(start, held):
        result, reserved = [], 0
        for units in held:
            rng = Rng.load(start)
            rng.skip(reserved)
            result += [rng.next() for _ in range(units if units <= 8 else -(-units // 32))]
            reserved += binomial_reserve(units)
        return result


class Derived:
    """Integers made from words by a kernel, the draws of each stream one after the other.

    Parameters
    ----------
    program : of `load_program`
    kernel : ``"draw_below"``, ``"draw_packed"`` or ``"draw_binomials"``
    origins : (n,) uint64, packed states of the streams
    arguments : of the kernel: n, and bits or threshold
    """

    def __init__(self, program, kernel, origins, **arguments):
        self.program, self.kernel, self.arguments = program, kernel, arguments
        self.origins = np.ascontiguousarray(origins, np.uint64).ravel()
        self.compared = 0

    def blocks(self, size=BLOCK_WORDS) -> Iterator[np.ndarray]:
        """Yield (stream, draw) uint32 without end, about `size` in each array."""
        device, streams = self.program.device, len(self.origins)
        count = max(1, size // streams)
        states, values = device.array(self.origins), device.zeros((streams, count), np.uint32)
        name = "words" if self.kernel == "draw_packed" else "values"
        before = self.origins
        while True:
            self.program.kernel(self.kernel)(
                states=states, streams=streams, count=count, **{name: values}, **self.arguments,
                global_size=streams, local_size=WORKGROUP,
            )  # fmt: skip
            block = values.get()
            self._compare(block, before)
            before = states.get()
            yield block

    def _compare(self, block, before):
        """Compare the beginning of two streams with the twin."""
        for i in np.random.default_rng(int(before[0] % 2**32)).integers(0, len(before), 2):
            rng = Rng.load(before[i])
            expected = [self._twin(rng) for _ in range(min(3, block.shape[1]))]
            if block[i, : len(expected)].tolist() != expected:
                raise AssertionError(f"stream {i}: the device does not draw like the twin")
            self.compared += len(expected)

    def _twin(self, rng):
        n = self.arguments["n"]
        if self.kernel == "draw_below":
            return rng.below(n)
        if self.kernel == "draw_binomials":
            return rng.binomial(n, self.arguments["threshold"])
        bits = self.arguments["bits"]
        word = 0
        for _ in range(32 // bits):
            value = n
            while value >= n >> bits << bits:
                value = rng.below(n)
            word = word << bits | value % 2**bits
        return word


class Congruential:
    """A bad generator: all 32 bits of x -> 1664525 x + 1013904223 modulo 2^32."""

    compared = 0

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the sequence without end."""
        factors = np.cumprod(np.full(BLOCK_WORDS, 1664525, np.uint32), dtype=np.uint32)
        ones = np.concatenate([np.ones(1, np.uint32), factors[:-1]])
        terms = np.cumsum(ones, dtype=np.uint32) * np.uint32(1013904223)
        x = np.uint32(1)
        while True:
            block = factors * x + terms
            yield block
            x = block[-1]


def orbit_state(distance):
    """Return the packed state `distance` draws from the origin of the orbit."""
    v = BASE * pow(A, distance, M) % M
    return v // A | v % A << 32


def sequences(program, quick=False):
    """Return the sequences of words by name, as functions that make them."""
    run = {"batch": 1, "days": 100} if quick else {}

    @cache
    def all_streams():
        return economy_streams(program.device, 1024)

    def streams(societies):
        return all_streams()[:societies]

    return {
        "single": lambda: Interleaved(program, streams(1)[0, 0, PURPOSES["extraction"]]),
        "agents": lambda: Interleaved(program, streams(1)[0, :AGENTS, PURPOSES["extraction"]]),
        "streams": lambda: Interleaved(program, streams(1024)),
        "purposes": lambda: Interleaved(program, streams(1)[0, 0]),
        "nights": lambda: Nights(program, **run),
        "nights by day": lambda: Nights(program, by_day=True, **run),
        "seeds": lambda: Interleaved(
            program, [orbit_state(base) for base in stream_bases(range(4096))]
        ),
        "below 2": lambda: Derived(program, "draw_packed", streams(8), n=2, bits=1),
        "below 48": lambda: Derived(program, "draw_packed", streams(8), n=48, bits=4),
        "below 1000": lambda: Derived(program, "draw_packed", streams(8), n=1000, bits=8),
        "below 2147483649": lambda: Derived(
            program, "draw_packed", streams(8), n=2**31 + 1, bits=16
        ),
    }


def controls(program):
    """Return sequences that a battery must find bad."""
    overlapping = [orbit_state(12345 + 128 * i) for i in range(AGENTS)]
    return {
        "control: congruential": Congruential,
        "control: streams 128 apart": lambda: Interleaved(program, overlapping),
    }
