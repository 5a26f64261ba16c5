"""Is what the README and docs/ say true: do commands run, examples work, tables and links hold?

Blocks marked ``sh`` and ``python`` are executed, in order of the page, in an empty folder with the
installed wheel; blocks marked ``text`` show something and are not.
"""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from societies.config import load_config
from societies.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")),
]

NOT_HERE = {
    "python3 -m venv": "needs the network; .ci/run executes it, test_wheel.py the same offline",
    ".venv/bin/pip install -e": "would run these tests again; .ci/run executes it",
}
"""First words of the sh blocks that are not executed here, and why."""

ELSEWHERE = {"docs/write-a-workload.md"}
"""Pages whose blocks another test carries out: test_new_workload.py installs what they make."""


def blocks(page: str, *languages: str) -> list[tuple[str, str]]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    assert all(language for language, _ in fenced), f"{page} has a block without a language"
    return [(language, text) for language, text in fenced if language in languages]


def excused(text: str) -> bool:
    return any(text.startswith(words) for words in NOT_HERE)


def test_every_excuse_is_about_a_block_that_exists():
    commands = [text for page in PAGES for _, text in blocks(page, "sh")]
    for words in NOT_HERE:
        assert sum(text.startswith(words) for text in commands) == 1, words


def test_the_readme_begins_with_the_two_commands_that_ci_runs():
    (_, first), (_, second), *_ = blocks("README.md", "sh")
    assert excused(first)
    assert excused(second)
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p, "sh", "python") and p not in ELSEWHERE]
)
def test_commands_and_examples_run_as_written(page, installation, tmp_path):
    activate = tmp_path / ".venv/bin/activate"  # where the README's first command puts it
    activate.parent.mkdir(parents=True)
    activate.symlink_to(installation.environment / "bin/activate")
    if "quickstart.h5" in "".join(text for _, text in blocks(page, "python")):
        done = installation.run(["societies", "run", "economy/quickstart", "-q"], tmp_path)
        assert done.returncode == 0, done.stderr
        if page == "README.md":  # it makes its own
            (tmp_path / "quickstart.h5").unlink()
    for number, (_, text) in enumerate(blocks(page, "yaml")):
        (tmp_path / ("my.yaml" if number else "shortest.yaml")).write_text(text)
    for language, text in blocks(page, "sh", "python"):
        if excused(text):
            continue
        interpreter = ["bash", "-euc"] if language == "sh" else ["python", "-W", "error", "-c"]
        done = installation.run([*interpreter, text], tmp_path)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        assert done.stdout or "print" not in text
        assert "warning: " not in done.stdout, f"{text}\n{done.stdout}"
    if page == "README.md" and (ROOT / ".git").exists():
        made = {path.name for path in tmp_path.iterdir()} - {".venv"}
        assert {"quickstart.h5", "quickstart_overview.png", "eight.h5"} <= made
        # What is shown, not executed, makes these; and the first command, at the top, the last.
        made |= {"long.h5", "my_model/", "devices.h5"}
        git = ["git", "-C", str(ROOT), "check-ignore", "--no-index", *sorted(made)]
        done = subprocess.run(git, capture_output=True, text=True, check=False)
        assert set(done.stdout.split()) == made, "the tour leaves files that git does not ignore"


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "yaml")])
def test_example_configurations_are_valid(page, tmp_path):
    for _, text in blocks(page, "yaml"):
        (tmp_path / "example.yaml").write_text(text)
        load_config(tmp_path / "example.yaml")  # or it raises, with a line for each problem


def test_tables_made_from_the_code_are_up_to_date():
    renewed = runpy.run_path(str(ROOT / "docs/tables.py"))["renewed"]
    marked = [page for page in PAGES if "<!-- begin: " in (ROOT / page).read_text()]
    assert len(marked) == 3
    for page in marked:
        text = (ROOT / page).read_text()
        assert renewed(text) == text, f"{page} is behind the code: run python docs/tables.py"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        file = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert file.exists(), f"{page} links to {target}"
        if heading:
            found = re.findall(r"^#+ (.+)$", file.read_text(), re.M)
            # As GitHub makes them: punctuation is dropped, blanks become hyphens.
            slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in found}
            assert heading in slugs, target


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
