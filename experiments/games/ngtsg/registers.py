"""How many registers do the calculations of moves and of values need, and what fits an H100?

    python experiments/games/ngtsg/registers.py [--results FOLDER]

OpenCL tells no registers, but the machine code does that NVRTC makes of the same kernels through
our translation to CUDA. It compiles for an architecture by name, so no GPU is needed; CuPy and
NVRTC are (pip install cupy-cuda13x nvidia-cuda-nvrtc). One work-item calculates a node, so the
work-items that a GPU holds at a time are the nodes that it calculates at a time.
"""

import argparse
import struct
import sys
import tempfile
from pathlib import Path

import pytest
from rows import append

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tests"))  # cuda_on_paper: a CUDA device without a GPU

NAME = "sm-90-registers.csv"
GAMES = {
    "connect6": {"workload": "connect6", "width": 48, "full_width": True},
    "chess": {"workload": "chess", "rules": "pseudo_legal"},
}
KERNELS = ("branch_batch", "evaluate_batch")
REGCOUNT, FRAME_SIZE = 0x2F, 0x11
"""Attributes of a kernel in the section .nv.info: registers and bytes of stack of a work-item."""

PROCESSORS, WARP, PARTITIONS = 132, 32, 4
REGISTERS, GRAIN, MOST_WARPS = 16_384, 256, 16
"""An H100's multiprocessors; registers of each of their four partitions, in what portions a warp
gets them, and the most warps of a partition."""


def resident_warps(registers):
    """Return how many warps of a kernel a multiprocessor holds, registers being what is short."""
    of_a_warp = -(-registers * WARP // GRAIN) * GRAIN
    return PARTITIONS * min(MOST_WARPS, REGISTERS // of_a_warp)


def kernel_facts(code):
    """Return {kernel: {attribute: number}} of machine code, an ELF file of 64 bits."""
    (at,) = struct.unpack_from("<Q", code, 0x28)
    size, count, names = struct.unpack_from("<HHH", code, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", code, at + size * i) for i in range(count)]

    def text(table, offset):
        begin = table[4] + offset
        return code[begin : code.index(b"\0", begin)].decode()

    sections = {text(headers[names], header[0]): header for header in headers}
    symbols, words = sections[".symtab"], sections[".strtab"]
    begin, length = sections[".nv.info"][4:6]
    info, at, found = code[begin : begin + length], 0, {}
    while at < length:
        layout, attribute, number = struct.unpack_from("<BBH", info, at)
        at += 4
        if layout == 4:  # as many bytes as the number says follow; other layouts have none
            if attribute in (REGCOUNT, FRAME_SIZE):
                symbol, value = struct.unpack_from("<II", info, at)
                (offset,) = struct.unpack_from("<I", code, symbols[4] + 24 * symbol)
                found.setdefault(text(words, offset), {})[attribute] = value
            at += number
    return found


def machine_code(settings):
    """Return the machine code of a search's kernels for an H100."""
    from cuda_on_paper import device

    from societies import config_from_dict
    from societies.opencl.cuda import compiler
    from societies.workload.running.engines import DeviceEngine
    from societies.workload.running.registry import workload

    made, compile_text = [], compiler.compile_text

    def noted(*given):
        made.append(compile_text(*given))
        return made[-1]

    config = config_from_dict({**settings, "depth": 2, "pruning": "none"})
    chosen = workload(config.workload)
    with tempfile.TemporaryDirectory() as empty, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOCIETIES_CACHE_DIR", empty)  # files in that cache are not compiled
        patch.setattr(compiler, "compile_text", noted)
        DeviceEngine(chosen, chosen.parameters(config), device()).start()
    return [code for _, code, _ in made]


def measured():
    """Return a row for each calculation of each game."""
    rows = []
    for game, settings in GAMES.items():
        facts = {}
        for code in machine_code(settings):
            facts |= kernel_facts(code)
        for kernel in KERNELS:
            registers = facts[kernel][REGCOUNT]
            warps = resident_warps(registers)
            rows.append({
                "game": game, "kernel": kernel, "registers": registers,
                "stack_bytes": facts[kernel].get(FRAME_SIZE, 0), "warps": warps,
                "nodes_at_a_time": PROCESSORS * warps * WARP,
            })  # fmt: skip
    return rows


def write(results, rows):
    """Write rows to their file in a folder, and print them."""
    (results / NAME).unlink(missing_ok=True)
    for row in rows:
        append(results / NAME, list(row), row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    write(parser.parse_args().results, measured())


if __name__ == "__main__":
    main()
