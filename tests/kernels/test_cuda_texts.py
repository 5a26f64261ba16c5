"""Is the text of every workload, and every kernel file built alone, CUDA C++ when translated?

Whole texts run in CI. Files alone take six times as long, and run nightly with each switch. Clang
reads it (`cuda_parsed`), so that this needs neither NVRTC nor a GPU. What NVRTC says of whole
programs is in tests/golden/test_cuda_builds.py.
"""

import re

import pytest
import test_kernel_sources as sources
from cuda_parsed import errors_in_cuda
from marks import offenders, some_and_others
from small import forms, names, small

from societies import config_from_dict
from societies.kerneltext.source import AmalgamatedText, amalgamate
from societies.workload import Setup
from societies.workload.declare.phases import kernel_files
from societies.workload.running.engines import full_kernel_text
from societies.workload.running.registry import workload

FACTS = {"DEVICE_IS_CPU": False, "DEVICE_ROUNDS_SINGLES": True, "DEVICE_FUSES_MULADD": False}
ECONOMY = {
    name.removeprefix("economy ").removesuffix(" on a GPU"): settings
    for name, (what, settings, kind) in sources.COMPILED.items()
    if what == "economy" and kind == "GPU"
}
"""Settings that switch the economy's code on and off, as few as that takes."""

OF_DEVICES = {f"economy/{name}.cl" for name in ("devices", "knowledge", "valuation")}
"""Files that others include only if there are devices."""

WITH_RULES = {name for name, text in sources.TEXTS.items() if "#ifdef RULE_" in text}


def configured(name, settings):
    """Return a workload and a configuration of it."""
    config = config_from_dict(settings) if name == "economy" else small(name, **settings)
    return workload(name), config


def parts(name, settings):
    """Yield the files that a workload's phases need under some settings, each built alone.

    A text that is made from Python is yielded with all that it is compiled with.
    """
    one, config = configured(name, settings)
    p = one.parameters(config)
    given, files = one.source(p), kernel_files(one.phases(p, one.count(config)))
    if any(f"kernels/{file}" not in sources.TEXTS for file in files):
        yield "all", full_kernel_text(Setup(one, config), FACTS)
        return
    of_game = [file for file in files if file.endswith("/search.cl")]  # has the game's macros
    for file in sources.with_includes(files):
        if not file.startswith("primitives/"):
            alone = [*of_game, file] if file.startswith("games/ngtsg/") else [file]
            yield file, amalgamate(alone, {**given.macros, **FACTS}, given.header)


@pytest.mark.ci
def test_primitives():
    def errors(name):
        return errors_in_cuda(amalgamate([sources.ROOT / name], FACTS))

    assert offenders(errors, sources._PRIMITIVES) == {}


def test_operators_of_python():
    for checked in (0, 1):
        facts = {**FACTS, "CHECKED": checked}
        file = sources.ROOT / "kernels/translate/python.cl"  # includes lists.cl
        assert errors_in_cuda(amalgamate([file], facts)) == []


@pytest.mark.ci
def test_the_texts_of_workloads():
    def errors(name):
        settings = ECONOMY["with policies"] if name == "economy" else forms(name)[0]
        return errors_in_cuda(full_kernel_text(Setup(*configured(name, settings)), FACTS))

    assert offenders(errors, names()) == {}


def errors_of_economy(settings):
    """Return the errors in the files of the economy under some settings, by file."""
    found = {
        file: errors_in_cuda(made)
        for file, made in parts("economy", ECONOMY[settings])
        if not (file in OF_DEVICES and "without devices" in settings)
        and not (settings == "with rules" and f"kernels/{file}" not in WITH_RULES)
    }
    assert len(found) >= 5
    return {file: errors for file, errors in found.items() if errors}


@pytest.mark.ci
@pytest.mark.parametrize("settings", some_and_others({"with rules"}, ECONOMY))
def test_the_files_of_the_economy(settings):
    assert offenders(errors_of_economy, settings) == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("link_sale(x);", "undeclared identifier 'link_sale'"),  # without its include
        ("x[0] = (int)exp(1.0);", "undeclared identifier 'exp'"),
        ("__global int *y = x + *x; float *z = y;", "cannot initialize a variable of type 'float"),
        ("if (*x) goto end; int z = 1; end: x[0] = 2;", "cannot jump"),
        ("x[0] = as_int(1.0);", "static assertion|no matching function"),
    ],
)
def test_planted_errors_are_found(line, said):
    planted = AmalgamatedText()
    planted.append("planted.cl", f"__kernel void k(__global int *x)\n{{\n    {line}\n}}\n")
    (error, *_) = errors_in_cuda(planted)
    assert re.search(said, error), error


def test_what_opencl_allows_is_allowed():
    planted = AmalgamatedText()
    line = "uint new = rotate(1u, 3u) + popcount(7u); x[new & 7] = (int)min(3ul, (ulong)new);"
    planted.append("planted.cl", f"__kernel void k(__global int *x)\n{{\n    {line}\n}}\n")
    assert errors_in_cuda(planted) == []


FORMS = [(name, n) for name in names() if name != "economy" for n in range(len(forms(name)))]


def errors_of_form(form):
    """Return the errors in the files of a form of a workload, by file."""
    found, (name, number) = {}, form
    for file, made in parts(name, forms(name)[number]):
        needed = [f"'{one}'" for one in sources.OF_THE_GAME.get(file, [])]
        errors = [e for e in errors_in_cuda(made) if not any(one in e for one in needed)]
        if errors:
            found[file] = errors
    return found


@pytest.mark.thorough
def test_the_files_of_workloads():
    assert offenders(errors_of_form, FORMS) == {}
