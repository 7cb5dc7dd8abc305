"""``MINDSPORE_DUMP_CONFIG``: read at the first compilation, frozen once read, read again after an error."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.dump.environment import PROCESS, VARIABLE, DumpEnvironment, install
from harness.errors import DumpConfigError
from tests.dump.build import config, npy_files, one_op


@pytest.fixture
def dump() -> DumpEnvironment:
    return DumpEnvironment()


def write_config(file: Path, tree: Path) -> dict[str, str]:
    file.write_bytes(config(tree).raw)
    return {VARIABLE: str(file)}


@pytest.mark.parametrize("environ", [{}, {VARIABLE: ""}])
def test_unset_is_no_dump_and_is_frozen(dump: DumpEnvironment, tmp_path: Path, environ: dict[str, str]) -> None:
    assert dump.install(environ) is None
    assert dump.install(write_config(tmp_path / "c.json", tmp_path / "t")) is None
    assert not (tmp_path / "t").exists()


def test_later_edits_change_nothing(dump: DumpEnvironment, tmp_path: Path) -> None:
    environ = write_config(tmp_path / "c.json", tmp_path / "first")
    observer = dump.install(environ)
    write_config(tmp_path / "c.json", tmp_path / "second")
    assert dump.install(environ) is observer
    assert dump.install({}) is observer
    dump.forget()
    assert (tmp_path / "first" / "rank_0" / ".dump_metadata" / "config.json").exists()
    assert not (tmp_path / "second").exists()


def test_an_error_is_raised_at_every_compilation_until_the_file_is_mended(
    dump: DumpEnvironment, tmp_path: Path
) -> None:
    file = tmp_path / "c.json"
    file.write_text("{")
    for _ in range(2):
        with pytest.raises(DumpConfigError):
            dump.install({VARIABLE: str(file)})
    assert sorted(tmp_path.iterdir()) == [file]
    assert dump.install(write_config(file, tmp_path / "t")) is not None
    dump.forget()


def test_the_path_comes_from_the_same_environment(dump: DumpEnvironment, tmp_path: Path) -> None:
    text = json.loads(config(tmp_path).raw)
    del text["common_dump_settings"]["path"]
    (tmp_path / "c.json").write_text(json.dumps(text))
    observer = dump.install({VARIABLE: str(tmp_path / "c.json"), "MS_DIAGNOSTIC_DATA_PATH": str(tmp_path / "diag")})
    assert observer is not None
    assert observer.config.path == str(tmp_path / "diag" / "debug_dump")
    dump.forget()


def test_a_user_s_counter_set_before_and_after(dump: DumpEnvironment, tmp_path: Path) -> None:
    dump.set_initial_iteration(5)
    dump.step(2)
    observer = dump.install(write_config(tmp_path / "c.json", tmp_path / "t"))
    assert observer is not None
    net = one_op()
    labels = []
    for _ in range(2):
        labels.append(observer.counter.label)
        net.run(observer)
        dump.step()
    dump.set_initial_iteration(100)
    labels.append(observer.counter.label)
    dump.forget()
    assert labels == [7, 8, 100]
    with pytest.raises(ValueError, match="not negative"):
        dump.set_initial_iteration(-1)


def test_a_step_without_a_user_s_counter_is_ignored_with_a_warning(
    dump: DumpEnvironment, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="harness"):
        dump.step(3)
        observer = dump.install(write_config(tmp_path / "c.json", tmp_path / "t"))
        dump.step(3)
    assert observer is not None
    assert observer.counter.label == 0
    dump.forget()
    assert caplog.text.count("a step of 3 is ignored") == 2


def test_install_is_that_of_the_process(tmp_path: Path) -> None:
    PROCESS.forget()
    try:
        observer = install(write_config(tmp_path / "c.json", tmp_path / "t"), ms_version="9.9")
        assert observer is not None
        assert install({}) is observer
        about = json.loads((tmp_path / "t" / "rank_0" / ".dump_metadata" / "config.json").read_text())
        assert about == {"device_target": "CPU", "ms_version": "9.9"}
    finally:
        PROCESS.forget()


SCRIPT = """
import os, sys
from pathlib import Path
from harness.dump import install
from tests.dump.build import one_op
observer = install()
net = one_op()
observer.graph_compiled(net.graph)
net.run(observer)
"""


def test_a_process_reports_unused_entries_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(config(tmp_path / "t", dump_mode=1, kernels=["Add", "Nowhere"]).raw)
    environ = os.environ | {VARIABLE: str(tmp_path / "c.json")}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("'Nowhere' matched nothing") == 1
    assert ran.stderr.startswith("[WARNING] ME(")
    assert "'Add'" not in ran.stderr
    assert npy_files(tmp_path)


def test_the_log_level_is_mindspore_s(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(config(tmp_path / "t", dump_mode=1, kernels=["Nowhere"]).raw)
    environ = os.environ | {VARIABLE: str(tmp_path / "c.json"), "GLOG_v": "3"}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], env=environ, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
