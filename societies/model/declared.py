"""What does a model in one file declare, and which phases, kernels and reference follow from it?"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from societies.config.problems import suggestion
from societies.errors import ConfigError, TranslationWarning
from societies.inputs import shown
from societies.kerneltext.source import Generated, amalgamate, without_comments
from societies.model.carried import NUMBER, PLACE, note_number, on_host, phase_in_python
from societies.model.mistakes import place_of, require_class, require_declared, with_arguments
from societies.model.repeatable import require_repeatable
from societies.opencl.debug import checked_mode
from societies.translate import (
    Declared,
    TranslatedPhase,
    TranslatedProgram,
    TranslationError,
    files_of,
    phase_parameters,
    rules_sha256,
)
from societies.workload import (
    Field,
    Launch,
    Phase,
    Scratch,
    Source,
    Step,
    Workload,
)
from societies.workload.declare.fields import SERIES
from societies.workload.declare.naming import Imported
from societies.workload.declare.phases import Joined, phase
from societies.workload.declare.protocol import C, P
from societies.workload.running.ensembles import once
from societies.workload.running.faults import FAULT, require_no_fault
from societies.workload.values.copies import Copies
from societies.workload.values.keys import VALUE_TABLE

_WARNED: set[str] = set()
"""Messages of phases that cannot be translated, each of which is shown once."""


class Model(Workload[C, P]):
    """A workload in one Python file.

    Attributes
    ----------
    start, day : names of the phases before the first day, and of the phases of a day in order. A
        phase is a function of the module, ``phase(config, society, day)``. If it has a further
        parameter named like a dimension, such as ``agent``, it is called for every entry
    """

    start: ClassVar[tuple[str, ...]] = ()
    day: ClassVar[tuple[str, ...]] = ()
    clock, copies, work = "day", "society", "society-day"
    numbered = True
    contents_class = "societies.model.ended:contents_of_model"
    trace = Imported("societies.model.tracing:trace", of_setup=True)

    def __init_subclass__(cls, **more: Any) -> None:
        """Make the hash of the rules a part of the version, and check the arguments of steps."""
        super().__init_subclass__(**more)
        if not isinstance(declared := cls.__dict__.get("version", cls._declared), property):
            cls._declared = declared
        cls.version = property(_version)  # type: ignore[assignment]
        if "schedule" in cls.__dict__:
            cls.schedule = with_arguments(cls.schedule)  # type: ignore[method-assign]

    _declared: ClassVar[str] = "1"

    # ---------------------------------------------------------------- what a model may override

    def kernels(self, p: P, copies: int) -> Mapping[str, Phase]:
        """Return the phases with hand-written kernels instead of translated ones.

        Default: those of `by_hand`, with a workgroup for each society, except kernels that read a
        key (``KEY_...``) which differs between copies: a macro has one value for all of them.
        """
        for name in self.by_hand:
            if name not in self.rules():
                raise ConfigError(
                    f"{place_of(type(self))}: by_hand of the model {self.name}: there is no phase "
                    f"{name!r}; its phases are {', '.join(self.rules())}"
                )
        folder = Path(str(sys.modules[type(self).__module__].__file__)).parent
        for name, file in self.by_hand.items():
            if not (folder / file).is_file():
                raise ConfigError(
                    f"{place_of(type(self))}: by_hand of the model {self.name}: the kernel of "
                    f"'{name}' is in no file {shown(folder / file)}"
                )
        differ = {f"KEY_{name.upper()}" for name in p._differ} if isinstance(p, Copies) else set()
        return {
            name: phase(str(folder / file), copies)
            for name, file in self.by_hand.items()
            if not differ or differ.isdisjoint(_words_of(folder / file))
        }

    by_hand: ClassVar[Mapping[str, str]] = {}
    """Files of OpenCL C in the folder of the model, by the phase that each carries out in place of
    the translated kernel. The kernel has the name of the phase; a workgroup is a society."""

    def schedule(self, p: P, tick: int, seen: Mapping[str, NDArray[Any]]) -> Iterable[Step]:
        """Return the phases of a day in order; for day 0, those before the first day."""
        return _steps(self.day if tick else self.start)

    # ---------------------------------------------------------------- rules

    def require_class(self) -> None:
        """Raise ConfigError for the first mistake in what the class declares."""
        super().require_class()
        require_class(self)

    def rules(self) -> dict[str, FunctionType]:
        """Return the function of every phase.

        Raises
        ------
        ConfigError
            If the module has no such function.
        """
        module = sys.modules[type(self).__module__]
        found = {}
        for name in dict.fromkeys((*self.start, *self.day, *self.further)):
            function = getattr(module, name, None)
            if not isinstance(function, FunctionType):
                written = [k for k, one in vars(module).items() if isinstance(one, FunctionType)]
                near = suggestion(name, written)
                raise ConfigError(
                    f"{place_of(type(self))}: the model {self.name} names the phase '{name}', and "
                    f"the file has no such function{near}"
                )
            found[name] = function
        return found

    further: ClassVar[tuple[str, ...]] = ()
    """Phases that `schedule` names in addition to those of `start` and `day`."""

    def rules_sha256(self) -> str:
        """Return the hash of all rules, without comments."""
        if "_hashed" not in self.__dict__:
            self.__dict__["_hashed"] = rules_sha256(self.rules().values(), [type(self)])
        return str(self.__dict__["_hashed"])

    def translated_sha256(self, config: C) -> str:
        """Return the hash of all rules; "" for models of this package: its tests compare them."""
        ours = type(self).__module__.startswith("societies.")
        return "" if ours else self.rules_sha256()

    def origin(self, config: C) -> Mapping[str, str]:
        """Return the text of the rules and its hash, for the file."""
        files = files_of(self.rules().values())
        text = "\n".join(f"# {name}\n" + "\n".join(file.lines) for name, file in files.items())
        return {"rules_sha256": self.rules_sha256(), "rules": text}

    # ---------------------------------------------------------------- what follows

    def arrays(self, p: P) -> dict[str, Field]:
        """Return all arrays of the state; a checked build has one more."""
        require_declared(self, p)
        found = super().arrays(p)
        hidden = partial(Field, (), compared=False, checkpointed=False)
        if checked_mode():
            found[FAULT] = hidden(dtype="int32", unit="1", meaning="first place of a fault")
        if self.untranslated(p):
            found[NUMBER] = hidden(dtype="uint32", unit="1", meaning="number of the society")
            if isinstance(p, Copies):
                indices = np.arange(p._points.of.shape[1])
                found[PLACE] = hidden(
                    dtype="int32", unit="1", meaning="index", initial=lambda _: indices
                )
        return found

    def translated_phases(self, p: P) -> Sequence[str]:
        """Return the phases whose kernels are translated from Python."""
        return [name for name in self.unit(p).kernels if name in self.rules()]

    def unit(self, p: P) -> TranslatedProgram:
        """Return the translation of all phases that can be translated."""
        return _translated(self, p)[0]

    def untranslated(self, p: P) -> dict[str, TranslationError]:
        """Return the phases that plain Python runs, each with the reason."""
        return _translated(self, p)[1]

    def phases(self, p: P, copies: int) -> Mapping[str, Phase]:
        """Return every phase with its kernel."""
        unit, refused = _translated(self, p)
        by_hand = self.kernels(p, copies)
        file = Generated(unit.name, unit.text, {name: one.path for name, one in unit.files.items()})
        noted = partial(require_no_fault, unit.sites, self.clock, self.copies)
        host = noted if unit.checked else None
        found: dict[str, Phase] = {}
        for name in self.rules():
            if name in by_hand:
                found[name] = by_hand[name]
            elif name in refused:
                found[name] = self._in_python(p, name, copies, file)
            else:
                found[name] = Phase((self._launch(unit, name, copies, file),), host=host)
        if unit.joined is not None:
            first, *others = unit.joined.phases
            lists = [found[name].launches[0].scratch for name in unit.joined.phases]
            launch = Launch(
                file, copies, unit.joined.name, unit.joined.items, alone_on_cpu=True,
                scratch=max(lists, key=len), arguments={"copies": copies},
            )  # fmt: skip
            joined = Joined(tuple(others), launch, None if unit.short else True, unit.joined.logged)
            found[first] = replace(found[first], joined=joined)
        return found

    def kernel_text(self, p: P, phase: str) -> str | None:
        """Return the text of a translated phase, with the lines of the rules as comments."""
        unit = self.unit(p)
        if phase not in unit.kernels:
            refused = self.untranslated(p).get(phase)
            return None if refused is None else f"// {refused}\n"
        rows = unit.text_of([phase]).split("\n")
        return "\n".join(row for row in rows if not row.startswith("#line"))

    def _launch(self, unit: TranslatedProgram, name: str, copies: int, file: Generated) -> Launch:
        def items_of(kernel: TranslatedPhase) -> int:
            return copies * (unit.declared.lengths[kernel.entry] if kernel.entry else 1)

        kernel = unit.kernels[name]
        items, scratch = items_of(kernel), {}
        if kernel.words:  # lists of a phase do not outlive it
            words = max(one.words * items_of(one) for one in unit.kernels.values())
            scratch["scratch"] = Scratch((words,), "int64", shared="lists")
        launch = Launch(
            file,
            kernel=kernel.name,
            global_size=items,
            items=64 if kernel.entry else 32,
            long_items=not kernel.entry,
            alone_on_cpu=not kernel.entry,
            scratch=scratch,
            arguments={"copies": copies},
        )
        if (one := unit.sorting.get(name)) is None:
            return launch
        few = Launch(file, copies, one.name, one.items, scratch=scratch, arguments=launch.arguments)
        return replace(launch, together=few)

    def _in_python(self, p: P, name: str, copies: int, file: Generated) -> Phase:
        """Return a phase that plain Python carries out for every society."""
        note = self._launch(self.unit(p), note_number.__name__, copies, file)
        function = self.reference(p)[name]
        declared = self.fields(p), self.events(p), self.clock
        return Phase((note,), host=partial(on_host, function, p, *declared))

    def reference(self, p: P) -> Mapping[str, Callable[..., None]]:
        """Return the reference of each phase: the module's function, called for every entry."""
        declared, translated = _declared(self, p), self.unit(p).kernels

        def made(name: str, function: FunctionType) -> Callable[..., None]:
            parameters, entry = phase_parameters(function, name, declared)
            settles = name not in translated
            return phase_in_python(function, name, parameters, entry, declared, settles=settles)

        return {name: made(name, function) for name, function in self.rules().items()}

    def source(self, p: P) -> Source:
        """Return the values of the kernels' parameters; warn of phases that have no kernel."""
        unit = self.unit(p)
        for name, reason in self.untranslated(p).items():
            if str(reason) not in _WARNED:
                _WARNED.add(str(reason))
                said = f"the phase {name} is carried out by plain Python, which is slow:\n{reason}"
                warnings.warn(said, TranslationWarning, stacklevel=2)
        arguments = {**unit.arguments, **self.parameters_of_copies(p, 0)}
        if not self.kernels(p, 1):
            return Source({}, arguments=arguments)
        # of kernels written by hand: lengths, columns of the series, and numbers of the keys
        macros: dict[str, Any] = {f"LENGTH_{n.upper()}": v for n, v in self.lengths(p).items()}
        columns = chain.from_iterable(self.columns(p).values())
        macros |= {f"SERIES_{name}": place for place, name in enumerate(columns)}
        first: Any = p._made[0] if isinstance(p, Copies) else p
        differ = p._differ if isinstance(p, Copies) else ()
        for name, number in dict(first).items():
            if isinstance(number, bool | int | float) and name not in differ:
                macros[f"KEY_{name.upper()}"] = number
        return Source(macros, arguments=arguments)

    def parameters_of_copies(self, p: P, tick: int) -> Mapping[str, NDArray[Any]]:
        """Return the table of keys that rules read and that differ by copy: (copy, column)."""
        columns = self.unit(p).columns
        if not isinstance(p, Copies) or not columns:
            return {}
        rows = np.array([[_number(one, path) for path in columns] for one in p._made])
        return {VALUE_TABLE: rows[p._points.of[p._points.stretch(tick)]]}

    def work_done(self, config: C, ticks: int) -> float:
        """Return the days of all societies."""
        return float(ticks * self.count(config))


def _words_of(kernel: Path) -> set[str]:
    """Return the words of a kernel's text, with the files that it includes."""
    return set(re.findall(r"\w+", without_comments(amalgamate([kernel]).text)))


_LISTED: dict[tuple[str, ...], tuple[Step, ...]] = {}


def _steps(
    names: tuple[str, ...], made: dict[tuple[str, ...], tuple[Step, ...]] = _LISTED
) -> tuple[Step, ...]:
    """Return the steps of some phases, always the same tuple."""
    if names not in made:
        made[names] = tuple(Step(name) for name in names)
    steps: tuple[Step, ...] = made[names]
    return steps


def _version(model: Any) -> str:
    """Return the version that a model declares, and the hash of its rules."""
    return f"{model._declared} rules {model.rules_sha256()[:10]}"


def _number(config: Any, path: str) -> float:
    for part in path.split("."):
        config = getattr(config, part)
    return float(config)


def _declared(model: Model[Any, Any], p: Any) -> Declared:
    require_declared(model, p)
    fields = dict(model.fields(p))
    fields[FAULT] = Field((), "int32", "1", "fault")
    fields[NUMBER] = Field((), "uint32", "1", "number")
    made = p._made if isinstance(p, Copies) else [p]
    return Declared(
        fields=fields,
        lengths=model.lengths(p),
        series=tuple(chain.from_iterable(model.columns(p).values())),
        settings=made[0],
        others=made if isinstance(p, Copies) else (),
        events={name: (one.columns, one.rows) for name, one in model.events(p).items()},
        arguments=model.step_arguments,
        ended="ended" in fields,
        copies=model.copies,
        clock=model.clock,
        hidden=(FAULT, NUMBER),
    )


def _translated(
    model: Model[Any, Any], p: Any
) -> tuple[TranslatedProgram, dict[str, TranslationError]]:
    """Return the translation of a model's phases, and why some cannot be translated."""
    made: Callable[[Any], tuple[TranslatedProgram, dict[str, TranslationError]]] = partial(
        _translate, model
    )
    return once(p, f"translation {model.name} {checked_mode()}", made)


def _translate(
    model: Model[Any, Any], p: Any
) -> tuple[TranslatedProgram, dict[str, TranslationError]]:
    unit = TranslatedProgram(_declared(model, p), checked=checked_mode())
    refused: dict[str, TranslationError] = {}
    by_hand = set(model.kernels(p, 1))
    for name, function in model.rules().items():
        if name in by_hand:
            continue
        try:
            unit.phase(function, name)
        except TranslationError as error:
            if error.wrong:
                raise
            require_repeatable(function)
            refused[name] = error
    if refused:
        unit.phase(note_number)
    elif type(model).schedule is Model.schedule and type(model).busy is Workload.busy:
        logged = [name for name, one in model.fields(p).items() if one.logged]
        unit.join(model.day, [*logged, SERIES])
    return unit, refused
