"""What shells receive: the scripts to install, and the words and texts they complete."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = "from harness.cli import main; import sys; sys.argv[0] = 'msdump'; sys.exit(main())"
SCRIPTS = {
    "bash": (".bash_completions/msdump.sh", "complete -o default -F _msdump_completion msdump"),
    "zsh": (".zfunc/_msdump", "#compdef msdump"),
    "fish": (".config/fish/completions/msdump.fish", "complete --command msdump"),
}
WHOLE = "Read every golden in full and check it against its digests and its manifest."


def said(words: list[str], **variables: str) -> str:
    """Standard output of ``msdump``, run as a shell runs it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("_TYPER")}
    environment |= {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", **variables}
    command = [sys.executable, "-c", CODE, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=600).stdout


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_installed(shell: str, tmp_path: Path) -> None:
    said(["--install-completion", shell], HOME=str(tmp_path))
    path, line = SCRIPTS[shell]
    assert line in (tmp_path / path).read_text(encoding="utf-8")


@pytest.mark.long
def test_words_and_whole_texts_are_completed() -> None:
    bash = said([], _MSDUMP_COMPLETE="complete_bash", COMP_WORDS="msdump re", COMP_CWORD="1")
    assert bash.split() == ["regen", "review", "report"]
    assert WHOLE in said([], _MSDUMP_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="msdump ver")
