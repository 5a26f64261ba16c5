"""Which commit is a wheel made from, and which experiments come with it? Hatchling asks this."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """Put the commit of the checkout, if it is one, into ``societies/_data/commit.txt``."""

    def initialize(self, version, build_data):
        """Include that file, and what figures are made from."""
        if version == "editable":  # the checkout itself tells
            return
        stamp = Path(tempfile.mkdtemp()) / "commit.txt"
        stamp.write_text(self._commit() + "\n", encoding="utf-8")
        paper = Path(self.root) / "experiments" / "economy" / "paper"
        for path in sorted(paper.glob("*/figure.yaml")):  # for `societies reproduce`
            inside = path.relative_to(self.root).as_posix()
            build_data["force_include"][str(path)] = f"societies/_data/{inside}"
        build_data["force_include"][str(stamp)] = "societies/_data/commit.txt"

    def _commit(self):  # as commit_of in societies/workload/running/provenance.py
        git = shutil.which("git")
        if git is None or not (Path(self.root) / ".git").exists():
            return ""

        def ask(*words):
            done = subprocess.run(
                [git, "--no-optional-locks", "-C", self.root, *words],
                capture_output=True,
                text=True,
                check=False,
            )
            return done.stdout.strip() if done.returncode == 0 else ""

        commit = ask("rev-parse", "HEAD")
        changed = ask("status", "--porcelain", "--untracked-files=no") if commit else ""
        return f"{commit}-modified" if changed else commit
