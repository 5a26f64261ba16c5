"""How is Societies used from a shell? By commands that parse, call the library and print.

Results go to stdout, everything else to stderr. The library is imported inside the commands, so
that help, version and configuration checks start at once and touch no device.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from societies import memory, signals
from societies.command_options import (
    AllowPrograms,
    AsJson,
    ConfigPath,
    Device,
    Headlines,
    Level,
    Override,
    Overwrite,
    Quiet,
    Replicates,
    Resume,
    Seed,
    Table,
    Ticks,
    Workers,
    WorkloadName,
    argument,
    number,
    option,
    switch,
)
from societies.commands import Commands, command
from societies.errors import (
    LACKING,
    ConfigError,
    DamageWarning,
    DeviceError,
    DeviceFailed,
    EffectWarning,
    Interrupted,
    OriginWarning,
    OutputError,
    SocietiesError,
    SocietiesWarning,
    SweepWarning,
    TranslationWarning,
    interruption,
    printable,
    shell_words,
    shortened,
    typed,
)
from societies.inputs import shown, whole_number
from societies.numbers import LARGEST_COUNT, Numbers, from_0, from_1, real, several_from_1
from societies.options import (
    ConfigCommand,
    ExportCommand,
    InfoCommand,
    MemberCommand,
    PlotCommand,
    RuleTexts,
    of_rules,
)
from societies.terminal import doing, open_console, print_rows, warn
from societies.words import counted, plural

if TYPE_CHECKING:
    from societies.kerneltext.source import AmalgamatedText
    from societies.workload import Setup


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # main() prints errors
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

WIDE = 160
"""Columns of text for a table of numbers, which a narrow terminal wraps rather than cuts off."""

FEWER = "run less at once (--replicates); --dry-run tells how much each run needs"


@dataclass
class Invocation:
    """The words of a command line, and whether ``--debug`` is one of its options."""

    words: Sequence[str]
    debug: bool = False


def _show_tracebacks(context: typer.Context, wanted: bool) -> None:
    if wanted and context.obj:
        context.obj.debug = True


def _print_version(wanted: bool) -> None:
    if wanted:
        from societies.version import package_version

        print(f"societies {package_version()}")
        raise typer.Exit


@app.callback()
def societies(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            callback=_show_tracebacks,
            expose_value=False,
            help="Show the traceback of an error.",
        ),
    ] = False,
) -> None:
    """Agent-based economics on OpenCL: the same bits on CPU, GPU and in plain Python.

    CONFIG is a YAML file or the name of a shipped one: societies list.

    --ticks has the name of CONFIG's ticks as well: --days, --steps.
    """
    memory.require_libraries()


@command(cls=ConfigCommand)
def run(
    context: typer.Context,
    config: ConfigPath,
    out: Annotated[Path | None, option("FILE", "The result; default: CONFIG's name + .h5.")] = None,
    device: Device = "auto",
    seed: Seed = None,
    ticks: Ticks = None,
    replicates: Replicates = None,
    table: Table = None,
    override: Override = None,
    start: Annotated[
        Path | None,
        option(
            "FILE",
            "Branch off a result, after its last tick or --tick N; --set holds from then on.",
            "--from",
        ),
    ] = None,
    tick: Annotated[int | None, number("Of --from: after tick N.", from_0)] = None,
    fan: Annotated[int | None, number("Of --from: N futures of each, new draws.")] = None,
    batch: Annotated[int | None, number("At most N copies on the device at a time.")] = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    dry_run: Annotated[
        bool, switch("Print the plan (sizes, memory, launches); run nothing.", "--dry-run")
    ] = False,
    quiet: Quiet = False,
    verbose: Annotated[bool, switch("Print the plan first.", "-v", "--verbose")] = False,
    profile: Annotated[
        bool, switch("Measure each phase: launches, time, bytes, bandwidth.", "--profile")
    ] = False,
    as_json: Annotated[
        bool, switch("Print what --profile measured as JSON, nothing else.", "--json")
    ] = False,
    page: Annotated[
        bool, switch("Show FILE in a browser while it is written; Ctrl-C ends it.", "--view")
    ] = False,
    allow_programs: AllowPrograms = False,
) -> None:
    """Run CONFIG and write one HDF5 file, which is safe to interrupt and can be resumed."""
    import societies
    from societies.view import following, require_packages
    from societies.workload.running.devices import is_reference
    from societies.workload.running.points import without_effect
    from societies.workload.running.progress import progress_bar
    from societies.workload.running.request import config_warnings
    from societies.workload.running.verified import never_verified

    _require_one(resume=resume, overwrite=overwrite)
    if as_json and not profile:
        raise ConfigError("--json prints what --profile measures: give both")
    if page:
        if dry_run:
            raise ConfigError("--view shows a run and --dry-run runs nothing: choose one")
        require_packages()
    path = _find_config(config)
    override, values = _of_branch(path, override) if start else (override, None)
    setup = _load(path, override, seed=seed, ticks=ticks, replicates=replicates, table=table)
    settings = setup.config
    for line in setup.workload.python_of(settings):
        print(printable(line), file=sys.stderr)
    target = out or Path(f"{path.stem}.h5")
    branch: dict[str, Any] = {"start": start, "tick": tick, "values": values, "fan": fan}
    if dry_run or verbose:
        # A branch that is resumed has what it needs of its parent, which may be gone.
        of_parent = {} if resume else branch
        plan = societies.plan(settings, device=device, out=target, batch=batch, **of_parent)
        print_rows(plan.rows, open_console(stderr=not dry_run))
        for text in plan.warnings:
            if text not in config_warnings(settings):  # shown when CONFIG was read
                warn(text)
        if dry_run:
            return
    else:  # a plan warns of them
        for key, why in without_effect(settings.idle(), values or ()).items():
            warn(f"{key}: has no effect {why}")
    if not is_reference(device) and never_verified(setup):
        said = (
            "note: the kernels of these rules were never compared with their Python on this "
            f"machine; do it once: societies verify {shlex.quote(str(path))}"
        )
        print(printable(said), file=sys.stderr)
    with following(target, replaced=not resume) if page else nullcontext():
        try:
            with (
                _continued(context),
                nullcontext() if quiet else progress_bar(settings, device) as progress,
            ):
                report = societies.run(
                    settings,
                    device=device,
                    out=target,
                    resume=resume,
                    overwrite=overwrite,
                    batch=batch,
                    progress=progress,
                    profile=profile,
                    allow_programs=allow_programs,
                    **branch,
                )
        except DeviceFailed as error:
            raise DeviceFailed(f"{error}: {_again(context)}", error.path) from error
        if as_json:
            about = {
                "workload": settings.workload,
                "device": report.device,
                "path": str(report.path),
            }
            measured = {} if report.profile is None else report.profile.as_dict()
            print(json.dumps({**about, "ticks": [report.first_tick, report.last_tick], **measured}))
        elif quiet:
            print(report.path)
        else:
            console = open_console()
            print_rows(report.rows, console)
            if report.profile is not None:
                from societies.timings import of_phases

                console.width = max(console.width, WIDE)
                console.print(of_phases(report.profile))


@command()
def sweep(
    context: typer.Context,
    files: Annotated[
        list[Path], argument("SWEEP", "A YAML file that says what varies; with --merge: the parts.")
    ],
    out: Annotated[
        Path | None, option("FILE", "The study, one HDF5 file; default: SWEEP's name + .h5.")
    ] = None,
    device: Device = "auto",
    rule: RuleTexts = None,
    replicates: Annotated[int | None, number("Runs of each point, instead of SWEEP's.")] = None,
    resume: Annotated[
        bool, switch("Compute what FILE lacks, and nothing else.", "--resume")
    ] = False,
    retry_failed: Annotated[
        bool, switch("Compute the runs of FILE that failed.", "--retry-failed")
    ] = False,
    add_points: Annotated[
        bool, switch("Add the points of SWEEP that FILE lacks.", "--add-points")
    ] = False,
    overwrite: Overwrite = False,
    part: Annotated[
        str | None, option("K/N", "Only the K-th of N parts of the points, into FILE.")
    ] = None,
    merge: Annotated[bool, switch("Merge files of parts into FILE.", "--merge")] = False,
    workers: Workers = None,
    scheduler: Annotated[
        str, option("ADDRESS", "Compute on a cluster of Dask: tcp://host:8786.")
    ] = "",
    batch: Annotated[int | None, number("Runs of a batch; default: ten seconds.")] = None,
    dry_run: Annotated[
        bool, switch("Print points, launches, memory, time; write nothing.", "--dry-run")
    ] = False,
    yes: Annotated[bool, switch("More than a million runs are meant.", "--yes")] = False,
    allow_programs: AllowPrograms = False,
    quiet: Quiet = False,
) -> None:
    """Run many configurations and write one study, which is safe to kill and can be resumed.

    A run that fails does not stop the others; exit code 1 and a table of failures follow.
    """
    from societies import sweep as studies
    from societies.workload.running.progress import sweep_progress

    console = open_console()
    if merge:
        if out is None:
            raise ConfigError("--merge: name the whole study with --out FILE")
        report = studies.merge(files, out, overwrite=overwrite)
    else:
        if len(files) > 1:
            raise ConfigError(f"sweep: one SWEEP at a time, not {len(files)}; --merge takes parts")
        found, own = studies.load_sweep(files[0], of_rules(rule)), _part(part)
        target = out or Path(f"{Path(found.name).stem}.h5")
        for line in found.python:
            print(printable(line), file=sys.stderr)
        if dry_run:
            planned = studies.plan(
                found, out=target, device=device, replicates=replicates, part=own, yes=yes
            )
            print_rows(planned.rows, console)
            for text in planned.warnings:
                warn(text)
            return
        with _continued(context), nullcontext() if quiet else sweep_progress() as progress:
            report = studies.run(
                found,
                out=target,
                device=device,
                resume=resume,
                overwrite=overwrite,
                retry_failed=retry_failed,
                add_points=add_points,
                replicates=replicates,
                part=own,
                workers=workers or 0,
                scheduler=scheduler,
                batch=batch,
                yes=yes,
                allow_programs=allow_programs,
                progress=progress,
            )
    if quiet:
        print(report.path)
        for note in report.notes:
            warn(note)
    else:
        print_rows(report.rows, console)
    if report.failures:
        open_console(stderr=True).print("[bold]failed runs[/]", highlight=False)
        print_rows(report.failed_rows, open_console(stderr=True))
        raise typer.Exit(1)


def _part(text: str | None) -> tuple[int, int] | None:
    """Return K and N of ``K/N``."""
    if text is None:
        return None
    k, slash, n = text.partition("/")
    number, parts = whole_number(k), whole_number(n)
    if not slash or number is None or parts is None or max(number, parts) > LARGEST_COUNT:
        raise ConfigError(f"--part {shortened(text)}: expected K/N, such as 2/8")
    return number, parts


@command(cls=ConfigCommand)
def verify(
    config: ConfigPath,
    ticks: Annotated[
        int | None, number("Compare the first N ticks; default: ticks at several times of the run.")
    ] = None,
    start: Annotated[
        Path | None, option("FILE", "Begin with the last checkpoint of a result.", "--from")
    ] = None,
    device: Device = "auto",
    seed: Seed = None,
    replicates: Replicates = None,
    table: Table = None,
    override: Override = None,
) -> None:
    """Run CONFIG on the device and in plain Python, and compare every bit after every phase."""
    import societies

    setup = _load(config, override, seed=seed, replicates=replicates, table=table)
    clock = setup.workload.clock
    first = f"the first {clock}" if device == "reference" else "building kernels"
    with doing(first, clock) as progress:
        report = societies.verify(
            setup.config, device=device, ticks=ticks, start=start, progress=progress
        )
    print(printable(str(report)))
    if not report.identical:
        raise typer.Exit(1)


@command(cls=ConfigCommand)
def capture(
    config: ConfigPath,
    phase: Annotated[
        str, option("P", "A phase, as verify names it: extraction, 'trading (round 2)'.")
    ],
    tick: Annotated[int | None, number("Of tick N; default: the first that has P.", from_0)] = None,
    time: Annotated[int, number("Which time that P comes then, from 1.")] = 1,
    out: Annotated[Path | None, option("DIR", "The folder; default: capture-P-tick-N.")] = None,
    device: Device = "auto",
    seed: Seed = None,
    ticks: Ticks = None,
    replicates: Replicates = None,
    table: Table = None,
    override: Override = None,
    overwrite: Annotated[bool, switch("Replace DIR.", "--overwrite")] = False,
    allow_programs: AllowPrograms = False,
) -> None:
    """Write a folder that reproduces one phase of CONFIG without Societies, for bug reports."""
    from societies.workload.checking.capture import capture

    setup = _load(config, override, seed=seed, ticks=ticks, replicates=replicates, table=table)
    folder = capture(
        setup.config,
        phase=phase,
        tick=tick,
        time=time,
        device=device,
        out=out,
        overwrite=overwrite,
        allow_programs=allow_programs,
    )
    print(folder)


@command(cls=MemberCommand)
def trace(
    context: typer.Context,
    config: ConfigPath,
    device: Device = "auto",
    seed: Seed = None,
    table: Table = None,
    override: Override = None,
) -> None:
    """Say what happened in a tick of CONFIG, and why.

    What can be asked for depends on the workload: societies trace CONFIG --help.
    """
    from societies.members import call, member_of
    from societies.workload.running.progress import progress_bar

    setup = _load(config, override, seed=seed, table=table)
    member = member_of(setup.workload, "trace")
    with progress_bar(setup.config, device) as progress:
        given = {"config": setup.config, "device": device, "progress": progress}
        explained = call(member, given, context.meta.get("options", {}))
    print(printable(str(explained)))


@command(cls=MemberCommand)
def play(
    context: typer.Context,
    config: ConfigPath,
    device: Device = "auto",
    override: Override = None,
) -> None:
    """Play a game of CONFIG in the terminal.

    How it is played depends on the workload: societies play CONFIG --help.
    """
    from societies.members import call, member_of

    setup = _load(config, override)
    member = member_of(setup.workload, "play")
    given = {"config": setup.config, "device": device, "console": open_console()}
    end = str(call(member, given, context.meta.get("options", {})))
    if end:  # nothing follows the last answer of a protocol
        print(printable(end))


@command(cls=MemberCommand)
def view(
    context: typer.Context,
    config: ConfigPath,
    host: Annotated[
        str,
        option(
            "H",
            "Interface to listen on; 0.0.0.0: all of them. Other machines need the token that "
            "the address has.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, number("Port; 0: any that is free.", from_0)] = 8765,
    frames: Annotated[
        str,
        option(
            "FORM", "How frames are sent: raw, webp, or auto: raw on this machine, WebP to others."
        ),
    ] = "auto",
    browser: Annotated[
        bool, switch("Open the page in a browser.", "--browser/--no-browser")
    ] = True,
    device: Device = "auto",
    override: Override = None,
    ends_with: Annotated[
        int | None, typer.Option(metavar="PID", parser=from_1, hidden=True)
    ] = None,
) -> None:
    """Show CONFIG in a browser while it runs, and let controls change it; Ctrl-C ends it.

    What is shown depends on the workload: societies view CONFIG --help. CONFIG may be a result file
    too: its page shows what is recorded, also while the file is written.
    """
    from societies.config.load import is_result
    from societies.members import call, member_of
    from societies.view import listen, require_packages, show, show_file

    if ends_with is not None:
        signals.end_with(ends_with)
    recorded = is_result(config)
    if recorded and (override or device != "auto"):
        raise ConfigError(
            f"{config}: is a result, whose page computes nothing: leave out "
            f"{'--set' if override else '--device'}, or name the configuration"
        )
    setup = None if recorded else _load(config, override)
    forms = {"auto": None, "raw": True, "webp": False}
    if frames not in forms:
        raise ConfigError(f"--frames {frames}: one of {', '.join(forms)}")
    require_packages()
    listening = listen(host, port)
    try:
        if setup is None:
            shown = show_file(config)
        else:
            given = {"config": setup.config, "device": device}
            member = member_of(setup.workload, "view")
            with doing("building kernels", ""):
                shown = call(member, given, context.meta.get("options", {}))
    except BaseException:
        listening.socket.close()
        raise
    show(
        shown,
        listening,
        report=lambda text: print(printable(text), file=sys.stderr),
        browser=browser,
        raw=forms[frames],
        opened=lambda: print(f"{shown.title}: {listening.address}", flush=True),
    )


@command(cls=ConfigCommand)
def bench(
    config: ConfigPath,
    copies: Annotated[
        Numbers | None,
        number(
            "How many copies (replicates) run side by side: 1,8,64; "
            "default: 1, 4, 16 and so on, while more of them pay.",
            several_from_1,
            "N,N,...",
        ),
    ] = None,
    ticks: Annotated[
        int | None,
        number("Ticks of a measurement; default: CONFIG's, without --waits 64 at most."),
    ] = None,
    repeats: Annotated[int, number("Measurements of each number.")] = 3,
    waits: Annotated[
        bool,
        switch(
            "Measure what you wait for instead: help, check, completion, the first tick with empty "
            "caches and again, a run with its file; on one of several devices and on all.",
            "--waits",
        ),
    ] = False,
    phases: Annotated[
        bool,
        switch("Measure each phase instead, and say which is worth a kernel by hand.", "--phases"),
    ] = False,
    out: Annotated[Path | None, option("CSV", "Write every measurement into a table too.")] = None,
    device: Device = "auto",
    seed: Seed = None,
    table: Table = None,
    override: Override = None,
    overwrite: Annotated[bool, switch("Replace CSV.", "--overwrite")] = False,
    allow_programs: AllowPrograms = False,
) -> None:
    """Time CONFIG on a device with different numbers of copies; no result remains."""
    import societies
    from societies.timings import measure_all, timings_table, waits_table
    from societies.workload.checking.waits import waits as waits_of

    if waits and phases:
        raise ConfigError("--waits measures commands and --phases kernels: choose one")
    setup = _load(config, override, seed=seed, ticks=ticks if waits else None, table=table)
    if phases:
        _bench_phases(setup, device, copies or (), ticks, out)
        return
    console, plurals = open_console(), plural(setup.workload.copies)
    measuring = console.status("measuring") if console.is_terminal else nullcontext()
    rows = [("median of", str(repeats))]
    if waits:
        keys = [*(override or []), *([] if seed is None else [f"seed={seed}"])]
        words = [str(config), *(f"--set={key}" for key in keys)]
        of_runs = [f"--table={table}"] if table else []
        of_runs += ["--allow-programs"] if allow_programs else []
        commands = waits_of(setup, words, of_runs, device=device, copies=copies, repeats=repeats)
        with measuring:
            shown_table = waits_table(measure_all(commands, out, overwrite=overwrite), plurals)
    else:
        timings = societies.bench(
            setup.config,
            device=device,
            copies=copies or (),
            ticks=ticks,
            repeats=repeats,
            allow_programs=allow_programs,
        )
        with measuring:
            found = measure_all(timings, out, overwrite=overwrite)
        rows = [("device", found[0].device), *rows]
        shown_table = timings_table(found, plurals, plural(setup.workload.clock))
    print_rows(rows, console)
    console.width = max(console.width, WIDE)
    console.print(shown_table)
    if out is not None:
        print_rows([("written to", str(out))], console)


def _bench_phases(
    setup: Setup[Any, Any],
    device: str,
    copies: Sequence[int],
    ticks: int | None,
    out: Path | None,
) -> None:
    """Print the time of every phase, and which translated one is worth a kernel by hand."""
    from societies.timings import of_phases
    from societies.workload.checking.bench import bench_phases, with_copies, worth_a_kernel

    if out is not None:
        raise ConfigError("bench: --phases writes no table; leave --out away")
    for count in copies or (None,):
        of_count = with_copies(setup, count)
        profile, name = bench_phases(of_count, device=device, ticks=ticks)
        shown, console = setup.workload, open_console()
        print_rows([("device", name), (plural(shown.copies), str(of_count.copies))], console)
        console.width = max(console.width, WIDE)
        console.print(of_phases(profile))
        translated = shown.translated_phases(of_count.p)
        worth = worth_a_kernel(profile, translated)
        for line in worth:
            print(line)
        if in_python := ", ".join(shown.untranslated(of_count.p)):
            print(f"carried out by plain Python: {in_python}; write what the warnings say first")
        elif translated and not worth:
            print("no translated phase takes a fifth of the time: none is worth a kernel by hand")


@command("list")
def list_() -> None:
    """List the workloads, their words for ticks and copies, and the shipped CONFIGs and SWEEPs."""
    from societies.catalogue import workload_rows

    print_rows(workload_rows(), open_console())


@command()
def cite(
    name: Annotated[
        str, argument("[NAME]", "A workload, a configuration or a result; default: the economy.")
    ] = "economy",
) -> None:
    """Print BibTeX for the software and for the publication of a model."""
    from societies import citation
    from societies.config.load import is_result
    from societies.workload.running.registry import load_config, workload_names

    if name not in workload_names():
        recorded = is_result(Path(name))
        name = _workload_of(name) if recorded else load_config(name).workload
    known = citation.references()
    print(known[citation.SOFTWARE].bibtex)
    if publication := known.get(name):
        print(f"\n{publication.bibtex}")
    else:
        print(f"note: {printable(name)} follows no single publication", file=sys.stderr)


def _workload_of(path: str) -> str:
    """Return the workload of a result or a study."""
    from societies.output import open_results

    with open_results(Path(path)) as results:
        return str(results.attrs.get("workload", ""))


@command(cls=ConfigCommand)
def check(
    config: ConfigPath,
    override: Override = None,
    verbose: Annotated[
        bool, switch("Print every key, defaults included.", "-v", "--verbose")
    ] = False,
) -> None:
    """Check CONFIG: report every mistake in it at once, and which programs it names."""
    from societies.config import saved
    from societies.workload import Workload

    path = _find_config(config)
    setup = _load(path, override)
    settings, found = setup.config, setup.workload
    lines = found.python_of(settings)
    if found.translated_sha256(settings):  # rules of a user: what cannot be translated is said
        found.phases(setup.p, 1), found.source(setup.p)
    if lines or type(found).programs is not Workload.programs:
        from societies.workload.running.programs import program_lines

        # A table of a rule in Python is made here, which tries the rule.
        named = found.programs(setup.p)
        lines += [f"program {line}" for line in program_lines(named)]
    print(saved(settings) if verbose else f"{path}: valid, workload {settings.workload}")
    for line in lines:
        print(printable(line), file=sys.stderr if verbose else sys.stdout)


@command(cls=ConfigCommand)
def kernel(
    config: ConfigPath,
    phase: Annotated[str | None, option("P", "A phase; default: all of the model.")] = None,
    override: Override = None,
) -> None:
    """Print the OpenCL C that carries out CONFIG's phases, or one of them."""
    from societies.workload.checking.kernels import kernel_text

    print(kernel_text(_load(config, override), phase), end="")


@command()
def rules(
    name: Annotated[str, WorkloadName],
) -> None:
    """List the rules of a workload that functions of your own may replace (--rule)."""
    from societies.workload.running.registry import workload

    found = workload(name).replaceable()
    if not found:
        raise ConfigError(f"{name}: none of its rules can be replaced by --rule")
    print("\n\n".join(one.described() for one in found.values()))


@command()
def schema(
    workload: Annotated[str | None, WorkloadName] = None,
) -> None:
    """Print the JSON schema of a workload's configuration: keys, units, ranges, meanings."""
    from societies.workload.running.registry import json_schema, workload_names

    if workload is None:
        raise ConfigError(f"schema: name a workload: {', '.join(workload_names())}")
    print(json.dumps(json_schema(workload), indent=2))


@command()
def devices() -> None:
    """List every OpenCL device, its limits, which one "auto" takes and why; and GPUs by CUDA."""
    from rich.markup import escape

    from societies.opencl import choose_device, list_all_devices

    found, chosen, failure = list_all_devices(), None, None
    reference = os.environ.get("SOCIETIES_DEVICE", "").strip().lower() == "reference"
    try:
        chosen = None if reference else choose_device("auto")
    except DeviceError as error:
        failure = error  # said last: the list below shows why
    console = open_console()
    for device in found:
        taken = chosen is not None and device.index == chosen.index
        heading = f"[bold]{device.index}  {escape(device.name)}[/]{'  (auto)' if taken else ''}"
        console.print(heading, highlight=False, soft_wrap=True)
        print_rows(
            [
                *([("chosen because", chosen.reason)] if chosen and taken else []),
                ("kind", f"{device.kind}, simulator" if device.simulator else device.kind),
                ("platform", f"{device.platform}, {device.platform_version}"),
                ("driver", f"{device.driver}, {device.version}"),
                ("double precision", "yes" if device.fp64 else "no"),
                ("compute units", str(device.compute_units)),
                ("work-items per workgroup", f"at most {device.max_workgroup}"),
                ("local memory", f"{device.local_memory / 1024:g} KiB"),
                ("global memory", f"{device.global_memory / 2**30:.1f} GiB"),
                ("largest buffer", f"{device.max_alloc / 2**30:.1f} GiB"),
            ],
            console,
        )
    if reference:
        console.print(
            "reference (auto): plain Python, because of SOCIETIES_DEVICE", highlight=False
        )
    if failure:
        raise failure


@command(cls=PlotCommand)
def plot(
    context: typer.Context,
    files: Annotated[
        list[Path],
        argument("FILE", "Results of `societies run`; several are compared. Or a study."),
    ],
    figure: Annotated[
        str,
        option(
            "NAME",
            "overview, series, income, gini, distribution, sources, time, devices, hhi, "
            "interdependence, shock, trade_network, effect, irf, fan; of a study sweep, "
            "sensitivity.",
        ),
    ] = "overview",
    variables: Annotated[
        str | None, option("A,B,...", "What to draw, if the figure leaves a choice.")
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "WHERE",
            "A folder, or one figure, whose ending is its format: fig.pdf; default: PNG and "
            "SVG in the folder of FILE.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        option("8.5cm", "Width for print, in cm, mm or in, with fonts of 7 to 9 points."),
    ] = None,
    footer: Annotated[
        bool, switch("Small print at the foot of the figure.", "--footer/--no-footer")
    ] = True,
) -> None:
    """Draw a figure of FILE as PNG and SVG, or as WHERE says.

    What the overview shows depends on the workload, which may have
    options of its own: societies plot FILE --help.
    """
    from societies.analysis import plot_overview

    options = context.meta.get("options", {})
    given = {"variables": variables, "width": width, "footer": footer, **options}
    for picture in plot_overview(files, out, figure=figure, **given):
        print(picture)


@command()
def effect(
    files: Annotated[
        list[Path],
        argument("BASE OTHER", "Results: the base, and others with the same seed; or a study."),
    ],
    base: Annotated[
        str | None, option("LABEL", "Point of a study, or file, that is the base.")
    ] = None,
    variables: Headlines = None,
    ticks: Annotated[
        str | None,
        option(
            "RANGE",
            "Compare means over these ticks, 151:200; default: from the first that differs.",
        ),
    ] = None,
    each: Annotated[
        bool, switch("An effect for every tick instead of their mean.", "--each-tick")
    ] = False,
    level: Level = 0.95,
    as_json: AsJson = False,
    figure: Annotated[Path | None, option("WHERE", "Also draw the effects: effects.pdf.")] = None,
) -> None:
    """Print how results differ from BASE, society by society, with intervals.

    A society of BASE and that of OTHER with the same number have the same random draws, so that
    they differ by the policy alone.
    """
    from societies.analysis.effect_table import effects_of, effects_table

    found = effects_of(
        files, base=base, variables=variables, ticks=ticks or "", each=each, level=level
    )
    for text in found.warnings:
        warn(text)
    _print_found(found.as_dict if as_json else None, lambda: effects_table(found))
    if figure is not None:
        given = {"base": base, "level": level}
        _draw_found(files, figure, "effect", variables, given, sys.stderr if as_json else None)


def _print_found(plain: Callable[[], Any] | None, table: Callable[[], Any]) -> None:
    """Print what an analysis has found as JSON or, without ``plain``, as a table."""
    if plain is not None:
        print(json.dumps(plain()))
        return
    console = open_console()
    console.width = max(console.width, WIDE)
    console.print(table())


def _draw_found(
    files: Sequence[Path],
    where: Path,
    figure: str,
    variables: str | None,
    given: Mapping[str, Any],
    stream: TextIO | None,
) -> None:
    """Draw what an analysis has found, with those options that are given."""
    from societies.analysis import plot_overview

    options = {name: value for name, value in given.items() if value is not None}
    typed("out", "figure")
    for picture in plot_overview(files, where, figure=figure, variables=variables, **options):
        print(picture, file=stream)


@command()
def validate(
    targets: Annotated[Path, argument("TARGETS", "A YAML file, or a name: economy, bam.")],
    results: Annotated[
        Path | None,
        argument("[FILE]", "A result or a study; default: the configuration of TARGETS is run."),
    ] = None,
    case: Annotated[str | None, option("NAME", "Only this case of TARGETS.")] = None,
    base: Annotated[str | None, option("CONFIG", "Judge this configuration instead.")] = None,
    override: Override = None,
    replicates: Annotated[int | None, number("Seeds, in one launch.")] = None,
    device: Device = "auto",
    level: Level = 0.95,
    tests: Annotated[
        bool, switch("Test whether means over seeds and ticks may be taken.", "--tests")
    ] = False,
    as_json: AsJson = False,
    figure: Annotated[
        Path | None, option("WHERE", "Also draw bands and seeds: validate.pdf.")
    ] = None,
) -> None:
    """Judge a model by its statistics over many seeds: PASS, WARN or FAIL for each of TARGETS.

    Exit code 1 if one fails.
    """
    from societies.study import validation

    with doing("running", "run") as note:
        found = validation.validate(
            targets,
            results,
            case=case,
            base=base,
            set=_settings(override),
            replicates=replicates,
            device=device,
            level=level,
            tests=tests,
            progress=lambda done, runs: note(done, runs, "running"),
        )
    for why, count in found.failures.items():
        warn(f"{count} runs failed: {why}")
    if tests and (untested := [one.name for one in found.verdicts if one.tests is None]):
        warn(f"not tested, for lack of 100 equally spaced ticks: {', '.join(untested)}")
    _print_found(found.as_dict if as_json else None, lambda: validation.validation_table(found))
    if figure is not None:
        from societies.study.figures import draw_validation

        _save_drawn(lambda: draw_validation(found), figure, "validate", as_json)
    if not found.passed:
        raise typer.Exit(1)


@command()
def calibrate(
    context: typer.Context,
    file: Annotated[Path, argument("CALIBRATION", "Parameters, targets and a method.")],
    out: Annotated[Path | None, option("FILE", "Default: CALIBRATION's name + .nc.")] = None,
    device: Device = "auto",
    resume: Annotated[bool, switch("Continue FILE.", "--resume")] = False,
    overwrite: Overwrite = False,
    recover: Annotated[
        int | None, number("Calibrate on data of N true points instead: are the intervals right?")
    ] = None,
    workers: Workers = None,
    scheduler: Annotated[str, option("ADDRESS", "Compute on a cluster of Dask.")] = "",
    as_json: Annotated[bool, switch("Print numbers as JSON.", "--json")] = False,
    figure: Annotated[
        Path | None, option("FOLDER", "Also draw parameters, targets, pairs.")
    ] = None,
) -> None:
    """Search the parameters with which a model has the statistics of its targets.

    Every trial is in FILE, which is safe to kill and can be resumed.
    """
    from societies.study import calibration as of
    from societies.study.calibration import figures

    own = of.load_calibration(file)
    for line in own.sweep.python:
        print(printable(line), file=sys.stderr)
    if own.shapes:
        warn(f"{', '.join(own.shapes)}: each of its values is a program to compile")
    places: dict[str, Any] = {"device": device, "workers": workers or 0, "scheduler": scheduler}
    said = "{:g} calibrations" if recover else "nearest {:.4g}"
    with doing("calibrating", "trial") as note:
        watch = lambda done, least: note(done, None, f"calibrating, {said.format(least)}")  # noqa: E731
        if recover:
            found: Any = of.recover(own, recover, progress=watch, **places)
        else:
            with _continued(context):
                found = of.calibrate(
                    own, out=out, resume=resume, overwrite=overwrite, progress=watch, **places
                )
    if as_json:
        print(json.dumps(found.as_dict() if recover else dict(found.rows)))
    else:
        print_rows(found.rows, open_console())
    for text in () if recover else found.notes:
        warn(text)
    if figure is not None:
        name = file.stem
        if recover:
            _save_drawn(lambda: figures.draw_recovery(found), figure, f"{name}_recovery", as_json)
            return
        _save_drawn(lambda: figures.draw_calibration(found.data), figure, name, as_json)
        if len(own.priors) > 1:
            _save_drawn(lambda: figures.draw_pairs(found.data), figure, f"{name}_pairs", as_json)


@command()
def keys(
    config: Annotated[Path, argument("CONFIG", "A YAML file, or a name.")],
    matter: Annotated[
        bool, switch("Change each key a little in twins: what differs?", "--matter")
    ] = False,
    override: Override = None,
    only: Annotated[list[str] | None, option("KEY[=VALUE]", "Only this key; repeatable.")] = None,
    variables: Headlines = None,
    change: Annotated[float, number("Relative change of a number.", real, "X")] = 0.05,
    replicates: Annotated[int, number("Twins of each change.")] = 4,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Print the keys of CONFIG that matter: when does a small change show, and how much at the end?

    Without --matter the keys are listed with their values.
    """
    from societies.analysis.selecting import names
    from societies.study import matter as of

    settings = _settings(override)
    if not matter:
        listed = of.keys_to_change(config, settings)
        print(json.dumps(dict(listed))) if as_json else print_rows(
            [(key, str(value)) for key, value in listed], open_console()
        )
        return
    with doing("running", "run") as note:
        clock, found, left_out = of.matter(
            config,
            set=settings,
            keys=only,
            variables=None if variables is None else names(variables),
            change=change,
            replicates=replicates,
            device=device,
            progress=lambda done, runs: note(done, runs, "running"),
        )
    for text in left_out:
        warn(f"not changed: {text}")
    plain = lambda: [one.as_dict() for one in found]  # noqa: E731
    _print_found(plain if as_json else None, lambda: of.matter_table(clock, found))


def _settings(overrides: Sequence[str] | None) -> dict[str, Any]:
    """Return the values of --set by key."""
    from societies.config import read_text

    found = {}
    for text in overrides or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--set {shortened(text)}: expected KEY=VALUE")
        found[key.strip()] = read_text(value, "--set").data
    return found


def _save_drawn(draw: Callable[[], Any], where: Path, name: str, as_json: bool) -> None:
    """Draw a figure, save it, and print its files."""
    from societies.analysis.plot import drawing_style, save_figure

    with drawing_style():
        drawn = draw()
    typed("out", "figure")
    for picture in save_figure(drawn, where, name):
        print(picture, file=sys.stderr if as_json else None)


@command()
def irf(
    context: typer.Context,
    files: Annotated[
        list[Path],
        argument(
            "WHAT", "A CONFIG with --shock, a SWEEP of interventions, its study, or BASE SHOCKED."
        ),
    ],
    shock: Annotated[
        list[str] | None, option("YAML", "An intervention: '{day: 300, until: 301, set: ...}'.")
    ] = None,
    out: Annotated[Path | None, option("FILE", "The study; default: CONFIG's name-irf.h5.")] = None,
    device: Device = "auto",
    override: Override = None,
    replicates: Annotated[int | None, number("Twins of each shock.")] = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    base: Annotated[str | None, option("LABEL", "Of a study: the point without a shock.")] = None,
    after: Annotated[int | None, number("Tick at whose end it happens.", from_0)] = None,
    horizon: Annotated[int | None, number("Ticks after it; default: all.")] = None,
    by: Annotated[
        str | None, option("A", "Divide societies, or agents, by variable A before the shock.")
    ] = None,
    states: Annotated[int, number("Of --by: quantile groups.")] = 2,
    size: Annotated[
        list[float] | None,
        number("Responses per unit of S; one for each shock also compares them.", real, "S"),
    ] = None,
    variables: Headlines = None,
    level: Level = 0.95,
    as_json: AsJson = False,
    figure: Annotated[Path | None, option("WHERE", "Also draw the responses: irf.pdf.")] = None,
) -> None:
    """Print impulse responses: how societies differ from their twins in which a shock happens.

    With --shock the societies of CONFIG and their twins are computed first, into one study.
    """
    from societies.analysis import response_table

    if shock or not _is_recorded(files[0]):
        _require_one(resume=resume, overwrite=overwrite)
        places: dict[str, Any] = {"device": device, "resume": resume, "overwrite": overwrite}
        with _continued(context):
            study = _study_of_shocks(files, shock or [], override or [], replicates, out, **places)
        print(study, file=sys.stderr)
        files = [study]
    options: dict[str, Any] = {"horizon": horizon, "by": by, "states": states}
    options |= {"size": size or [1.0], "level": level}
    found = response_table.responses_of(files, variables, base=base, after=after, **options)
    plain = (lambda: response_table.as_dict(found)) if as_json else None
    _print_found(plain, lambda: response_table.responses_table(found))
    if figure is not None:
        given = {"base": base, "after": after, **options}
        _draw_found(files, figure, "irf", variables, given, sys.stderr if as_json else None)


@command()
def fan(
    context: typer.Context,
    source: Annotated[Path, argument("WHAT", "A result with --fan; or a CONFIG to run.")],
    tick: Annotated[int | None, number("Of a CONFIG: the futures begin after it.")] = None,
    pasts: Annotated[int | None, number("Of a CONFIG; default: 10.")] = None,
    futures: Annotated[int | None, number("Of each past; default: 10.")] = None,
    out: Annotated[
        Path | None, option("FILE", "The result; default: CONFIG's name-fan.h5.")
    ] = None,
    device: Device = "auto",
    override: Override = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    variables: Headlines = None,
    window: Annotated[
        str | None, option("A:B", "Ticks whose mean is decomposed; default: all later.")
    ] = None,
    level: Level = 0.95,
    as_json: AsJson = False,
    figure: Annotated[Path | None, option("WHERE", "Also draw the fan: fan.pdf.")] = None,
) -> None:
    """Print how much of the variance was decided before a tick, and how much is chance after it.

    A CONFIG is run first: PASTS societies, each with FUTURES whose draws differ after the tick.
    """
    from societies.analysis import effects, fans

    if not _is_recorded(source):
        _require_one(resume=resume, overwrite=overwrite)
        places: dict[str, Any] = {"device": device, "resume": resume, "overwrite": overwrite}
        with _continued(context):
            source = _run_of_fan(
                source, override or [], tick, pasts or 10, futures or 10, out, **places
            )
        print(source, file=sys.stderr)
    elif override or tick or pasts or futures:
        raise ConfigError("--set, --tick, --pasts and --futures are for a CONFIG that is run")
    typed("ticks", "window")
    found = fans.fan_of_file(source, variables, window, level)
    plain = partial(effects.records, found) if as_json else None
    _print_found(plain, lambda: fans.fan_table(found))
    if figure is not None:
        _draw_found([source], figure, "fan", variables, {}, sys.stderr if as_json else None)


def _is_recorded(path: Path) -> bool:
    """Whether a path is that of a result, and not of a configuration."""
    from societies.config.load import is_result

    return is_result(path) or path.suffix == ".h5"


def _require_one(*, resume: bool, overwrite: bool) -> None:
    if resume and overwrite:
        raise ConfigError("--resume continues FILE and --overwrite replaces it: choose one")


def _again(context: typer.Context) -> str:
    """Return the command that continues what this one has begun."""
    words = [word for word in context.obj.words if word not in ("--overwrite", "--resume")]
    end = words.index("--") if "--" in words else len(words)
    return shlex.join(["societies", *words[:end], "--resume", *words[end:]])


@contextmanager
def _continued(context: typer.Context) -> Iterator[None]:
    """Name the command that continues what a signal interrupts, if a file was written."""
    try:
        yield
    except Interrupted as error:
        if error.path is None:
            raise
        said = f"{error}\ncontinue with: {_again(context)}"
        raise Interrupted(said, error.path, error.number) from error


def _run_of_fan(
    config: Path,
    override: Sequence[str],
    tick: int | None,
    pasts: int,
    futures: int,
    out: Path | None,
    **places: Any,
) -> Path:
    """Run a fan from the start, and return its file; ``places`` are options of `societies.run`."""
    import societies
    from societies.workload.running.fans import with_fan

    if tick is None:
        raise ConfigError("fan: a CONFIG needs the tick after which the futures begin: --tick N")
    for name, count in (("--pasts", pasts), ("--futures", futures)):
        if count < 2:
            raise ConfigError(f"{name} {count}: a variance has at least two pasts and two futures")
    path = _find_config(config)
    settings = with_fan(_load(path, override, replicates=pasts).config, tick, futures)
    return societies.run(settings, out=out or Path(f"{path.stem}-fan.h5"), **places).path


def _study_of_shocks(
    files: Sequence[Path],
    shocks: Sequence[str],
    override: Sequence[str],
    replicates: int | None,
    out: Path | None,
    **places: Any,
) -> Path:
    """Compute societies and their twins with each shock, and return the file of the study."""
    from societies import sweep as studies
    from societies.config import read_text
    from societies.sweep.shocks import sweep_of_shocks

    if len(files) > 1:
        raise ConfigError(f"irf: one configuration at a time, not {len(files)}")
    if not shocks:
        if any(not text.startswith("rules.") for text in override):
            raise ConfigError("--set: is for a CONFIG with --shock; a SWEEP has its own 'set'")
        source: Any = studies.load_sweep(files[0], override)
        target = out or Path(f"{Path(source.name).stem}.h5")
    else:
        path = _find_config(files[0])
        config = _load(path, override).config
        each = [read_text(text, "--shock").data for text in shocks]
        source = sweep_of_shocks(config, each, replicates)
        target = out or Path(f"{path.stem}-irf.h5")
    report = studies.run(source, out=target, replicates=replicates, **places)
    for note in report.notes:
        warn(note)
    if report.failures:
        raise SocietiesError(f"{target}: {len(report.failures)} runs failed; see societies info")
    return target


@command()
def reproduce(
    names: Annotated[
        list[str] | None,
        argument(
            "[NAME ...]",
            "Figures 5 to 13, `paper`, or other publications: `ngtsg:figure_11`, `ngtsg`; "
            "none: list all of them.",
        ),
    ] = None,
    all_: Annotated[bool, switch("The paper and all others.", "--all")] = False,
    out: Annotated[Path, option("FOLDER", "Results; runs that it has are used again.")] = Path(
        "reproduction"
    ),
    device: Device = "auto",
    societies: Annotated[int | None, number("Societies of each run: 100, if not said.")] = None,
    small: Annotated[bool, switch("Try it: 12 agents, 40 days, 2 societies.", "--small")] = False,
    keep: Annotated[bool, switch("Keep the whole files of the runs as well.", "--keep")] = False,
    quiet: Annotated[bool, switch("Show no progress.", "-q", "--quiet")] = False,
) -> None:
    """Reproduce what was published: run, draw, compare the published numbers with ours.

    An interrupted run is continued by the same command, and what is done is not repeated.
    """
    from societies.reproduce import (
        COMPANIONS,
        PAPER,
        SOCIETIES,
        Options,
        carry_out,
        carry_out_part,
        figure_rows,
        figures_named,
        has_scripts,
    )

    if not names and not all_:
        print_rows(figure_rows(), open_console())
        return
    if small and societies:
        raise ConfigError("--societies: with --small each run has 2; leave out one of the options")
    if all_ and not has_scripts():
        warn("the paper alone: scripts of other publications are only in a clone of the repository")
    everything = [PAPER, *(COMPANIONS if has_scripts() else ())]
    figures, parts = figures_named(everything if all_ else names or [])
    options, failed = Options(device, societies or SOCIETIES, small, keep, quiet), []
    for figure in figures:
        for path in carry_out(figure, out, options):
            print(path)
    for name, part in parts:
        if text := carry_out_part(name, part, out, options):
            print(text)
        else:
            failed.append(f"{name}:{part}")
    if failed:
        raise SocietiesError(
            f"{', '.join(failed)}: ended with an error, which was printed above\n"
            "the same command tries these again, and repeats nothing else"
        )


@command(cls=ExportCommand)
def export(
    context: typer.Context,
    file: Annotated[Path, argument("FILE", "A result of `societies run`.")],
    to: Annotated[
        str, option("FORMAT", "csv, parquet, netcdf, or a format of the workload's own.")
    ],
    out: Annotated[
        Path | None,
        option("WHERE", "A folder, or the file if there is one; default: the folder of FILE."),
    ] = None,
    variables: Annotated[
        str | None, option("A,B,...", "Variables and lists of events of FILE; default: all.")
    ] = None,
    ticks: Annotated[
        str | None, option("RANGE", "Ticks: 1:300, 1:300:10 or 10,20,30; default: all.")
    ] = None,
    overwrite: Annotated[bool, switch("Replace existing files.", "--overwrite")] = False,
) -> None:
    """Write FILE for other programs: as long tables (csv, parquet), as netcdf, or as FORMAT.

    A workload may have formats of its own, with options: societies export FILE --to FORMAT --help.
    """
    from societies.analysis.exporting import export as write

    options = context.meta.get("options", {})
    for path in write(
        file, to, out, variables=variables, ticks=ticks, overwrite=overwrite, **options
    ):
        print(path)


@command(cls=InfoCommand)
def info(
    file: Annotated[Path, argument("FILE", "A result of `societies run`.")],
    check: Annotated[
        bool, switch("Compare everything recorded with its checksums.", "--check")
    ] = False,
    config: Annotated[bool, switch("Print the configuration alone, as YAML.", "--config")] = False,
    accounts: Annotated[
        bool, switch("Print who paid whom; rows and columns add up to 0.", "--accounts")
    ] = False,
    ticks: Annotated[
        str | None,
        option("RANGE", "Of --accounts: 100 or 97:100; default: the last.", "--ticks", "--tick"),
    ] = None,
    copy: Annotated[int | None, number("Of --accounts: which; default: the first.", from_0)] = None,
    as_json: Annotated[bool, switch("Of --accounts: print the table as JSON.", "--json")] = False,
) -> None:
    """Say what FILE is, how it was made, whether it is complete, and whether it is damaged.

    A damaged file ends with exit code 4.
    """
    from societies.output import inspect
    from societies.output.inspection import configuration

    if accounts:
        from societies.analysis import accounts as payments

        flows = payments.flows(file, ticks=ticks, copy=copy)
        _print_found(flows.as_dict if as_json else None, lambda: payments.flows_table(flows))
        return
    for name, given in (("ticks", ticks), ("copy", copy), ("json", as_json or None)):
        if given is not None:
            raise ConfigError(f"--{name}: is for --accounts")
    found = inspect(file, check=check)
    if config:
        print(printable(configuration(file).rstrip()))
    else:
        print_rows(found.rows, open_console())
    if found.damages:
        damages = [f"{file}: damaged: {one}." for one in found.damages[:MOST_DAMAGES]]
        if more := len(found.damages) - len(damages):
            damages.append(f"{file}: damaged: {counted(more, 'more place')}.")
        raise OutputError("\n".join([*damages, f"Still good: {found.good}."]))


MOST_DAMAGES = 12
"""Damaged places of a file that are named; of a study each damaged run is one."""


@command()
def localmem(
    file: Annotated[
        Path | None, argument("FILE", "OpenCL text, or a file of the kernels folder.")
    ] = None,
    config: Annotated[
        Path | None, option("CONFIG", "Plan the kernels of a configuration, not a FILE.")
    ] = None,
    define: Annotated[
        list[str] | None, option("NAME[=VALUE]", "Define a macro; repeatable.", "-D")
    ] = None,
    inherit: Annotated[
        bool, switch("What a function leaves belongs to its caller.", "--inherit")
    ] = False,
    emit: Annotated[
        bool, switch("Print the rewritten text instead of the table.", "--emit")
    ] = False,
) -> None:
    """Show where each local_malloc of FILE goes and how much local memory its kernels need.

    A kernel that needs more than the portable 32 KiB ends with exit code 3.
    """
    from societies.localmem import plan_file, plan_source, table
    from societies.localmem.table import PORTABLE_LIMIT

    macros = dict(word.partition("=")[::2] for word in define or [])
    leaks = "inherit" if inherit else "end"
    if config is not None and file is None:
        planned = plan_source(_kernels_of(config), macros, leaks=leaks)
    elif file is not None and config is None:
        planned = plan_file(file, macros, leaks=leaks)
    else:
        raise ConfigError("localmem: give either a FILE or --config CONFIG")
    for warning in planned.warnings:
        warn(warning)
    if emit:
        print(planned.source.text, end="")
    else:
        print(table(planned) or f"{file or config}: no local_malloc, nothing to plan")
    sys.stdout.flush()
    planned.check(PORTABLE_LIMIT, "portable profile")


@command()
def new(
    name: Annotated[str, argument("NAME", "Of the workload and its package: my_model.")],
    out: Annotated[Path | None, option("DIR", "Where to; default: the current folder.")] = None,
    template: Annotated[
        str, option("T", "exchange, market, network, minimal, or kernel for OpenCL.")
    ] = "exchange",
) -> None:
    """Begin a model of your own: write a small package that runs, tests included."""
    from societies.scaffold import TEMPLATES, write_workload

    folder = write_workload(name, out, template)
    words = shlex.quote(str(folder))
    print(f"{folder}: a model to be changed into your own: {TEMPLATES[template]}")
    print("it is known to societies once it is installed:")
    print(f"  pip install -e {words}")
    print(f"  societies run {words}/{name}.yaml")
    print(f"  pytest {words}")


def main(arguments: Sequence[str] | None = None, *, own_process: bool = False) -> None:
    """Run the command line and end the process with its exit code.

    Parameters
    ----------
    arguments : words after ``societies``; those of the process when not given
    own_process : whether the process ends with this call: Ctrl-C is then ignored while the end is
        reported, and SIGTERM and SIGHUP end it at once

    Raises
    ------
    SystemExit
        Always: 0 done, 1 failed, 2 configuration or usage, 3 device or build, 4 output,
        130 interrupted, 143 by SIGTERM, 129 by SIGHUP.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    called = Invocation(words)
    began = time.monotonic()
    try:
        with shell_words(words), warnings.catch_warnings():
            warnings.simplefilter("ignore", SocietiesWarning)  # shown when CONFIG is read
            shown = (DamageWarning, OriginWarning, SweepWarning, TranslationWarning, EffectWarning)
            for one in shown:
                warnings.simplefilter("always", one)
            show = warnings.showwarning

            def show_all(message: Warning | str, category: type[Warning], *where: Any) -> None:
                if issubclass(category, shown):
                    print(f"warning: {printable(str(message))}", file=sys.stderr)
                else:
                    show(message, category, *where)

            warnings.showwarning = show_all  # type: ignore[assignment]
            app(args=words, prog_name="societies", obj=called)
    except SystemExit as end:
        if own_process:
            signals.last_words()
        if not end.code:
            try:
                _flush()
            except BrokenPipeError:  # as in `| head`
                sys.exit(1)
            except OSError as error:
                _report(error, called)
        if end.code == Interrupted.exit_code:  # typer's, for a signal that nothing else caught
            signals.say(interruption(end, words))
            sys.exit(signals.exit_code(signals.number_of(end)))
        raise
    except Exception as error:
        number = signals.came_after(began)
        if own_process:
            signals.last_words()
        if number and not isinstance(error, SocietiesError):
            # A library has made an error of its own of the exception that the signal raised.
            signals.say(interruption(error, words))
            sys.exit(signals.exit_code(number))
        _report(error, called)


def _flush() -> None:
    """Write what was printed; if that fails, drop it, so that Python does not try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        raise


def _report(error: Exception, called: Invocation) -> NoReturn:
    """Report an error in a line or two and exit with its code."""
    with suppress(OSError):
        _flush()
    with shell_words():
        reported = _reported(error)
    if called.debug:
        signals.say(printable("".join(traceback.format_exception(error))).rstrip("\n"))
    else:
        lines = str(reported).split("\n")
        signals.say("\n".join(shortened(line, LONGEST_LINE) for line in lines))
    sys.exit(reported.exit_code)


LONGEST_LINE = 2000
"""Most characters of a line of an error, which may name what the user's file has."""


LOST = {
    errno.EBADF: "the standard output is closed",
    **LACKING,
    errno.EFBIG: "it is larger than the largest file allowed here (ulimit -f)",
    errno.EIO: "the terminal or disk that it goes to has failed",
}
"""Why a standard output cannot be written, by the number of the system's error."""


def _reported(error: Exception) -> SocietiesError:
    """Return what to report of an error, with its exit code."""
    if isinstance(error, SocietiesError):
        return error
    kinds = type(error).__mro__
    if any(kind.__module__.startswith("pyopencl") for kind in kinds):  # not translated before
        from societies.opencl.debug import device_error

        return device_error(error, "the device failed")
    if isinstance(error, MemoryError):
        return DeviceError(f"there is not enough memory for this run\n{memory.hint() or FEWER}")
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str):
        return OutputError(f"{shown(error.filename)}: {error.strerror}")
    if isinstance(error, FileNotFoundError) and not error.filename:  # of os.getcwd
        return OutputError("the current folder no longer exists; change to another folder")
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return OutputError("no more files can be opened; raise the limit (ulimit -n)")
    if isinstance(error, OSError) and error.errno in LOST:
        return OutputError(f"the output cannot be printed: {LOST[error.errno]}")
    text = " ".join(str(error).split())
    if isinstance(error, NotImplementedError) and text:  # a workload lacks something, as it says
        return SocietiesError(text)
    if place := _place_in_workload(error):
        return SocietiesError(
            f"{place}: {type(error).__name__}: {text}\n"
            "this is the workload's own code; --debug shows the traceback"
        )
    perhaps = f"\n{memory.hint()}" if memory.hint() else ""
    return SocietiesError(
        f"internal error: {type(error).__name__}: {text} "
        f"(--debug shows the traceback; please report){perhaps}"
    )


def _place_in_workload(error: Exception) -> str:
    """Return file and line where the code of a workload of another package failed; or nothing."""
    from societies.workload.running.registry import foreign_packages

    packages, place = foreign_packages(), ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] in packages:
            place = f"{frame.f_code.co_filename}:{line}"
    return place


def _find_config(path: Path) -> Path:
    """Return the file that CONFIG names: on disk or, failing that, among the shipped ones."""
    from societies.config.load import find_config

    return find_config(path)


def _kernels_of(config: Path) -> Callable[[Mapping[str, Any]], AmalgamatedText]:
    """Return what makes the text of all kernels of a configuration from further macros."""
    from societies.workload.running.engines import full_kernel_text

    setup = _load(config, None)
    return lambda macros: full_kernel_text(setup, macros)


def _of_branch(path: Path, overrides: Sequence[str] | None) -> tuple[list[str], dict[str, Any]]:
    """Divide --set of a branch into what concerns the whole run and values changed from then on."""
    from societies.config import read_text
    from societies.workload.running.registry import load_config, workload

    whole = (workload(load_config(path).workload).ticks_key, "record", "label", "rules")
    remaining, values = [], {}
    for text in overrides or ():
        key, equals, value = text.partition("=")
        if not equals or key.partition(".")[0] in whole:
            remaining.append(text)
        else:
            values[key.strip()] = read_text(value, "value").data
    return remaining, values


def _load(
    path: Path,
    overrides: Sequence[str] | None,
    *,
    ticks: int | None = None,
    table: Path | None = None,
    **keys: int | None,
) -> Setup[Any, Any]:
    """Return CONFIG with the overrides; `keys` are those that have a flag of their own."""
    from societies.config.problems import dotted
    from societies.workload import Setup
    from societies.workload.running.registry import load_config, named_workload, workload

    path = _find_config(path)
    short = {key: value for key, value in keys.items() if value is not None}
    if short or ticks is not None:
        # a file in YAML's flow style, {workload: NAME}, has to be read for that
        name = named_workload(path) or load_config(path, overrides or ()).workload
        for key in short:
            if key not in workload(name).config.model_fields:
                raise ConfigError(f"--{key}: the configuration of {name} has no key '{key}'")
        keys[workload(name).ticks_key] = ticks
    flags = [f"{key}={value}" for key, value in keys.items() if value is not None]
    config = load_config(path, [*(overrides or []), *flags])
    if table is not None:
        from societies.workload.running.points import with_table

        config = with_table(config, table)
    for conflict in config.warnings():
        warn(f"{dotted(conflict.path)}: {conflict.message}")
    return Setup(workload(config.workload), config)


if __name__ == "__main__":
    main()
