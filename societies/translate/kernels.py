"""Which kernels carry out translated phases: one for each phase, or one for all phases of days?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from societies.translate.declared import Declared
from societies.translate.frames import CLine, Instance
from societies.translate.source import SourceFile


@dataclass(frozen=True)
class TranslatedPhase:
    """A translated phase.

    Attributes
    ----------
    phase, name : names of the phase and of its kernel
    entry : dimension that has a work-item for each entry; "": a copy has one work-item
    words : entries of scratch memory for each work-item, in a program of all phases of the unit
    instance : the function that carries it out
    """

    phase: str
    name: str
    entry: str
    words: int
    instance: Instance
    file: SourceFile
    line: int

    @property
    def sorts(self) -> bool:
        """Whether all work-items of a workgroup that has one copy sort together in it."""
        return not self.entry and in_stages(self.instance) is not None


@dataclass(frozen=True)
class JoinedPhases:
    """A kernel that carries out all phases of ``ticks`` ticks; a workgroup has one copy.

    Attributes
    ----------
    name : name of the kernel
    phases : the phases in order
    logged : fields that it also writes into the logs, of the first tick in row ``log_row``
    words : entries of scratch memory for each copy
    items : work-items of a workgroup, one on a CPU
    """

    name: str
    phases: tuple[str, ...]
    logged: tuple[str, ...]
    words: int
    items: int = 32


def kernel_of_phase(kernel: TranslatedPhase, declared: Declared) -> str:
    """Return the kernel of a phase: which work-item carries it out for which copy and entry.

    On a CPU the phase itself stays a function. PoCL promises its optimiser that the work-items of a
    kernel do not depend on each other, and loops of a work-item over its own lists then go wrong.
    """
    given = _given([kernel], declared)
    lines = [_loop(kernel)] if kernel.entry else []
    lines += [f"__kernel void {kernel.name}({', '.join(given.values())})", "{"]
    lines.append("    const size_t item = get_global_id(0);")
    call = _call(kernel)
    if kernel.entry:
        entries = declared.lengths[kernel.entry]
        stride = f"STRIDE(copies * {entries}ul)"
        lines.append(f"    const size_t copy = item / {entries}, stride = {stride};")
        lines.append(f"    const long entry = item % {entries};")
        call = _call(kernel, ("entry", "entry + 1", "1"))
    else:
        lines.append("    const size_t copy = item, stride = STRIDE(copies);")
    lines.append("    if (copy >= copies) return;")
    if declared.ended:
        lines.append(f"    if ({_over('state_ended[copy]', declared.clock)}) return;")
    lines += _own_arrays(kernel.instance.uses, declared)
    if "scratch" in given:
        lines.append(f"    scratch += FIRST_WORD(item, {max(kernel.words, 1)}ul);")
    if "fault" in given:
        lines.append("    __global int *fault = state_python_fault + copy;")
    return "\n".join([*lines, f"    {call}", "}"])


_SORT = re.compile(r" {4}sort_alone_scratch\((.*), stride, (\w+)\);")
_CONSTANT = re.compile(r" {4}(?:const )?(\w+) (\w+) = (.*)")
_FIRST_ITEM = "    if (first_item) {"


def in_stages(one: Instance) -> Instance | None:
    """Return the function of a phase for all work-items of a workgroup; None if it sorts nothing.

    They come to a sort together if every copy comes to it once: it is in no block, and no return is
    before it. Work-item 0 alone carries out the lines between sorts. The constants of these stages
    become variables of the function, as later stages use them.
    """
    begin = next((i for i, line in enumerate(one.lines) if "//" in line.text), len(one.lines))
    variables, lines = list(one.lines[:begin]), list[CLine]()
    ended = False
    for line in one.lines[begin:]:
        ended = ended or line.text.endswith(" return;")
        if not ended and (sort := _SORT.fullmatch(line.text)):
            for text in ("    }", f"    sort_together({sort[1]}, {sort[2]});", _FIRST_ITEM):
                lines.append(line._replace(text=text))
            continue
        if constant := _CONSTANT.fullmatch(line.text):
            ctype, name, value = constant.groups()
            variables.append(line._replace(text=f"    {ctype} {name};"))
            line = line._replace(text=f"    {name} = {value}")
        lines.append(line._replace(text=f"    {line.text}"))
    if not any(line.text == _FIRST_ITEM for line in lines):
        return None
    ends = lines[0]._replace(text=_FIRST_ITEM), lines[-1]._replace(text="    }")
    name = f"{one.name}_together"
    head = f"COLLECTIVE void {name}(const int first_item, {one.head.partition('(')[2]}"
    return replace(one, name=name, head=head, lines=[*variables, ends[0], *lines, ends[1]])


def kernel_of_several(
    joined: JoinedPhases, kernels: Sequence[TranslatedPhase], declared: Declared
) -> str:
    """Return the kernel of all phases: for a copy, each as if it were launched alone.

    Work-items of a workgroup, one on a CPU, share the entries of a phase; one carries out phases of
    a whole copy, but all of them sort (`in_stages`). A copy that has ended keeps its state, which
    is logged nevertheless, and sorts nothing. All ticks of a copy are carried out before the next
    copy begins, so its state stays in the cache.
    """
    given = _given(kernels, declared)
    own = dict(given)
    for name in joined.logged:
        ctype = given[f"state_{name}"].split("*")[0]
        given[f"{name}_log"] = f"{ctype}*{name}_log"
    given |= {"log_row": "const int log_row", "ticks": "const int ticks"}
    lines = [f"__kernel void {joined.name}({', '.join(given.values())})", "{"]
    lines.append("    const size_t copy = get_group_id(0), stride = 1;")
    lines.append("    if (copy >= copies) return;")
    if declared.ended:
        lines.append("    __global const int *const ended_at = state_ended + copy;")
    lines += _own_arrays(own, declared)
    if "scratch" in own:
        lines.append(f"    scratch += copy * {max(joined.words, 1)}ul;")
    lines.append("    for (int past = 0; past < ticks; ++past) {")
    past = {name: f"{name} + past" for name in ("tick", declared.clock)}
    over = _over("ended_at[0]", f"{declared.clock} + past")
    for kernel in kernels:
        entries = declared.lengths[kernel.entry] if kernel.entry else 0
        shared = ("LANE", str(entries), "LANES") if kernel.entry else ()
        conditions = ["LANE == 0"] * (not kernel.entry) + [f"!({over})"] * declared.ended
        who = " && ".join(conditions)
        alone = f"        {f'if ({who}) ' * bool(who)}{_call(kernel, shared, past)}"
        if kernel.sorts:
            together = f"        {_call(kernel, (who,), past, '_together')}"
            lines += ["#if DEVICE_IS_CPU", alone, "#else", together, "#endif"]
        else:
            lines.append(alone)
        lines.append("        after_phase(CLK_GLOBAL_MEM_FENCE);")
    for name in joined.logged:
        size = _size(name, declared)
        row = f"{name}_log + ((size_t)(log_row + past) * copies + copy) * {size}ul"
        lines.append(f"        log_bytes({row}, state_{name}, {size} * sizeof(*state_{name}));")
    return "\n".join([*lines, "        after_phase(CLK_GLOBAL_MEM_FENCE);", "    }", "}"])


def _loop(kernel: TranslatedPhase) -> str:
    """Return the function that carries out a phase for every ``step``-th entry of some."""
    uses = kernel.instance.uses
    head = ", ".join(["const long first", "const long end", "const long step", *uses.values()])
    call = ", ".join(["i", *uses])
    return "\n".join([
        f"WHOLE void {kernel.instance.name}_each({head})", "{",
        f"    for (long i = first; i < end; i += step) {kernel.instance.name}({call});", "}\n\n",
    ])  # fmt: skip


def _given(kernels: Sequence[TranslatedPhase], declared: Declared) -> dict[str, str]:
    """Return the parameters of the kernel of some phases by name."""
    inner = ("copy", "stride", "item")
    uses = [(name, text) for one in kernels for name, text in one.instance.uses.items()]
    given = {name: text for name, text in uses if name not in inner}
    given.setdefault("copies", "const uint copies")
    if declared.ended:
        given.setdefault("state_ended", "__global int *state_ended")
        given.setdefault(declared.clock, f"const int {declared.clock}")
    if "fault" in given:
        given["fault"] = "__global int *state_python_fault"
    return given


def _over(ended: str, tick: str) -> str:
    """Return the condition that a copy ended before this tick; the tick of its end is completed."""
    return f"{ended} >= 0 && {ended} != {tick}"


def _own_arrays(names: Mapping[str, str], declared: Declared) -> Iterator[str]:
    """Yield the lines that make pointers to the state those of a copy."""
    for name in names:
        if name.startswith("state_"):
            yield f"    {name} += copy * {_size(name.removeprefix('state_'), declared)};"


def _size(field: str, declared: Declared) -> int:
    """Return the numbers that a field has for each copy."""
    one = declared.fields.get(field)
    dims = one.dims if one is not None else ("series",)
    return math.prod(declared.lengths[dim] for dim in dims)


def _call(
    kernel: TranslatedPhase,
    first: Sequence[str] = (),
    past: Mapping[str, str] | None = None,
    form: str = "_each",
) -> str:
    """Return the call of the function that carries out a phase.

    With arguments in front (``first``) it is that of a form: ``_each`` or ``_together``.
    """
    uses = [(past or {}).get(name, name) for name in kernel.instance.uses]
    name = f"{kernel.instance.name}{form}" if first else kernel.instance.name
    return f"{name}({', '.join([*first, *uses])});"
