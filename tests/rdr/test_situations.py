"""A process in every situation that was measured: what it leaves, and how it ends."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from harness.rdr.listing import artefacts
from harness.rdr.observer import ACTIONS
from tests.rdr.process import PLAY, SIGNALS, Set, found, play, python
from tests.rdr.test_names import GRAMMAR

STAGES: Set = Counter(("PIPELINE", f"{at:02d}_{action}", "ir") for at, action in enumerate(ACTIONS))
MEMORY: Set = Counter([("RUNTIME_FRAMEWORK", "mem_address_list", "txt")])
NOTHING: Set = Counter()


def graph(number: int = 0) -> Set:
    names = (("graph_build", "ir"), ("graph_build", "pb"), ("graph_exec_order", "txt"))
    return Counter(("SESSION", f"{name}.{number}", extension) for name, extension in names)


COMPILED = STAGES + graph()
ALL = COMPILED + MEMORY
#: situation -> exit code, what mode 1 leaves, what mode 2 leaves (table 4.2 of MindSpore 2.7.0, measured)
TABLE: dict[str, tuple[int, Set, Set]] = {
    "normal": (0, NOTHING, ALL),
    "exit_code": (3, NOTHING, ALL),
    "user_exception": (1, NOTHING, ALL),
    "kernel_error": (1, ALL, ALL),
    "kernel_error_caught": (0, ALL, ALL),
    "compile_error": (1, NOTHING, Counter([("PIPELINE", "00_bootstrap", "ir")])),
    "os_exit": (4, NOTHING, COMPILED),
    "eager": (0, NOTHING, NOTHING),
    "eager_jit": (0, NOTHING, MEMORY),
    **{name: (-getattr(signal, name.upper()), NOTHING, COMPILED) for name in SIGNALS},
}


#: what another situation stands for: another signal of the same kind
ALIKE = ("sigterm", "sighup", "sigabrt", "sigsegv", "exit_code")
SITUATIONS = [pytest.param(name, marks=pytest.mark.long if name in ALIKE else ()) for name in TABLE]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_situation(situation: str, mode: int, tmp_path: Path) -> None:
    code, *expected = TABLE[situation]
    ended = play("plain", situation, tmp_path / "out", mode)
    assert ended.returncode == code, ended.stderr
    assert found(tmp_path / "out") == expected[mode - 1]
    assert all(GRAMMAR.match(path.name) for path in tmp_path.rglob("*") if path.is_file())
    if not expected[mode - 1]:
        assert not (tmp_path / "out").exists()
    if situation == "eager":
        assert ended.stderr.count("There is no recorder to export.") == (mode == 2)


@pytest.mark.long
def test_off_leaves_nothing_and_says_nothing(tmp_path: Path) -> None:
    for situation, code in (("normal", 0), ("kernel_error", 1)):
        ended = play("plain", situation, tmp_path / "out", 2, MS_RDR_ENABLE="", MS_RDR_MODE="", MS_RDR_PATH="")
        assert ended.returncode == code
        assert "rdr:" not in ended.stderr
        assert "[WARNING]" not in ended.stderr
    assert not list(tmp_path.iterdir())


def test_enable_alone_writes_nothing_in_a_normal_run(tmp_path: Path) -> None:
    ended = play("plain", "normal", tmp_path / "out", 2, MS_RDR_MODE="", MS_RDR_PATH="")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


def test_the_default_path_is_the_working_directory(tmp_path: Path) -> None:
    ended = play("plain", "kernel_error_caught", tmp_path / "out", 1, MS_RDR_PATH="", RANK_ID="3")
    assert ended.returncode == 0
    assert os.listdir(tmp_path) == ["rank_3"]
    assert len(artefacts(tmp_path)) == ALL.total()


@pytest.mark.long
def test_files_are_there_before_the_process_ends(tmp_path: Path) -> None:
    script = f"""
import os
from tests.rdr import play
from harness.rdr import artefacts
play.main("plain", "normal")
print(len(artefacts({str(tmp_path / "out")!r})), flush=True)
"""
    variables = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": str(tmp_path / "out")}
    ended = python(["-c", script], variables, tmp_path)
    assert int(ended.stdout) == COMPILED.total()
    assert found(tmp_path / "out") == ALL


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(0o500)
    assert play("plain", "normal", tmp_path / "out", 2).returncode == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "situation",
    [
        "normal",
        "kernel_error",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("exit_code", "kernel_error_caught")),
    ],
)
def test_a_file_in_the_way_changes_neither_result_nor_exit_code(situation: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    ended = play("plain", situation, tmp_path / "out", 2)
    assert ended.returncode == TABLE[situation][0]
    assert ended.stderr.count("Get real path failed. Info: module=SESSION, name=graph_exec_order.0, path=") >= 1
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.long
def test_two_dots_are_taken_and_refused_at_export(tmp_path: Path) -> None:
    variables = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": f"{tmp_path}/a/../out"}
    ended = python([str(PLAY), "plain", "normal"], variables, tmp_path)
    assert ended.returncode == 0
    recorders = ALL.total() - 1  # a graph's text and message are one
    assert ended.stderr.count("Do not support relative path") == ended.stderr.count("[ERROR]") == recorders
    assert not list(tmp_path.iterdir())


CHANGED = """
import os
from tests.rdr import play
import harness
{before}
play.main("plain", "normal")
{after}
play.main("plain", "kernel_error_caught")
"""


@pytest.mark.long
def test_the_configuration_is_read_at_the_first_compilation(tmp_path: Path) -> None:
    """Set after the import but before the first compilation it counts; changed after that it does not."""
    on = f'os.environ.update(MS_RDR_ENABLE="1", MS_RDR_PATH={str(tmp_path / "on")!r})'
    ended = python(["-c", CHANGED.format(before=on, after="")], {}, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert artefacts(tmp_path / "on")
    for variables in ({}, {"MS_RDR_ENABLE": "0"}):
        assert python(["-c", CHANGED.format(before="", after=on)], variables, tmp_path).returncode == 0
    other = f'os.environ["MS_RDR_PATH"] = {str(tmp_path / "other")!r}'
    variables = {"MS_RDR_ENABLE": "1", "MS_RDR_PATH": str(tmp_path / "first")}
    python(["-c", CHANGED.format(before="", after=other)], variables, tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["first", "on"]


@pytest.mark.long
def test_the_file_of_the_context(tmp_path: Path) -> None:
    """``env_config_path`` counts over the environment, and a later one not at all."""
    for name in ("file", "later"):
        text = f'{{"rdr": {{"enable": true, "mode": 2, "path": "{tmp_path / name}"}}}}'
        (tmp_path / f"{name}.json").write_text(text)
    before = f"harness.set_context(env_config_path={str(tmp_path / 'file.json')!r})"
    after = f"harness.set_context(env_config_path={str(tmp_path / 'later.json')!r})"
    variables = {"MS_RDR_ENABLE": "0", "MS_RDR_PATH": str(tmp_path / "environment")}
    ended = python(["-c", CHANGED.format(before=before, after=after)], variables, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert sorted(os.listdir(tmp_path)) == ["file", "file.json", "later.json"]
    assert found(tmp_path / "file")[("PIPELINE", "00_bootstrap", "ir")] == 2


@pytest.mark.long
def test_only_sys_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"sys": {"mem_reuse": false}}')
    before = f"harness.set_context(env_config_path={str(tmp_path / 'c.json')!r})"
    ended = python(["-c", CHANGED.format(before=before, after="")], {}, tmp_path)
    assert ended.returncode == 0
    assert ended.stderr.count("'rdr' not exists") == 1
    assert "Not enabling" not in ended.stderr
    assert os.listdir(tmp_path) == ["c.json"]


@pytest.mark.long
def test_a_forked_child_leaves_the_end_to_its_parent(tmp_path: Path) -> None:
    script = """
import os, sys
from tests.rdr import play
play.main("plain", "normal")
child = os.fork()
if not child:
    sys.exit(0)
os.waitpid(child, 0)
"""
    variables = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": str(tmp_path / "out")}
    ended = python(["-c", script], variables, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert found(tmp_path / "out") == ALL


# --- triggers of our own ----------------------------------------------------------------------------------------------

TRIGGERS = "exceptions,compile,signals"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("situation", ["user_exception", "compile_error", "sigint", "sigterm", "sigabrt"])
def test_triggers_export_once_and_change_nothing_else(situation: str, mode: int, tmp_path: Path) -> None:
    ended = play("plain", situation, tmp_path / "out", mode, MSDUMP_RDR_TRIGGERS=TRIGGERS)
    last = {"user_exception": "ValueError: of the user", "sigint": "KeyboardInterrupt"}
    assert ended.returncode == TABLE[situation][0]
    assert ended.stdout == ""
    assert "rdr:" not in ended.stderr
    if situation in last:
        assert ended.stderr.splitlines()[-1] == last[situation]
    assert found(tmp_path / "out") == (TABLE["compile_error"][2] if situation == "compile_error" else ALL)
    for artefact in artefacts(tmp_path / "out"):
        if artefact.name == "graph_exec_order.0":
            assert artefact.read().count(b"execution_order size") == 1


@pytest.mark.parametrize(("situation", "trigger"), [("sigterm", "exceptions"), ("user_exception", "signals,compile")])
def test_a_trigger_is_that_of_its_name_only(situation: str, trigger: str, tmp_path: Path) -> None:
    play("plain", situation, tmp_path / "out", 1, MSDUMP_RDR_TRIGGERS=trigger)
    assert not (tmp_path / "out").exists()


def test_signals_mindspore_does_not_care_for_are_left_alone(tmp_path: Path) -> None:
    ended = play("plain", "sighup", tmp_path / "out", 1, MSDUMP_RDR_TRIGGERS=TRIGGERS)
    assert ended.returncode == -signal.SIGHUP
    assert not (tmp_path / "out").exists()


def test_a_kernel_error_nobody_catches_is_exported_once(tmp_path: Path) -> None:
    play("plain", "kernel_error", tmp_path / "out", 1, MSDUMP_RDR_TRIGGERS=TRIGGERS)
    assert found(tmp_path / "out") == ALL
    (order,) = [a for a in artefacts(tmp_path / "out") if a.name == "graph_exec_order.0"]
    assert order.read().count(b"execution_order size") == 1


def test_an_unknown_trigger_is_named(tmp_path: Path) -> None:
    ended = play("plain", "normal", tmp_path / "out", 1, MSDUMP_RDR_TRIGGERS="exception,signals")
    assert ended.returncode == 0
    assert "'exception'; accepted: exceptions, compile, signals" in ended.stderr
