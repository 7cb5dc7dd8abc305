"""``ci/release`` tags what was committed, built and checked in a clean clone, and nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.subprocesses import ROOT

#: stands for ``python3 -m venv``: an environment whose tools write down that they ran, and where; tox can fail
PYTHON = """#!/bin/sh
mkdir -p "$3/bin"
for tool in pip tox twine python; do
    printf '#!/bin/sh\\necho %s "$@" >>"$NOTES"\\n[ "%s" != "$FAILS" ] || exit 1\\n' $tool $tool >"$3/bin/$tool"
    printf 'case "$*" in *build*--outdir*) mkdir -p "$5"; touch "$5/msdump-1.2.0.tar.gz";; esac\\n' >>"$3/bin/$tool"
    chmod +x "$3/bin/$tool"
done
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a release that is ready, and one file that is not committed."""
    root = tmp_path / "project"
    (root / "ci").mkdir(parents=True)
    (root / "ci" / "release").write_bytes((ROOT / "ci" / "release").read_bytes())
    (root / "ci" / "release").chmod(0o755)
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    (root / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.0] - 2026-11-29\n")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Ready")
    (root / "stray.py").write_text("")
    return root


def git(root: Path, *words: str) -> str:
    """What git prints."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def release(root: Path, *words: str, fails: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the script with stand-ins for the tools."""
    tools = root.parent / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "python3").write_text(PYTHON)
    (tools / "python3").chmod(0o755)
    more = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "NOTES": str(root.parent / "notes"), "FAILS": fails}
    who = {f"GIT_{each}_{what}": "a@b.example" for each in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        [str(root / "ci" / "release"), *words], env=os.environ | more | who, capture_output=True, text=True
    )


def test_it_builds_checks_and_tags(project: Path) -> None:
    done = release(project, "1.2.0")
    assert done.returncode == 0, done.stderr
    assert git(project, "rev-parse", "v1.2.0^{commit}") == git(project, "rev-parse", "HEAD")
    assert [each.name for each in (project / "dist").iterdir()] == ["msdump-1.2.0.tar.gz"]
    ran = [line.split()[0] for line in (project.parent / "notes").read_text().splitlines()]
    assert ran == ["pip", "tox", "tox", "python", "twine"]


@pytest.mark.parametrize("tool", ["tox", "python", "twine"])
def test_what_fails_leaves_no_tag(project: Path, tool: str) -> None:
    assert release(project, "1.2.0", fails=tool).returncode != 0
    assert git(project, "tag") == ""
    assert not (project / "dist").exists()


def test_each_condition_is_told(project: Path) -> None:
    assert "usage" in release(project).stderr
    assert 'does not say version = "1.3.0"' in release(project, "1.3.0").stderr
    (project / "pyproject.toml").write_text('[project]\nversion = "1.3.0"\n')
    git(project, "commit", "--quiet", "--all", "--message", "Next")
    assert "has no section" in release(project, "1.3.0").stderr
    git(project, "tag", "v1.2.0", "HEAD~1")
    assert "v1.2.0 is tagged already" in release(project, "1.2.0").stderr
    (project / "CHANGELOG.md").write_text("# Changelog\n\n## [1.3.0] - 2026-12-29\n")
    git(project, "commit", "--quiet", "--all", "--message", "x" * 73)
    assert "more than 72 characters since v1.2.0" in release(project, "1.3.0").stderr
