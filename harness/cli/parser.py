"""The parser of the command line; the commands register themselves with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo

from harness.cli.command import Command
from harness.exit_status import CANNOT_TELL, DIFFERS, HOLDS
from harness.registry import Registry, instance_of
from harness.suggest import command as typed

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
    "passing_on",
    "root",
]

RUN = "BACKEND[/MODE]"
# Everything that follows belongs to pytest or to the script, options included.
HELP = ["-h", "--help"]
PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": HELP}

_GATE = "(pytest)"
#: words that others' tools have for what a command of ours does
MEANT = {
    "test": _GATE, "gate": _GATE, "update": "regen", "snapshot": "regen",
    "record": "regen", "generate": "regen", "write": "regen", "approve": "accept",
    "compare": "diff", "cmp": "diff", "ls": "show", "list": "show",
    "view": "show", "cat": "show", "print": "show", "info": "show",
    "golden": "show", "status": "doctor", "new": "init", "create": "init",
    "clean": "prune", "rm": "prune", "delete": "prune", "remove": "prune",
    "export": "convert", "exec": "run", "devices": "backends", "version": "--version",
    "help": "--help", "repair": "verify --fix", "validate": "verify",
}  # fmt: skip

Action = Callable[[], int]
Match = Literal["auto", "names", "flow"]
Level = Literal["tensors", "digest"]


class Parsers(Mapping[str, Any]):
    """The parsers of the project's own commands, each made when it is asked for: all of them take longer to make than
    most commands to run."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _parser(_own()[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_own())

    def __len__(self) -> int:
        return len(_own())


class Commands(TyperGroup):
    """Lists commands with the full first paragraph of their help; also those of other packages."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = Parsers()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in their order; those of other packages last."""
        return [*self.commands, *sorted(set(COMMANDS) - set(self.commands))]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words name; a word of another tool's is answered with ours."""
        try:
            return super().resolve_command(ctx, args)
        except ClickException as error:
            meant = MEANT.get(args[0]) if args else None
            if meant is not None:
                words = ("pytest", "--msdump") if meant == _GATE else ("msdump", *meant.split())
                error.message = f"No such command {args[0]!r}. Did you mean `{typed(*words)}`?"
            raise

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; None if there is none."""
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in COMMANDS:
            return _parser(_of_another_package(cmd_name))
        return found

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list."""
        own = _own()
        found = [(name, own.get(name) or _of_another_package(name)) for name in self.list_commands(ctx)]
        rows = [(name, _first(_help(each))) for name, each in found if not each.hidden]
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


def _of_another_package(name: str) -> CommandInfo:
    """A command that takes its arguments as they are."""
    command = COMMANDS.get(name)

    def call(ctx: typer.Context) -> Action:
        return lambda: int(command.run(list(ctx.args)))

    return CommandInfo(name, callback=call, help=command.help, context_settings={**PASS_ON, "allow_extra_args": True})


def _parser(command: CommandInfo) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.registered_commands.append(command)
    return typer.main.get_command(alone)


def _help(command: CommandInfo) -> str:
    return (inspect.getdoc(command.callback) if command.help is None else command.help) or ""


def _first(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


#: the project's own commands register themselves here
app = typer.Typer()

#: what stands before a command
root = typer.Typer(
    name="msdump",
    help="Make, check and show golden stores of network dumps. Exit codes: 0 holds, 1 differs, 2 cannot tell.",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": HELP},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _own() -> dict[str, CommandInfo]:
    """The project's own commands by name."""
    named = ((each.name or str(getattr(each.callback, "__name__", "")), each) for each in app.registered_commands)
    return {name.replace("_", "-"): each for name, each in named}


def passing_on() -> list[str]:
    """The project's own commands that hand on what follows them."""
    return [name for name, each in _own().items() if each.context_settings is PASS_ON]


def _populate() -> None:
    """The project's own names, so that nobody else takes them."""
    for name, command in _own().items():
        COMMANDS.register(name, command.callback)


#: by name: a ``Command`` of another package, or the function of one of the project's own. Packages outside add to it
#: through the entry-point group ``harness.commands``.
COMMANDS: Registry[Any] = Registry("command", "harness.commands", _populate, instance_of(Command))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"msdump {version('pytest-msdump')}")
        raise typer.Exit


@root.callback(help=root.info.help)
def _before(
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
