"""Which commit is a wheel made from: hatchling writes it into the package while building."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """Put the commit of the checkout, if it is one, into ``societies/_data/commit.txt``."""

    def initialize(self, version, build_data):
        """Write the file into a temporary folder and include it."""
        if version == "editable":  # the checkout itself tells
            return
        stamp = Path(tempfile.mkdtemp()) / "commit.txt"
        stamp.write_text(self._commit() + "\n", encoding="utf-8")
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
