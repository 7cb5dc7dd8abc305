"""``msdump run``: runs an unchanged MindSpore script on an emulated backend."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import escape
from harness.cli import importing, script
from harness.cli.run_ranks import Ranks
from harness.reading import open_regular


def run_script(
    path: str,
    arguments: Sequence[str],
    backend: str,
    config: Path | None,
    msprobe: Path | None = None,
    inspected: bool = False,
    is_module: bool = False,
    ranks: Ranks | None = None,
) -> int:
    """Runs ``path`` with ``mindspore`` resolved to ``harness``.

    Args:
        path: the script.
        arguments: its arguments.
        backend: name of an emulated backend.
        config: dump configuration for ``MINDSPORE_DUMP_CONFIG``; None leaves the environment as it is.
        msprobe: the same for ``MSDUMP_MSPROBE_CONFIG``.
        inspected: capture the run, and print what an inspection finds; an error there makes the exit code 1.
        is_module: ``path`` is the name of a module, as behind ``python -m``.
        ranks: how many times, as ranks that communicate; None for once.

    Returns:
        The script's exit code; 2 if the script or the configuration cannot be read.

    Raises:
        UnknownNameError, UnsupportedError: the backend does not exist, or does not run in this process.
    """
    from harness import backends

    try:
        if not is_module:
            script.load(path)
        for variable, file in (("MINDSPORE_DUMP_CONFIG", config), ("MSDUMP_MSPROBE_CONFIG", msprobe)):
            if file is not None:
                os.close(open_regular(file))
                os.environ[variable] = os.path.abspath(file)
    except OSError as error:
        print(f"msdump: {error}", file=sys.stderr)
        return 2
    backends.stand_in(backend)
    importing.install()
    escape.unescape_output()
    if ranks is not None and (ended := ranks.split()) is not None:
        return ended
    if inspected:
        return _inspected(path, arguments, is_module)
    try:
        code = (script.run_module if is_module else script.run)(path, arguments)
    except SystemExit as ended:
        if not ended.code:
            _say_why_nothing_was_dumped()
        raise
    if not code:
        _say_why_nothing_was_dumped()
    return code


def _inspected(path: str, arguments: Sequence[str], is_module: bool) -> int:
    """Runs a script with everything captured, and prints what is wrong with the run, whether it ended or failed."""
    from harness.inspect.inspecting import inspect
    from harness.inspect.live import whole_run
    from harness.inspect.text import lines

    current, observer = whole_run()
    code: int = 1
    try:
        code = (script.run_module if is_module else script.run)(path, arguments)
    finally:
        capture = observer.capture(Path(path).stem, "cpu")
        capture.places = dict(current.places)
        report = inspect(capture)
        for each in lines(report):
            escape.show(escape.line(each), sys.stderr)
    return code or report.code


def print_environment() -> int:
    """Prints what a shell evaluates for ``import mindspore`` to find this project; gives the exit code."""
    place = shlex.quote(str(Path(__file__).parent / "stand_in"))
    print(f'export PYTHONPATH={place}"${{PYTHONPATH:+:$PYTHONPATH}}"')
    return 0


def _say_why_nothing_was_dumped() -> None:
    """Says why a requested dump is empty: no graph ran, most likely because of PyNative mode.

    Not after an error, which is why nothing was dumped, and which is the last line then.
    """
    from harness.framework.runtime import session

    used = session.current()
    if os.environ.get("MINDSPORE_DUMP_CONFIG") and not used.programs and not used.iteration:
        print(
            "msdump: nothing was dumped: no graph ran, and operators of PyNative mode run outside of graphs; "
            "set_context(mode=GRAPH_MODE) or @jit makes graphs",
            file=sys.stderr,
        )
