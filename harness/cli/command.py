"""Subcommands of other packages: ``msdump NAME``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


class Command:
    """A subcommand of another package.

    Class attributes:
        required: what it must define.
        name: as it is typed.
        help: what it does, in one line, for ``msdump --help``.

    Examples:
        >>> from harness.cli.command import Command
        >>> class Hello(Command):
        ...     name, help = "hello", "Say hello."
        ...     def run(self, arguments):
        ...         print("hello", *arguments)
        ...         return 0
        >>> Hello().run(["you"])
        hello you
        0
    """

    required: ClassVar[tuple[str, ...]] = ("name", "run")
    name: ClassVar[str]
    help: ClassVar[str] = ""

    def run(self, arguments: Sequence[str]) -> int:
        """Does the work. A ``HarnessError`` or an ``OSError`` that it raises becomes one line, and exit code 2.

        Args:
            arguments: what was typed after the name.

        Returns:
            The exit code: 0 holds, 1 differs, 2 cannot tell.
        """
        raise NotImplementedError
