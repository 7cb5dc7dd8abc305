"""Every option of the plugin: one row each, giving the command line flag and its ini twin of the same name.

Precedence: command line, then marker (where the row names a marker argument), then ini, then default.
"""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

GROUP = "msdump"
NOT_ASKED = "msdump: nothing was compared; --msdump (or ini msdump = true) checks it"
LEVELS = ("tensors", "digest", "everything")
#: how finely PyTorch modules are captured
GRANULARITIES = ("operators", "modules", "sentinel")
#: says in the environment of a process that --msdump-repeat started it
REPEATED = "MSDUMP_REPEATED"


class Option(NamedTuple):
    """One option.

    Attributes:
        name: ini key; the flag is ``--`` and the same with hyphens.
        kind: ``flag`` (no value), ``list`` (repeatable, commas separate), ``text``, ``path`` or ``count``.
        default: value when nobody sets it.
        help: one line.
        metavar: placeholder of the value in ``--help``.
        choices: the values accepted; empty for any.
        hint: what else a message about a wrong value says.
        marker: keyword of the ``msdump`` marker that may set it for one test; None if none may.
    """

    name: str
    kind: Literal["flag", "list", "text", "path", "count"]
    default: Any
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    marker: str | None = None
    hint: str = ""

    @property
    def flag(self) -> str:
        """``--msdump-backend``."""
        return "--" + self.name.replace("_", "-")


OPTIONS = (
    Option("msdump", "flag", False, "check the networks of marked tests against their goldens"),
    Option("msdump_regen", "flag", False, "rewrite the goldens of the selected tests (implies --msdump)"),
    Option(
        "msdump_learn", "count", 0, "run each test N times and keep with its golden how far its results scatter", "N"
    ),
    Option("msdump_force", "flag", False, "learn from one run too, and from a spread that no rounding explains"),
    Option("msdump_repeat", "flag", False, "run each test again, here and in other processes, and compare the bits"),
    Option("msdump_backend", "list", ("cpu",), "backends to run on", "NAME", marker="backends"),
    Option("msdump_mode", "list", ("tensor",), "dump modes to run in", "NAME", marker="modes"),
    Option("msdump_variants", "list", (), "facts of the environment by which goldens may have variants", "FACT"),
    Option("msdump_golden", "path", "golden", "directory of the golden stores", "DIR"),
    Option("msdump_keep", "flag", False, "keep the dump trees of failing tests in .msdump/trees/"),
    Option("msdump_report", "path", "", "write a page about the session's comparisons, in one HTML file", "FILE"),
    Option("msdump_json", "path", "", "write the session's results as JSON, for programs", "FILE"),
    Option("msdump_level", "text", "tensors", "what a new golden keeps", "LEVEL", LEVELS, "level"),
    Option(
        "msdump_granularity",
        "text",
        "operators",
        "what is captured of PyTorch modules: each operator, inputs and outputs of modules, or digests of these",
        "NAME",
        GRANULARITIES,
        "granularity",
    ),
    Option(
        "msdump_gaps",
        "text",
        "",
        "slots that may stay uncompared because they cannot be read: patterns of OPERATOR or OPERATOR:output.0",
        "PATTERNS",
        marker="gaps",
    ),
    Option(
        "msdump_tolerance",
        "text",
        "stored",
        "tolerance where no marker or hook states one",
        "NAME",
        ("stored", "exact", "default", "noise"),
        hint="; a test states numbers itself: @pytest.mark.msdump(tolerance=1e-3)",
    ),
    Option(
        "msdump_graft",
        "text",
        "auto",
        "run a failed test again with the golden's tensor in the suspect's place: auto (PyTorch, where nothing else "
        "proves a cause), always, off, or OPERATOR[:output.0]",
        "WHEN",
    ),
    Option("msdump_rdr", "flag", False, "also check what the Running Data Recorder writes (mode tensor)", marker="rdr"),
    Option(
        "msdump_health", "flag", False, "also inspect each run by itself: overflow, dead units, ...", marker="healthy"
    ),
    Option("msdump_mindspore", "text", "", "Python that has MindSpore, for backend mindspore", "PYTHON"),
    Option(
        "msdump_mindspore_jobs", "text", "", "tests that run at a time on backend mindspore; by default one a core", "N"
    ),
    Option("msdump_mindspore_timeout", "text", "600", "seconds a test may take on backend mindspore", "SECONDS"),
)
_WITH_PATH = frozenset({"--msdump-golden", "--msdump-report", "--msdump-json", "--msdump-mindspore"})
BY_NAME = {option.name: option for option in OPTIONS}
_INI_TYPES: dict[str, Literal["bool", "args", "string"]] = {
    "flag": "bool",
    "list": "args",
    "text": "string",
    "path": "string",
    "count": "string",
}


class Settings(NamedTuple):
    """The session's options, resolved; ``for_test`` resolves what a marker may override.

    Attributes:
        active: whether the gate is on.
        regen: whether goldens are written.
        learn: how many times to run each test to learn how far its results scatter; 0 to check them.
        repeat: whether tests are held against themselves, run again, instead of goldens.
        force: whether to learn from a single run too, and from a spread beyond ten times what rounding explains.
        keep: whether dump trees of failing tests stay.
        golden: directory of the stores, absolute.
        variants: the facts by which goldens may have variants, sorted.
        report: page to write about the session, absolute; None for none.
        as_json: file for the session's results, absolute; None for none.
        root: directory that test ids and goldens are relative to, see ``roots``; everything else is written to
            ``root/.msdump``.
        why_root: why it is the root, in words.
        prefix: prefix of paths in test ids: pytest's rootdir relative to ``root``; empty if both are the same.
        in_ci: whether a CI service runs this session.
        ci_sign: what says so, in words.
        usual: whether the goldens lie where every command looks for them by itself.
        given: options of pytest that decide what it collects and configures, as flag and value; a path is absolute.
    """

    active: bool
    regen: bool
    keep: bool
    golden: Path
    root: Path
    in_ci: bool
    report: Path | None = None
    as_json: Path | None = None
    learn: int = 0
    force: bool = False
    repeat: bool = False
    why_root: str = ""
    prefix: str = ""
    usual: bool = True
    given: tuple[tuple[str, str], ...] = ()
    ci_sign: str = ""
    variants: tuple[str, ...] = ()


SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()


def add_options(parser: pytest.Parser) -> None:
    """Registers each row as flag and ini key."""
    group = parser.getgroup(GROUP, "golden networks (pytest-msdump)")
    for option in OPTIONS:
        ini_default = list(option.default) if option.kind == "list" else option.default
        parser.addini(option.name, f"{option.help} (ini twin of {option.flag})", _INI_TYPES[option.kind], ini_default)
        keywords: dict[str, Any] = {"dest": option.name, "default": None, "help": option.help}
        if option.kind == "flag":
            keywords["action"] = "store_true"
        else:
            keywords["metavar"] = option.metavar
            if option.default != "":
                keywords["help"] += f" (default: {_shown(option.default)})"
        if option.kind == "list":
            keywords["action"] = "append"
        if option.choices and not option.hint:
            keywords["choices"] = option.choices
        if option.choices:
            keywords["help"] += f"; {' or '.join(option.choices)}"
        group.addoption(option.flag, **keywords)


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def split_names(value: Any, where: str) -> tuple[str, ...]:
    """``["cpu,gpu", "torch"]`` as ``("cpu", "gpu", "torch")``, each name once.

    Raises:
        pytest.UsageError: not a string or sequence of strings, or no name in it; ``where`` names the place.
    """
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) for part in parts):
        raise pytest.UsageError(f"{where}: a name or a sequence of names is accepted, got {value!r}")
    names = dict.fromkeys(name.strip() for part in parts for name in part.split(",") if name.strip())
    if not names:
        raise pytest.UsageError(f"{where}: at least one name is needed, got {value!r}")
    return tuple(names)


def given_on_command_line(config: pytest.Config, name: str) -> bool:
    """True where the flag of option ``name`` was given."""
    return config.getoption(name) is not None


def resolve(config: pytest.Config, name: str, marker: Mapping[str, Any] | None = None) -> Any:
    """The value of option ``name``, for a test with these marker arguments or for the session.

    Lists come as tuples of names. Raises ``pytest.UsageError`` for a value outside the option's choices.
    """
    option = BY_NAME[name]
    value, where = config.getoption(name), option.flag
    if value is None and option.marker is not None and marker and marker.get(option.marker) is not None:
        value, where = marker[option.marker], f"marker msdump({option.marker}=...)"
    if value is None:
        where = f"ini option {name}"
        try:
            value = config.getini(name)
        except (ValueError, pytest.UsageError) as error:
            raise pytest.UsageError(f"{where}: {error}; true or false is accepted") from None
    if option.kind == "list":
        return split_names(value, where) if value or option.default else ()
    if option.kind == "flag" and not isinstance(value, bool):
        raise pytest.UsageError(f"{where}: True or False is accepted, got {value!r}")
    if option.kind == "count":
        return _count(value, where)
    if name == "msdump_tolerance" and value not in option.choices:
        _known_rule(value, where, option)
    elif option.choices and value not in option.choices:
        raise pytest.UsageError(f"{where}: {' or '.join(option.choices)} is accepted, got {value!r}{option.hint}")
    return value


def _known_rule(value: Any, where: str, option: Option) -> None:
    """Refuses a tolerance by name unless another package adds a rule of that name, and it can be read."""
    try:
        from harness.compare import TOLERANCE_RULES, Tolerances

        TOLERANCE_RULES.get(value)
        Tolerances.parse(value)
    except Exception as error:  # another package's code
        ours = str(getattr(type(error), "__module__", "")).startswith("harness.")
        told = str(error) if ours else f"rule {value!r} fails: {type(error).__name__}: {error}"
        accepted = f"{' or '.join(option.choices)} is accepted, or a rule that another package adds"
        raise pytest.UsageError(f"{where}: {told} ({accepted}{option.hint})") from None


def _count(value: Any, where: str) -> int:
    if not str(value).isdecimal():
        raise pytest.UsageError(f"{where}: a number of at least 0 is accepted, got {value!r}")
    return int(value)


def _sign_of_ci(active: bool, root: Path) -> str:
    """What says that a CI service runs this session; asked for only where it matters, as it imports ``harness``."""
    if not active:
        return ""
    try:
        from harness.ci import sign
    except (
        Exception
    ):  # another package is called harness, and may raise anything: the first gate test says so, and nothing is written
        return ""

    return sign(folder=root)


def settings(config: pytest.Config) -> Settings:
    """Resolves the session's options.

    A golden directory from the command line is relative to where pytest was started, one from an ini file to
    rootdir.

    Raises:
        pytest.UsageError: pytest took an option's path for a path of tests; the golden directory is a file; or
            ``--msdump-regen`` and ``--msdump-learn`` were given together.
    """
    _refuse_moved_root(config)
    regen, learn = bool(resolve(config, "msdump_regen")), int(resolve(config, "msdump_learn"))
    repeat = bool(resolve(config, "msdump_repeat")) and not os.environ.get(REPEATED)
    active = bool(resolve(config, "msdump")) or regen or learn > 0 or repeat
    root, why = config.rootpath, ""
    if active:
        from pytest_msdump.roots import root_of

        root, why = root_of(config, str(config.getini("msdump_golden")))
    base = config.invocation_params.dir if given_on_command_line(config, "msdump_golden") else root
    given = resolve(config, "msdump_golden")
    golden = Path(os.path.abspath(base / given))
    ci_sign = _sign_of_ci(active, root)
    for name in ("msdump_level", "msdump_tolerance", "msdump_granularity"):
        resolve(config, name)
    if not given:
        raise pytest.UsageError("--msdump-golden: a directory is accepted, got an empty name; '.' is the root itself")
    if golden.exists() and not golden.is_dir():
        raise pytest.UsageError(f"--msdump-golden: a directory is accepted; {golden} is not one")
    _refuse_together(config, regen=regen, learn=learn > 0, repeat=repeat)
    return Settings(
        active=active,
        regen=regen,
        keep=bool(resolve(config, "msdump_keep")),
        golden=golden,
        report=_file(config, "msdump_report", "an HTML"),
        as_json=_file(config, "msdump_json", "a JSON"),
        root=root,
        in_ci=bool(ci_sign),
        ci_sign=ci_sign,
        learn=learn,
        force=bool(resolve(config, "msdump_force")),
        repeat=repeat,
        why_root=why,
        prefix=config.rootpath.relative_to(root).as_posix() if config.rootpath != root else "",
        usual=golden == root / "golden" and str(config.getini("msdump_golden")) == "golden",
        given=tuple(_given(config)),
        variants=_declared(config) if active else (),
    )


def _declared(config: pytest.Config) -> tuple[str, ...]:
    """The facts by which goldens may have variants; ``pytest.UsageError`` for any other name."""
    named: tuple[str, ...] = resolve(config, "msdump_variants")
    if not named:
        return ()
    from harness.errors import SettingError
    from harness.gate.variants import declared

    try:
        return declared(named)
    except SettingError as error:
        raise pytest.UsageError(f"--msdump-variants: {error}") from None


def _refuse_together(config: pytest.Config, *, regen: bool, learn: bool, repeat: bool) -> None:
    if regen and learn:
        raise pytest.UsageError("--msdump-regen and --msdump-learn exclude one another: write the goldens, then learn")
    if repeat and (regen or learn or config.getoption("numprocesses", default=None)):
        raise pytest.UsageError(
            "--msdump-repeat compares runs with one another: leave out --msdump-regen, --msdump-learn and -n"
        )


def _given(config: pytest.Config) -> Iterator[tuple[str, str]]:
    """The options of pytest, given on the command line, that decide what it collects and configures."""
    start, args = config.invocation_params.dir, list(map(str, config.invocation_params.args))
    for flag, name in (("--rootdir", "rootdir"), ("--config-file", "inifilename")):
        if config.getoption(name, default=None):
            yield flag, os.path.abspath(start / config.getoption(name))
    yield from (("-o", each) for each in config.getoption("override_ini", default=None) or ())
    plugins = [args[at + 1] if each == "-p" else each[2:] for at, each in enumerate(args) if each[:2] == "-p"]
    yield from (("-p", each) for each in plugins if not each.startswith(("no:", "pytest_msdump.")))


def _refuse_moved_root(config: pytest.Config) -> None:
    """Raises ``pytest.UsageError`` if an option's path, given after a blank, may have changed pytest's rootdir.

    pytest determines rootdir before it knows the options of installed plugins. It takes a path after such an option for
    a path of tests, so that goldens would be read and written elsewhere.
    """
    if config.getoption("rootdir") or config.getoption("inifilename"):
        return
    args = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *map(str, config.invocation_params.args)]
    start = config.invocation_params.dir
    for flag, value in itertools.pairwise(args):
        path = Path(os.path.abspath(start / value))
        outside = not path.is_relative_to(start) and path.is_relative_to(config.rootpath)
        if flag in _WITH_PATH and outside and os.path.exists(path):
            raise pytest.UsageError(
                f"{flag} {value}: pytest reads a path after a blank as a path of tests when it looks for its root "
                f"directory (now {config.rootpath}); write {flag}={value}"
            )


def _file(config: pytest.Config, name: str, kind: str) -> Path | None:
    """The file an option names: relative to where pytest was started, from an ini file to rootdir."""
    given = resolve(config, name)
    base = config.invocation_params.dir if given_on_command_line(config, name) else config.rootpath
    if given and (base / given).is_dir():
        flag = BY_NAME[name].flag
        raise pytest.UsageError(f"{flag}: {given} is a directory; the name of {kind} file is accepted")
    return Path(os.path.abspath(base / given)) if given else None
