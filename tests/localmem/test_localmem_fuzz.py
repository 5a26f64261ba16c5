"""Random programs: blocks that live together do not overlap, no byte is lost, results are right."""

import functools
import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import (
    POINTERS,
    TYPES,
    Allocate,
    Block,
    Branch,
    Enter,
    Free,
    Leave,
    RandomBodies,
    outliving,
    programs,
)

from societies.errors import BuildError
from societies.kerneltext.source import AmalgamatedText
from societies.localmem import plan
from societies.opencl import Program

DOUBLE = ("else", "switch")
BASE = re.compile(r"societies_local_memory \+ (\d+)")


def make(text):
    source = AmalgamatedText()
    source.append("p.cl", text)
    return plan(source, cached=False)


def offsets(program, planned):
    """Return the offset of every block, and of each function the bases of its calls in order.

    They are read from the rewritten text, which has the lines of the one before.
    """
    written = program.text("p", planned=True).split("\n")
    blocks, bases = {}, [[] for _ in program.bodies]
    current = 0
    for before, after in zip(written, planned.source.text.split("\n")[1:], strict=False):
        head = re.match(r"uint p_f(\d+)|kernel", before)
        block = re.match(r"__local \w+ \*b(\d+) = local_malloc", before)
        if head:
            current = int(head[1]) if head[1] else len(program.bodies) - 1
        elif block:
            blocks[int(block[1])] = int(BASE.search(after)[1])
        else:
            bases[current] += [int(base) for base in BASE.findall(after)]
    return blocks, bases


def check(program, planned, size):
    """Walk all paths with the offsets of the rewritten text; no two live blocks may meet."""
    blocks, bases = offsets(program, planned)
    allocates = [f"p_f{index}" in planned.functions for index in range(len(program.bodies))]
    seen = set()

    def function(index, base, live):
        if (index, base, live) not in seen:
            seen.add((index, base, live))
            body(program.bodies[index], index, base, live, iter(bases[index]))

    def body(items, index, base, live, calls):
        for item in items:
            if isinstance(item, Block):
                start = base + blocks[item.number]
                end = start + item.bytes
                assert start % TYPES[item.type] == 0
                assert end <= size
                assert all(end <= other[0] or other[1] <= start for other in live)
                body(item.body, index, base, (*live, (start, end)), calls)
            elif isinstance(item, Branch):
                # what does not count for memory is in the text all the same
                for part in (item.then, item.other) if item.form in DOUBLE else (item.then,):
                    body(part, index, base, live, calls)
            else:
                # f(g(x)): in the text the base of g is before that of f
                order = item.functions()[:: -1 if item.form == "nested" else 1]
                for callee in order:
                    if allocates[callee]:
                        function(callee, base + next(calls), live)

    function(len(program.bodies) - 1, 0, ())


@pytest.mark.thorough
@given(programs())
@settings(max_examples=40)
def test_live_blocks_never_overlap_and_no_byte_is_wasted(program):
    planned = make(program.text("p", planned=True))
    kernel = planned.kernels["p"]
    check(program, planned, kernel.declared)
    live, stack, slack = program.best()
    assert kernel.requested == live
    assert stack <= kernel.declared <= stack + slack


@pytest.mark.ci
@given(programs())
@settings(max_examples=20)
def test_blocks_of_one_type_are_packed_without_a_gap(program):
    for block in program.blocks:
        block.type = "uint4"
    kernel = make(program.text("p", planned=True)).kernels["p"]
    # no planner can do with less than what is live at once
    assert kernel.declared == kernel.requested == program.best()[0]


class Paths:
    """Follows every path of a program whose blocks outlive branches, loops of up to three rounds.

    ``place`` says where an allocation and where a call of a function goes, given the stack of
    (start, bytes, number). What is live is requested at every point of the text.
    """

    def __init__(self, program, place):
        self.program, self.place = program, place
        self.stacks = {}

    def run(self, *functions):
        for index in functions:
            self.function(index, {((), 0)})
        return self

    def function(self, index, states):
        ends = self.body(self.program.bodies[index], index, states, (index,))
        return ends["on"] | ends["return"]

    def body(self, items, index, states, where):
        ends = {"on": states, "break": set(), "continue": set(), "return": set()}
        for position, item in enumerate(items):
            here = (*where, position)
            found = self.item(item, index, ends["on"], here)
            ends = {how: ends[how] | found[how] for how in ends} | {"on": found["on"]}
            self.stacks.setdefault(here, set()).update(stack for stack, _ in ends["on"])
        return ends

    def item(self, item, index, states, where):
        ends = {"on": set(), "break": set(), "continue": set(), "return": set()}
        if isinstance(item, Allocate):
            for stack, base in states:
                start = self.place(item, index, stack, base)
                ends["on"].add(((*stack, (start, item.bytes, item.number)), base))
        elif isinstance(item, Free):
            assert all(stack[-1][1] == item.bytes for stack, _ in states)
            ends["on"] = {(stack[:-1], base) for stack, base in states}
        elif isinstance(item, Leave):
            ends[item.how] = set(states)
        elif isinstance(item, Enter):
            for stack, base in states:
                inner = self.place(item, index, stack, base)
                outs = self.function(item.function, {(stack, inner)})
                ends["on"] |= {(out, base) for out, _ in outs}
        elif item.form in ("if", "switch"):
            for number, part in enumerate(item.parts):
                found = self.body(part, index, states, (*where, number))
                for how, ones in found.items():
                    ends[how] |= ones
        else:
            ends["on"] |= states if item.form != "do" else set()
            for _ in range(3):
                self.stacks.setdefault((*where, "head"), set()).update(s for s, _ in states)
                found = self.body(item.parts[0], index, states, where)
                states = found["on"] | found["continue"]
                ends["on"] |= states | found["break"]
                ends["return"] |= found["return"]
        return ends


def top(stack):
    return max((start + size for start, size, _ in stack), default=0)


def best_place(item, index, stack, base):
    """Put a block where the stack ends now; functions have no frame of their own."""
    if isinstance(item, Enter):
        return 0
    alignment = POINTERS[item.type]
    return -(-top(stack) // alignment) * alignment


@pytest.mark.ci
@given(outliving())
@settings(max_examples=150)
def test_blocks_that_outlive_branches_and_loops_never_overlap(program):
    """Either every path has its blocks at the same places, or the program is refused."""
    kernel = len(program.bodies) - 1
    best = Paths(program, best_place).run(*range(kernel + 1))
    try:
        planned = make(program.text())
    except BuildError as error:
        assert re.search("allocate before the|with other blocks|every path must", str(error))
        assert any(len(stacks) > 1 for stacks in best.stacks.values())
        return
    size = planned.kernels["p"].declared
    texts = zip(program.text().split("\n"), planned.source.text.split("\n")[1:], strict=False)
    offsets, bases, current = {}, [[] for _ in program.bodies], 0
    for before, after in texts:
        if head := re.match(r"void f(\d+)|kernel", before):
            current = int(head[1]) if head[1] else len(program.bodies) - 1
        elif number := re.search(r"// (\d+)$", before):
            found = BASE.search(after)
            offsets[int(number[1])] = int(found[1])
        elif re.match(r"f\d+\(x\)", before):
            found = BASE.search(after)
            bases[current].append(int(found[1]) if found else 0)
    calls = _numbered_calls(program)

    def place(item, index, stack, base):
        if isinstance(item, Enter):
            return base + bases[index][calls[id(item)]]
        start = base + offsets[item.number]
        end = start + item.bytes
        assert start % POINTERS[item.type] == 0
        assert end <= size
        assert all(end <= other or other + length <= start for other, length, _ in stack)
        return start

    Paths(program, place).run(kernel)
    for where, stacks in best.stacks.items():
        if where[0] == kernel:
            assert len({tuple(block[:2] for block in stack) for stack in stacks}) <= 1


def _numbered_calls(program):
    """Return for each call which one it is in the text of its function."""
    numbers = {}

    def visit(items, counter):
        for item in items:
            if isinstance(item, Enter):
                numbers[id(item)] = next(counter)
            for part in getattr(item, "parts", ()):
                visit(part, counter)

    for body in program.bodies:
        visit(body, itertools.count())
    return numbers


def shortest_stack(blocks):
    """Try all places, each behind the blocks before it, for the shortest stack of (bytes, type)."""

    @functools.cache
    def search(index, used):
        if index == len(blocks):
            return used
        size, alignment = blocks[index]
        starts = [s for s in range(used, used + 64) if s % alignment == 0]
        return min(search(index + 1, start + size) for start in starts)

    return search(0, 0)


def shortest_in_any_order(blocks):
    """Try all orders; sizes being multiples of alignments, gaps need not be tried."""

    def length(order):
        used = 0
        for size, alignment in order:
            used = -(-used // alignment) * alignment + size
        return used

    return min(map(length, itertools.permutations(blocks)))


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from([1, 4, 16, 64])), max_size=3))
@settings(max_examples=40)
def test_a_plan_is_the_shortest_stack(counts):
    """No stack is shorter; one that might reorder blocks would save less than the gaps."""
    names = {size: name for name, size in POINTERS.items()}
    blocks = [(count * alignment, alignment) for count, alignment in counts]
    rows = [f"__local {names[a]} *p{i} = local_malloc({n});" for i, (n, a) in enumerate(blocks)]
    kernel = make("kernel void p(void) { local_malloc(0);\n" + "\n".join(rows) + "}").kernels["p"]
    assert kernel.declared == shortest_stack(blocks)
    free = shortest_in_any_order(blocks)
    assert free == kernel.requested
    assert kernel.declared - free <= sum(alignment - 1 for _, alignment in blocks)


def test_a_small_block_before_a_wide_one_costs_a_gap():
    wide = "__local char *c = local_malloc(1); __local double16 *w = local_malloc(128);"
    kernel = make(f"kernel void p(void) {{ {wide} }}").kernels["p"]
    assert (kernel.requested, kernel.declared) == (129, 256)
    # in functions, what is allocated before a call goes into that gap
    text = f"void f(void) {{ {wide} local_free(128); local_free(1); }}\n" + (
        "kernel void p(void) { __local char *c = local_malloc(100); f(); }"
    )
    assert make(text).kernels["p"].declared == 256


@pytest.mark.thorough
@pytest.mark.parametrize("planned", [True, False])
@given(st.lists(programs(3), min_size=6, max_size=6))
@settings(max_examples=3)
def test_planned_and_hand_allocated_programs_compute_the_same(device, tmp_path, planned, many):
    device.own_limits = True  # every block of a hand-allocated program has memory of its own
    texts = [program.text(f"p{i}", planned=planned) for i, program in enumerate(many)]
    path = tmp_path / "many.cl"
    path.write_text("\n".join(texts))
    program = Program(device, path)
    out = device.zeros(1, np.uint32)
    for i, one in enumerate(many):
        assert isinstance(one, RandomBodies)
        for n in (0, 5, 10, 15):
            program.kernel(f"p{i}")(global_size=1, local_size=1, out=out, n=n)
            assert int(out.get()[0]) == one.run(n), (n, one)
