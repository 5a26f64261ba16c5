"""Random programs: blocks that live together do not overlap, no byte is lost, results are right."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import TYPES, Block, Branch, Program, programs

from societies.device import Program as DeviceProgram
from societies.device.source import Source
from societies.localmem import plan

DOUBLE = ("else", "switch")
BASE = re.compile(r"societies_local_memory \+ (\d+)")


def make(text):
    source = Source()
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


@given(programs())
@settings(max_examples=40)
def test_live_blocks_never_overlap_and_no_byte_is_wasted(program):
    planned = make(program.text("p", planned=True))
    kernel = planned.kernels["p"]
    check(program, planned, kernel.reserved)
    live, stack = program.best()
    assert kernel.requested == live
    assert kernel.reserved == -(-stack // 16) * 16


@given(programs())
@settings(max_examples=20)
def test_blocks_of_one_type_are_packed_without_a_gap(program):
    for block in program.blocks:
        block.type = "uint4"
    kernel = make(program.text("p", planned=True)).kernels["p"]
    # no planner can do with less than what is live at once
    assert kernel.reserved == kernel.requested == program.best()[0]


@pytest.mark.parametrize("planned", [True, False])
@given(st.lists(programs(3), min_size=6, max_size=6))
@settings(max_examples=3)
def test_planned_and_hand_allocated_programs_compute_the_same(device, tmp_path, planned, many):
    device.own_limits = True  # every block of a hand-allocated program has memory of its own
    texts = [program.text(f"p{i}", planned=planned) for i, program in enumerate(many)]
    path = tmp_path / "many.cl"
    path.write_text("\n".join(texts))
    program = DeviceProgram(device, path)
    out = device.zeros(1, np.uint32)
    for i, one in enumerate(many):
        assert isinstance(one, Program)
        for n in (0, 5, 10, 15):
            program.kernel(f"p{i}")(global_size=1, local_size=1, out=out, n=n)
            assert int(out.get()[0]) == one.run(n), (n, one)
