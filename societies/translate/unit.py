"""What text of OpenCL C has all phases of a model, and which arguments do its kernels get?"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import FunctionType
from typing import Any

from societies.config.problems import suggestion
from societies.translate.declared import Declared
from societies.translate.frames import Again, CLine, Instance, Namespace, bindings_of
from societies.translate.function import Function
from societies.translate.kernels import (
    JoinedPhases,
    TranslatedPhase,
    in_stages,
    kernel_of_phase,
    kernel_of_several,
)
from societies.translate.names import PRELUDE, in_c, word_of_opencl
from societies.translate.races import require_no_races, require_one_name
from societies.translate.source import Site, SourceFile, definition, without_docstring
from societies.translate.values import FIXED, INT, List, Number, Settings, Society

PRIVATE = 64
"""Largest number of entries of a list in private memory; longer ones are in scratch memory."""

SHORT = 50_000
"""Characters of functions from which on whole ticks are not one launch on GPUs, where they take
longer than a launch for each phase (docs/design/translated-rules.md)."""

SORTERS = 128
"""Work-items that sort together the numbers of a copy in a phase that is launched by itself."""

MOST_WORDS = 2**31 // 8
"""Largest number of entries of the lists of a phase, of 8 bytes each, for one work-item."""

_WORD = re.compile(r"§(\d+):(\d+)§")


class TranslatedProgram:
    """A program of translated phases.

    Parameters
    ----------
    declared : what rules can name
    checked : whether every operation is tested, and the first fault of each copy noted

    Attributes
    ----------
    arguments : values of kernel parameters that follow from the configuration, by name
    sites : places that a checked build tests; the fault 1 is the first of them
    """

    def __init__(self, declared: Declared, *, checked: bool = False) -> None:
        self.declared, self.checked = declared, checked
        self.sites: list[Site] = []
        ends = ("log", "count", "rows")
        of_events = [f"{name}_{end}" for name in declared.events for end in ends]
        of_events += ["tick"] * bool(of_events)
        self.reserved = {*of_events, f"{declared.copies}_numbers"}  # names of parameters
        self.instances: dict[Any, Instance] = {}
        self.finished: list[Instance] = []
        self.structures: dict[str, str] = {}
        self.arguments: dict[str, Any] = {}
        self.kernels: dict[str, TranslatedPhase] = {}
        self.joined: JoinedPhases | None = None
        self.files: dict[str, SourceFile] = {}
        self.settings: dict[str, str] = {}  # names in C of settings, by their path
        self.columns: list[str] = []  # paths of settings that differ between copies
        self.active: list[Any] = []
        self.exact: set[Any] = set()  # functions whose text depends on numbers that are written
        self.private = PRIVATE
        self.most_rounds = 0  # of all loops of a call, after which they end; 0: any number
        self.pure = ""  # name of the rule, if it may neither draw nor change anything
        self.entry = ""  # dimension of the phase that is translated
        self.names: Counter[str] = Counter()
        self._numbers = 0

    # ---------------------------------------------------------------- phases

    def phase(self, function: Callable[..., None], name: str = "") -> TranslatedPhase:
        """Translate a phase.

        Raises
        ------
        TranslationError
            If a line of it, or of a function that it calls, cannot be translated.
        """
        assert isinstance(function, FunctionType)
        self._forget_text()
        node, file = definition(function)
        name = name or function.__name__
        names, entry = phase_parameters(function, name, self.declared)
        facts: dict[Any, Any] = {}
        self.active.clear()
        self.entry = entry
        first = self.instance(f"{name}_alone").name
        while True:
            made = self.instance(first)
            made.name = first  # of the last pass: `WHOLE` and the kernel's name depend on it
            frame = Namespace(node, file, function.__globals__, {}, bindings_of(node))
            f = Function(self, frame, made, facts)
            try:
                self._carry_out(f, names, entry)
                break
            except Again as again:
                if again.facts is not facts:
                    raise
                self.active.clear()
        self.finish(f, "void", file, node.lineno)
        require_one_name(made.accesses)
        if entry:
            require_no_races(made.accesses, entry)
        self.kernels[name] = TranslatedPhase(
            name, f"{made.name[:-6]}_kernel", entry, 0, made, file, node.lineno
        )
        self._measure()
        kernel = self.kernels[name]
        if kernel.words > MOST_WORDS:
            del self.kernels[name]
            self._measure()
            reason = f"the lists of {name} need {kernel.words * 8:,} bytes for each work-item"
            raise file.error(node, reason, "Make their bounds smaller, or use fields.")
        return kernel

    def _measure(self) -> None:
        """Set the scratch memory of every kernel.

        A function that several phases call has one place, behind the lists of all its callers; so
        another phase may move it, and all kernels that call it need more.
        """
        bases = self._bases(self.reachable([one.instance for one in self.kernels.values()]))
        for name, kernel in self.kernels.items():
            called = [one for one in self.reachable([kernel.instance]) if one.words]
            ends = (bases[one.number] + one.words for one in called)
            self.kernels[name] = replace(kernel, words=max(ends, default=0))

    def _carry_out(self, f: Function, names: Sequence[str], entry: str) -> None:
        """Translate the body of a phase."""
        scope, line = f.frame.scope, f.frame.node.lineno
        scope[names[0]] = Settings(self.declared.settings)
        scope[names[1]] = Society()
        for name in names[2:]:
            rebound = f.frame.bindings[name] > 0
            if name == entry:
                if rebound:
                    f.error(f.frame.node, f"'{name}' is the entry of the work-item and stays it")
                c, high = f.cname(name), self.declared.lengths[entry] - 1
                f.instance.parameters.append(f"const long {c}")
                scope[name] = Number(c, INT, FIXED, 0, high, line=line, offset=0)
                continue
            if word_of_opencl(name) or not name.isascii():
                f.error(f.frame.node, f"the kernel cannot have an argument '{name}'",
                        "It is a word of OpenCL C or of kernels: choose another.")  # fmt: skip
            if rebound:
                f.error(f.frame.node, f"'{name}' is given to the phase", "Use another name for it.")
            f.cnames[name] += 1  # the host knows it by its name
            scope[name] = Number(f.use(name, f"const int {name}"), INT, FIXED, line=line)
        f.frame.assigned = set(names)
        assert isinstance(f.frame.node, ast.FunctionDef)
        f.statements(without_docstring(f.frame.node))

    def join(self, phases: Sequence[str], logged: Sequence[str] = ()) -> JoinedPhases | None:
        """Add a kernel that carries out consecutive phases of a copy.

        Returns None if one is not translated, or works on entries and needs scratch memory.

        ``phases`` are all phases of a tick, in order; the kernel logs those of the fields
        ``logged`` that they write.
        """
        self._forget_text()
        kernels = [self.kernels[name] for name in phases if name in self.kernels]
        if self.checked or not phases or len(kernels) < len(phases):
            return None
        if any(one.entry and one.words for one in kernels):
            return None
        used = {name for one in kernels for name in one.instance.uses}
        own = tuple(name for name in logged if f"state_{name}" in used)
        words = max(one.words for one in kernels)
        self.joined = JoinedPhases("all_phases_kernel", tuple(phases), own, words)
        return self.joined

    # ---------------------------------------------------------------- functions

    def instance(self, name: str) -> Instance:
        """Return a new function in C, of a name that no other has."""
        self._numbers += 1
        name = in_c(name)
        self.names[name] += 1
        count = self.names[name]
        return Instance(name if count == 1 else f"{name}__{count}", self._numbers)

    def finish(self, f: Function, kind: str, file: SourceFile, line: int) -> None:
        """Complete the text of a function after its statements."""
        made = f.instance
        parameters = [*made.parameters, *made.uses.values()]
        if isinstance(made.result, List):
            qualifier = self.space(made.result.space)
            for i, column in enumerate(made.result.columns):
                parameters.append(f"{qualifier}{column.ctype} *result{i or ''}")
            parameters.append("long *result_n")
        made.head = f"static {kind} {made.name}({', '.join(parameters) or 'void'})"
        declared = []
        for what, ctype in f.declared.items():
            plain = "=" in what or "[" in what or (ctype == "rng_t" and what[0] != "*")
            initial = "" if plain else " = 0"
            declared.append(CLine(f"    {ctype} {what}{initial};", file.name, line))
        made.lines = [*declared, *f.out]
        self.files[file.name] = file
        self.finished.append(made)

    def reachable(self, roots: Sequence[Instance]) -> list[Instance]:
        """Return all functions that some functions call and these; callers before callees."""
        wanted, waiting = set(), list(roots)
        while waiting:
            one = waiting.pop()
            if one.number not in wanted:
                wanted.add(one.number)
                waiting += one.calls
        return [one for one in reversed(self.finished) if one.number in wanted]

    def _bases(self, order: Sequence[Instance]) -> dict[int, int]:
        """Return the first entry of the lists of each function: callees lie behind callers."""
        bases: dict[int, int] = {}
        for one in order:
            base = bases.setdefault(one.number, 0)
            for called in one.calls:
                bases[called.number] = max(bases.get(called.number, 0), base + one.words)
        return bases

    def site(self, file: SourceFile, line: int, what: str) -> int:
        """Return the number of a place that a checked build tests."""
        one = (file, line, what)
        if one not in self.sites:
            self.sites.append(one)
        return self.sites.index(one) + 1

    def space(self, name: str) -> str:
        """Return the qualifier of a pointer into a space of memory."""
        if name == "table":  # a rule of a model is given no arguments of the kernel
            return "__constant " if self.pure else "__global const "
        return "__global " if name in ("field", "scratch") else ""

    # ---------------------------------------------------------------- text

    def _forget_text(self) -> None:
        """Forget what was made of the phases so far, as there will be others."""
        for name in ("short", "sorting", "text"):
            self.__dict__.pop(name, None)

    @cached_property
    def short(self) -> bool:
        """Whether GPUs too have a kernel of all phases (`SHORT`)."""
        return sum(len(line.text) for one in self.finished for line in one.lines) < SHORT

    @cached_property
    def sorting(self) -> dict[str, JoinedPhases]:
        """Kernels by phase whose work-items sort together, a copy in each workgroup.

        Only of programs of which GPUs launch each phase by itself.
        """
        if self.checked or self.short:
            return {}
        return {
            name: JoinedPhases(f"{name}_together_kernel", (name,), (), one.words, SORTERS)
            for name, one in self.kernels.items()
            if one.sorts
        }

    @property
    def name(self) -> str:
        """Name of the text, which includes its hash: other text, other name."""
        return f"<rules {hashlib.sha256(self.text.encode()).hexdigest()[:12]}>"

    @cached_property
    def text(self) -> str:
        """The whole text, with ``#line`` to the files of the rules."""
        return self.text_of(self.kernels)

    def text_of_functions(self, functions: Sequence[Instance]) -> str:
        """Return the text of some functions and all that they call, without ``#line``."""
        order = self.reachable(functions)
        parts = [
            "\n".join([one.head, "{", *(line.text for line in one.lines), "}"])
            for one in reversed(order)
        ]
        return "\n\n".join([*self.structures.values(), *parts])

    def scratch_words(self, functions: Sequence[Instance]) -> int:
        """Return the entries of scratch memory that some functions and all that they call need."""
        order = self.reachable(functions)
        bases = self._bases(order)
        return max((bases[one.number] + one.words for one in order), default=0)

    def text_of(self, phases: Sequence[str] | Mapping[str, TranslatedPhase]) -> str:
        """Return the text of some phases."""
        kernels = [self.kernels[name] for name in phases]
        order = self.reachable([one.instance for one in kernels])
        bases = self._bases(order)
        parts = [f"#define CHECKED {int(self.checked)}", f'#include "{PRELUDE}"']
        body = "\n".join([one.head + "".join(line.text for line in one.lines) for one in order])
        parts += [text for name, text in self.structures.items() if name in body]
        parts += [_with_lines(one) for one in reversed(order)]
        parts += [kernel_of_phase(one, self.declared) for one in kernels]
        for staged in filter(None, (in_stages(one.instance) for one in kernels if one.sorts)):
            parts.append(f"#if !DEVICE_IS_CPU\n{_with_lines(staged)}\n#endif")
        for name, together in self.sorting.items():
            if name not in phases:
                continue
            alone = kernel_of_several(together, [self.kernels[name]], self.declared)
            parts.append(f"#if !DEVICE_IS_CPU\n{alone}\n#endif")
        if self.joined is not None and set(self.joined.phases) <= set(phases):
            several = [self.kernels[name] for name in self.joined.phases]
            whole = kernel_of_several(self.joined, several, self.declared)
            parts.append(whole if self.short else f"#if DEVICE_IS_CPU\n{whole}\n#endif")
        text = _WORD.sub(lambda at: str(bases[int(at[1])] + int(at[2])), "\n\n".join(parts))
        return text.replace("§width§", str(len(self.columns))) + "\n"


def phase_parameters(
    function: FunctionType, name: str, declared: Declared
) -> tuple[list[str], str]:
    """Return the parameters of a phase, and the dimension whose entries are its work-items, or "".

    Raises
    ------
    TranslationError
        If no engine can call it.
    """
    node, file = definition(function)
    first, others = node.args.posonlyargs, node.args.args
    names = [one.arg for one in (*first, *others)]
    given = {declared.clock, "tick", *declared.arguments}
    entry = names[-1] if len(names) > 2 and names[-1] in {*declared.lengths} - given else ""
    unknown = [one for one in names[2:] if one not in given and one != entry]
    plain = ast.arguments(first, others, None, [], [], None, [])
    hint = f"Write def {name}(config, {declared.copies}, {declared.clock})."
    reason = ""
    if len(names) < 2:
        reason = f"a phase has two parameters at least, and {name} has {len(names) or 'none'}"
    elif unknown and all(one in declared.lengths for one in unknown):
        reason = f"the entry '{unknown[0]}' is not the last parameter of the phase {name}"
        if entry:
            reason = f"the phase {name} is for entries of '{unknown[0]}' and '{entry}': one can be"
        hint = f"{hint[:-2]}, {unknown[0]})."
    elif unknown:
        unknown = [one for one in unknown if one not in declared.lengths]
        near = suggestion(unknown[0], [*given, *declared.lengths])
        reason = f"the phase {name} is given no '{unknown[0]}'{near}"
        if dims := [one for one in declared.lengths if one != "series"]:
            hint += f" A last parameter of a phase for each entry is one of {', '.join(dims)}."
    elif ast.dump(plain) != ast.dump(node.args):
        reason = f"the phase {name} has parameters that are never given, or a default"
    elif inspect.isgeneratorfunction(function):
        reason, hint = f"a rule is no generator: calling {name} does nothing", "Write a loop."
    if reason:
        raise file.error(node, reason, hint, wrong=True)
    return names, entry


def _with_lines(one: Instance) -> str:
    """Return the text of a function, in which every line says where it comes from."""
    first = one.lines[0] if one.lines else CLine("", "", 1)
    alone = one.name.endswith("_alone") and not one.parameters  # of entries the loop is whole
    head = one.head.replace("static ", "WHOLE ", 1) if alone else one.head
    parts, at = [f'#line {first.number} "{first.file}"', head, "{"], (first.file, first.number + 2)
    for line in one.lines:
        if (line.file, line.number) != at:
            parts.append(f'#line {line.number} "{line.file}"')
        parts.append(line.text)
        at = (line.file, line.number + 1)
    return "\n".join([*parts, "}"])
