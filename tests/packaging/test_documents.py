"""Is what the README, docs/ and the other pages say true: do commands run, do links hold?

Every block of every page is carried out in order of the page, in a folder of its own with the
installed wheel; pages.py has the rules, and what is shortened or left out, with the reasons.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sysconfig
from pathlib import Path

import pytest
from marks import offenders
from pages import (
    CHANGES,
    COMMAND,
    FENCE,
    NOT_EXECUTED,
    WITHOUT_OCLGRIND,
    ReaderFolder,
    blocks,
    carry_out,
    excused,
    executed,
    missing,
    pages,
)

from societies import load_config
from societies.errors import ConfigError
from societies.opencl import race
from societies.study.calibration.document import load_calibration
from societies.study.targets import load_targets
from societies.sweep import load_sweep

ROOT = Path(__file__).resolve().parents[2]
PAGES = pages()
LANGUAGES = {
    "sh",
    "console",
    "python",
    "yaml",
    "diff",
    "text",
    "c",
    "r",
    "stata",
    "julia",
    "{eval-rst}",
    "{toctree}",
}

ELSEWHERE = {
    "docs/other-calibrators.md": "tests/study/test_other_calibrators.py, which has the packages",
    "docs/primitives.md": "tests/primitives/test_page.py, in one process",
    "docs/write-a-workload.md": "test_new_workload.py, which looks closer at what the page makes",
    "societies/scaffold/template/README.md": "the same: it belongs to a package that is made",
    "societies/scaffold/models/exchange/README.md": "the same",
    "societies/scaffold/models/market/README.md": "the same",
    "societies/scaffold/models/network/README.md": "the same",
    "societies/scaffold/models/minimal/README.md": "the same",
}
"""Pages that another test carries out."""

OF_THE_CHECKOUT = ("experiments/", "benchmarks/", "tests/")
"""Pages about scripts of the repository; those take long."""

LONG = (
    "README.md",
    *(
        f"docs/{page}.md"
        for page in (
            *(
                "bam",
                "bug-reports",
                "calibrate",
                "calibrate-abc-smc",
                "calibrate-least-squares",
                "calibrate-pattern-space",
                "calibrate-profiles",
                "calibrate-surrogate",
                "change-a-rule",
                "checking-kernels",
                "configuration",
                "make-a-phase-faster",
                "games",
                "models",
                "physics",
            ),
            *("policies", "python-api", "ray-tracer", "write-a-model", "write-a-search"),
        )
    ),
    *(
        f"docs/{page}.md"
        for page in (
            "analysis",
            "other-programs",
            "plots",
            "python-api",
            "results",
            "sweeps",
            "trace",
            "validate",
        )
    ),
)
"""Pages that take longer than four seconds of a processor."""

ILLUSTRATIONS = {
    ("README.md", "$ societies check my.yaml"): "a mistake; a test of its own below makes it",
    (
        "docs/bug-reports.md",
        "$ societies verify my.yaml",
    ): "a device that errs, which none here does",
    ("docs/sweeps.md", "$ societies sweep economy/sweeps/morris"): "takes half an hour",
    ("docs/sweeps.md", "#!/bin/bash"): "a job of Slurm, which needs its cluster",
    ("docs/sweeps.md", "from dask_jobqueue import SLURMCluster"): "the same",
    ("docs/validate.md", '[project.entry-points."societies.statistics"]'): "of another package",
    ("docs/validate.md", "$ societies validate economy --case no_trade"): "500 days",
    (
        "experiments/economy/calibration/README.md",
        "$ societies calibrate experiments/economy/calibration/figure_9.yaml --out figure_9.nc "
        "--figure results",
    ): "takes minutes on a GPU",
    (
        "experiments/economy/calibration/README.md",
        "$ societies calibrate experiments/economy/calibration/recovery.yaml --recover 50 "
        "--figure results",
    ): "takes ten minutes",
    (
        "experiments/economy/calibration/README.md",
        "$ societies calibrate experiments/economy/calibration/figures_9_and_13.yaml --out "
        "figures_9_and_13.nc --figure results",
    ): "takes ten minutes on a GPU",
    (
        "experiments/models/bam/choices/README.md",
        "$ python experiments/models/bam/choices/choices.py --replicates 4",
    ): "takes half an hour",
    (
        "experiments/economy/policies/README.md",
        "$ python experiments/economy/policies/run.py OUT",
    ): "takes minutes on a GPU",
    (
        "experiments/economy/policies/README.md",
        "$ python experiments/economy/policies/responses.py OUT",
    ): "the same",
    (
        "experiments/economy/scenarios/README.md",
        "$ societies validate economy --figure validation.png",
    ): "takes half an hour",
}
"""Blocks marked ``text`` that no block before them prints: page and first line, and why."""


WITH_BLOCKS = [
    pytest.param(
        page,
        marks=pytest.mark.thorough if page in LONG or page.startswith(OF_THE_CHECKOUT) else (),
    )
    for page in PAGES
    if page not in ELSEWHERE
    and any(b.language in ("sh", "console", "python") for b in blocks(page))
]


@pytest.mark.ci
@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_every_block_does_what_the_page_says_in_its_order(page, installation, tmp_path):
    paths = {"base": str(installation.environment), "platbase": str(installation.environment)}
    place = ReaderFolder(tmp_path, Path(sysconfig.get_path("purelib", "venv", vars=paths)))
    if page.startswith(OF_THE_CHECKOUT):
        place.with_checkout()
    printed = ""
    for block, out, err in carry_out(page, place):
        printed += out + err
        if block.language == "console":
            shown = re.sub(r"^\$ .*\n", "", block.text, flags=re.M)
            assert not missing(shown, out + err), f"{page}:{block.line}\n{out}{err}"
            continue
        if block.language != "sh" or executed(page, block.text) == block.text:
            assert "warning: " not in out, f"{block.text}\n{out}"
        first = block.text.partition("\n")[0]
        if block.language == "text" and (page, first) not in ILLUSTRATIONS:
            if "SOCIETIES_DEBUG=race" in block.text and not race.runtime():
                continue
            assert not missing(block.text, printed), f"{page}:{block.line}"
    if page == "README.md" and (ROOT / ".git").exists():
        made = [f"{p.name}/" if p.is_dir() else p.name for p in tmp_path.iterdir()]
        assert {"quickstart.h5", "quickstart_overview.png", "eight.h5", "my_model/"} <= set(made)
        made.append("devices.h5")  # of the first command
        git = ["git", "-C", str(ROOT), "check-ignore", "--no-index", *made]
        done = subprocess.run(git, capture_output=True, text=True, check=False)
        assert set(done.stdout.split()) == set(made), "the tour makes files that git sees"


@pytest.mark.thorough
def test_what_the_readme_verifies_has_everything_that_it_claims(installation, tmp_path):
    """The command as it stands on the page; a shorter one is in the test of all blocks."""
    commands = [b.text for b in blocks("README.md") if b.text.startswith("societies verify ")]
    assert commands
    for command in commands:
        done = installation.run(["bash", "-euc", command], tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("identical: ")
        assert "warning: " not in done.stdout


def test_every_block_is_of_a_kind_that_is_carried_out():
    for page in PAGES:
        for block in blocks(page):
            where = f"{page}:{block.line}"
            assert block.language in LANGUAGES, where
            if block.language in ("yaml", "diff"):
                assert block.file, f"{where}: the first line says in which file it is saved"
            first = block.text.partition("\n")[0]
            if block.language in ("text", "c") and (page, first) not in ILLUSTRATIONS:
                commands = [line for line in block.text.splitlines() if COMMAND.match(line)]
                assert not commands, f"{where}: {commands[0]} is to be executed: sh"


def test_no_command_hides_in_an_indented_block():
    hidden = [
        f"{page}: {line.strip()}"
        for page in PAGES
        for line in FENCE.sub("", (ROOT / page).read_text()).splitlines()
        if line[:4] == "    " and COMMAND.match(line)
    ]
    assert hidden == []


def test_nothing_here_builds_the_program_of_others():
    """Peers come from a package index or by a path: no recipes, no source that needs theirs."""
    building = re.compile(r"git clone|cargo build|^make |\bg\+\+ |\bnvcc ", re.M)
    for page in PAGES:
        assert not [b.line for b in blocks(page) if building.search(b.text)], page
    for folder in ("benchmarks", "experiments"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not re.search(r"git clone|cargo build|cmake|make -C|nvcc", path.read_text()), (
                path
            )
        for path in (ROOT / folder).rglob("*.[ch]*"):
            if path.suffix in (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"):
                assert not re.findall(r'^#include "', path.read_text(), re.M), path


def test_every_exception_is_about_something_that_exists():
    commands = [b.text for page in PAGES for b in blocks(page) if b.language == "sh"]
    for words in NOT_EXECUTED:
        assert any(text.startswith(words) and excused(text) for text in commands), words
    for change in CHANGES:
        texts = [b.text for b in blocks(change.page) if b.language in ("sh", "python")]
        assert any(change.text in text for text in texts), change
    for page, first in ILLUSTRATIONS:
        assert any(b.text.startswith(f"{first}\n") for b in blocks(page)), first
    for page in ELSEWHERE:
        assert blocks(page), page
    assert any(WITHOUT_OCLGRIND in text for text in commands)


def test_the_readme_begins_with_the_two_commands_that_ci_runs():
    first, second, *_ = [b.text for b in blocks("README.md") if b.language == "sh"]
    assert excused(first)
    assert excused(second)
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def invalid_examples(page, folder):
    """Return the errors in the configurations of a page, whose files are written to a folder."""
    found, folder = [], folder / page.replace("/", "-")
    folder.mkdir()
    for block in blocks(page):
        for name in re.findall(r"^cat > (\w+\.py)", block.text, re.M):
            (folder / name).touch()
        if block.language != "yaml":
            continue
        text = block.text
        (folder / "example.yaml").write_text(text)
        if block.file:
            (folder / block.file).write_text(text)
        begins = {"base": load_sweep, "method": load_calibration, "statistics": load_targets}
        read = [load for key, load in begins.items() if re.search(f"^{key}:", text, re.M)]
        try:
            (read[-1] if read else load_config)(folder / "example.yaml")
        except ConfigError as error:
            found.append(str(error))
    return found


def test_example_configurations_are_valid(tmp_path):
    assert offenders(lambda page: invalid_examples(page, tmp_path), PAGES) == {}


def test_tables_made_from_the_code_are_up_to_date():
    made = runpy.run_path(str(ROOT / "docs/tables.py"))
    updated = made["updated"]
    marked = [page for page in PAGES if "<!-- begin: " in (ROOT / page).read_text()]
    named = [
        name
        for page in marked
        for name in re.findall(r"<!-- begin: ([\w-]+) -->", (ROOT / page).read_text())
    ]
    assert sorted(named) == sorted(made["TABLES"])
    for page in marked:
        text = (ROOT / page).read_text()
        assert updated(text) == text, f"{page} is behind the code: run python docs/tables.py"


def leads_somewhere(page, target):
    """Return whether a link of a page leads to a file, and to a heading of it if it names one."""
    path, _, heading = target.partition("#")
    file = ((ROOT / page).parent / path).resolve() if path else ROOT / page
    if not heading or not file.exists():
        return file.exists()
    found = re.findall(r"^#+ (.+)$", file.read_text(), re.M)
    # As GitHub makes them: punctuation is dropped, blanks become hyphens.
    return heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in found}


def test_links_lead_somewhere():
    wrong = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.M | re.S)
        links = [one for one in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in one]
        wrong += [f"{page}: {one}" for one in links if not leads_somewhere(page, one)]
    assert wrong == []
    assert leads_somewhere("README.md", "docs/install.md")
    assert not leads_somewhere("README.md", "docs/nowhere.md")
    assert not leads_somewhere("README.md", "docs/install.md#nowhere")


def test_sources_cite_sections_of_the_model_that_exist():
    headings = set(re.findall(r"^#+ (.+)$", (ROOT / "docs/model.md").read_text(), re.M))
    cited = set()
    for folder in ("societies", "reference_py", "kernels"):
        for path in (ROOT / folder).rglob("*.[pc][yl]"):
            text = " ".join(line.strip(" /#*") for line in path.read_text().splitlines())
            for names in re.findall(
                r'docs/model\.md,(?: sections?)? ((?:"[^"]+"(?: and |, )?)+)', text
            ):
                cited.update(re.findall(r'"([^"]+)"', names))
    assert cited
    assert cited <= headings


def test_the_error_that_the_readme_shows_is_the_one_that_comes(tmp_path):
    ((command, shown),) = re.findall(r"^\$ societies check (\S+)\n(.+)$", readme_text(), re.M)
    line, key = re.search(r":(\d+):\d+  trading\.(\w+):", shown).groups()  # type: ignore[union-attr]
    lines = ["workload: economy", *[""] * (int(line) - 3), "trading:", f"  {key}: 3"]
    (tmp_path / command).write_text("\n".join(lines))
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path / command)
    assert str(error.value).endswith(f"/{shown}")


def readme_text() -> str:
    return (ROOT / "README.md").read_text()
