"""Commands that messages suggest, each as it can be typed where it is printed.

Every message that names a command gets it from here; ``tests/plugin/test_suggested.py`` runs each.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path, PurePath

#: A word that begins with one of these is an option, or names a file with arguments for pytest.
_LEADS = ("-", "@")
#: What ``printf %b`` prints as it is, also between single quotes.
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+=:,./@()[]{}<>*?!&;|#~^$")


def command(*words: str | PurePath, within: str = "") -> str:
    """A command for a POSIX shell, with everything quoted.

    Args:
        words: the program, and its arguments; a path is never taken for an option.
        within: the directory to change to first, for this command only; empty for none.

    Examples:
        >>> from pathlib import PurePosixPath
        >>> from harness.suggest import command
        >>> command("msdump", "show", PurePosixPath("-my golden.h5"), "--run", "cpu/tensor", within="tests")
        "(cd tests && msdump show './-my golden.h5' --run cpu/tensor)"
    """
    typed = " ".join(quoted(operand(os.fspath(word)) if isinstance(word, PurePath) else word) for word in words)
    return f"(cd {quoted(operand(within))} && {typed})" if within not in ("", ".") else typed


def install(requirement: str) -> str:
    """The command that installs a package, such as ``pytest-msdump[torch]``."""
    return command("pip", "install", requirement)


def pull(path: Path) -> str:
    """The command that fetches what a git-LFS pointer at ``path`` stands for, typed in the current directory."""
    above = Path(os.path.abspath(path)).parents
    root = next((folder for folder in above if (folder / ".git").exists()), None)
    here = Path.cwd()
    elsewhere = root is not None and here != root and root not in here.parents
    return command("git", "lfs", "pull", within=os.path.relpath(root) if elsewhere and root is not None else "")


def operand(path: str) -> str:
    """A path that no program takes for an option."""
    return f"./{path}" if path.startswith(_LEADS) else path


def quoted(word: str) -> str:
    r"""A word for a POSIX shell. One with characters that must not reach a terminal is spelled by ``printf``, in octal;
    a newline at its end cannot be."""
    if word.isprintable():
        return shlex.quote(word)
    octal = "".join(chr(code) if code in _PLAIN else f"\\0{code:03o}" for code in os.fsencode(word))
    return f"\"$(printf %b '{octal}')\""
