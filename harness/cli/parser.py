"""The parser of the command line; the commands register themselves with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from harness.exit_status import CANNOT_TELL, DIFFERS, HOLDS

try:  # newer releases bring their own copy
    from typer._click.exceptions import ClickException
except ImportError:
    from click.exceptions import ClickException  # type: ignore[import-not-found,no-redef,assignment,unused-ignore]

__all__ = ["CANNOT_TELL", "DIFFERS", "HOLDS", "PASS_ON", "RUN", "Action", "ClickException", "Level", "Match", "app"]

RUN = "BACKEND[/MODE]"
# Everything that follows belongs to pytest or to the script, options included.
HELP = ["-h", "--help"]
PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": HELP}

Action = Callable[[], int]
Match = Literal["auto", "names", "flow"]
NamedTolerance = Literal["exact", "default", "noise"]
Level = Literal["tensors", "digest"]


class Commands(TyperGroup):
    """Lists commands with the full first paragraph of their help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _first(each.help or "")) for name, each in found if each is not None and not each.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Completes commands and options; a command comes with the same text as in the list."""
        found = super().shell_complete(ctx, incomplete)
        for item in found:
            command = self.get_command(ctx, item.value)
            if command is not None:
                item.help = _first(command.help or "")
        return found


def _first(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


app = typer.Typer(
    name="msdump",
    help="Make, check and show golden stores of network dumps. Exit codes: 0 holds, 1 differs, 2 cannot tell.",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": HELP},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"msdump {version('pytest-msdump')}")
        raise typer.Exit


@app.callback(help=app.info.help)
def root(
    version: Annotated[
        bool,
        typer.Option("-V", "--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print nothing but errors: the exit code tells. Also after a command.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Print every row, nothing shortened. Also after a command.")
    ] = False,
) -> None:
    """The options before a command; ``amount.taken_from`` acts on the last two."""
