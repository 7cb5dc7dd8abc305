"""A subcommand: ``msdump tiny FACTOR``."""

from harness.cli.command import Command
from harness.errors import SettingError


class Tiny(Command):
    name = "tiny"
    help = "Say what the tiny runtime gives for 1, times FACTOR."

    def run(self, arguments):
        if len(arguments) != 1:
            raise SettingError(f"tiny: one number is accepted, got {len(arguments)} arguments")
        factor = float(arguments[0])
        print(f"tinyrt gives {(factor + 1) * factor:g}")
        return 0
