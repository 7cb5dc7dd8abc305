"""The parser of the command line; the commands register themselves with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from harness.cli.command import Command
from harness.exit_status import CANNOT_TELL, DIFFERS, HOLDS
from harness.registry import Registry, instance_of

try:  # newer releases bring their own copy
    from typer._click.exceptions import ClickException
except ImportError:
    from click.exceptions import ClickException  # type: ignore[import-not-found,no-redef,assignment,unused-ignore]

__all__ = [
    "CANNOT_TELL",
    "COMMANDS",
    "DIFFERS",
    "HOLDS",
    "PASS_ON",
    "RUN",
    "Action",
    "ClickException",
    "Level",
    "Match",
    "app",
]

RUN = "BACKEND[/MODE]"
# Everything that follows belongs to pytest or to the script, options included.
HELP = ["-h", "--help"]
PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": HELP}

Action = Callable[[], int]
Match = Literal["auto", "names", "flow"]
Level = Literal["tensors", "digest"]


class Commands(TyperGroup):
    """Lists commands with the full first paragraph of their help; also those of other packages."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in their order; those of other packages last."""
        own = super().list_commands(ctx)
        return [*own, *sorted(set(COMMANDS) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; None if there is none."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        return _of_another_package(cmd_name, COMMANDS.get(cmd_name)) if cmd_name in COMMANDS else None

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


def _of_another_package(name: str, command: Any) -> Any:
    """The parser of a command that takes its arguments as they are."""

    def call(ctx: typer.Context) -> Action:
        return lambda: int(command.run(list(ctx.args)))

    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, help=command.help, context_settings={**PASS_ON, "allow_extra_args": True})(call)
    return typer.main.get_command(alone)


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


def _populate() -> None:
    """The project's own names, so that nobody else takes them."""
    for each in app.registered_commands:
        function = each.callback
        assert function is not None
        name = each.name or function.__name__.rstrip("_").replace("_", "-")
        COMMANDS.register(name, function)


#: by name: a ``Command`` of another package, or the function of one of the project's own. Packages outside add to it
#: through the entry-point group ``harness.commands``.
COMMANDS: Registry[Any] = Registry("command", "harness.commands", _populate, instance_of(Command))


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
