"""``mindspore.log``, in processes of their own: the environment is read at import."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.subprocesses import ROOT

FORM = re.compile(
    r"^\[(DEBUG|INFO|WARNING|ERROR|CRITICAL)\] ME\(\d+:\d+,[^)]*\):"
    r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[([^\]]+):(\d+)\] (.*)$",
    re.DOTALL,
)
EVERY_LEVEL = """
from harness import log as logger
for name in ("debug", "info", "warning", "error", "critical"):
    getattr(logger, name)("%s %d", name, 7)
"""


def python(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs ``code`` with these variables, and none of the log's but them."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GLOG_", "logger_", "MS_", "RANK_ID", "OMPI_"))}
    clean["USER"] = "me"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, env={**clean, **environ}, check=False
    )


@pytest.mark.parametrize(("level", "shown"), [("", 3), ("0", 5), ("1", 4), ("2", 3), ("3", 2), ("4", 1)])
def test_levels_and_form(level: str, shown: int) -> None:
    done = python(EVERY_LEVEL, GLOG_v=level)
    found = [FORM.match(line) for line in done.stderr.splitlines()]
    names = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"][5 - shown :]
    assert [match and match.group(1, 2, 3, 4) for match in found] == [
        (name, "<string>", "4", f"{name.lower()} 7") for name in names
    ]


def test_a_message_is_formatted_only_with_arguments_and_never_raises() -> None:
    done = python(
        "from harness import log\nlog.error('100%')\nlog.error('%d', 'x')\nlog.error('two\\nlines')\nprint(1)"
    )
    assert done.stdout == "1\n"
    assert " 100%\n" in done.stderr
    assert "Logging error" in done.stderr
    assert done.stderr.endswith("two\nlines\n")


def test_a_path_is_shown_from_mindspore_on(tmp_path: Path) -> None:
    (tmp_path / "my_mindspore_net").mkdir()
    script = tmp_path / "my_mindspore_net" / "net.py"
    script.write_text("from harness import log\nlog.error('x')\n")
    done = python(f"import runpy; runpy.run_path({str(script)!r})")
    match = FORM.match(done.stderr)
    assert match is not None
    assert match[2] == "mindspore_net/net.py"


def test_the_root_logger_sees_nothing() -> None:
    done = python(
        "import logging\nlogging.basicConfig(format='root %(message)s')\nfrom harness import log\nlog.error('x')"
    )
    assert len(done.stderr.splitlines()) == 1
    assert FORM.match(done.stderr)


@pytest.mark.parametrize(("name", "value"), [("GLOG_v", "5"), ("GLOG_logtostderr", "x"), ("logger_maxBytes", "x")])
def test_what_is_refused(name: str, value: str) -> None:
    done = python("from harness import log\ntry: log.get_level()\nexcept ValueError as e: print(e)", **{name: value})
    assert name in done.stdout


def test_the_environment_counts_as_it_was_at_import() -> None:
    code = "import os, harness\nos.environ['GLOG_v'] = '0'\nprint(harness.get_level(), harness.get_log_config())"
    assert python(code, GLOG_v="3").stdout == "3 {'GLOG_v': '3', 'GLOG_logtostderr': '1'}\n"


def files_of(folder: Path) -> dict[str, Path]:
    return {re.sub(r"\.\d{8}-\d{6}|(?<=log)\.\d+|\.\d{2,}$", "", path.name): path for path in folder.iterdir()}


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


# 132 bytes a line, whatever the process's number and the line's
HUNDRED_LINES = """
from harness.log import python as log
import logging
class Fixed(logging.Formatter):
    def format(self, record): return record.getMessage()
log._logger().handlers[0].setFormatter(Fixed())
for i in range(100): log.info("%s", f"{i:03d}".ljust(131, "."))
"""


@pytest.mark.parametrize(("count", "first"), [("10", 28), ("2", 84), ("0", 0)])
def test_rotation(tmp_path: Path, count: str, first: int) -> None:
    done = python(
        HUNDRED_LINES, GLOG_v="1", GLOG_logtostderr="0", GLOG_log_dir=str(tmp_path), logger_maxBytes="1000",
        logger_backupCount=count,
    )  # fmt: skip
    assert done.stderr == ""
    folder = tmp_path / "rank_0" / "logs"
    plain = next(path for path in folder.iterdir() if re.fullmatch(r"mindspore\.log\.\d+", path.name))
    rotated = [folder / f"{plain.name}.{n}" for n in range(int(count), 0, -1)]
    assert sorted(folder.iterdir()) == sorted([plain, *rotated])
    lines = [line[:3] for path in (*rotated, plain) for line in path.read_text().splitlines()]
    assert lines == [f"{i:03d}" for i in range(first, 100)]
    assert mode(plain) == "0o600"
    assert {mode(path) for path in rotated} <= {"0o400"}
    assert mode(folder) == "0o700"


def test_files_and_what_still_reaches_the_standard_error(tmp_path: Path) -> None:
    code = EVERY_LEVEL + "print(__import__('json').dumps(logger.get_log_config()))\n"
    given = {"GLOG_v": "1", "GLOG_logtostderr": "0", "GLOG_log_dir": str(tmp_path / "new" / "er")}
    done = python(code, GLOG_stderrthreshold="3", RANK_ID="5", **given)
    folder = tmp_path / "new" / "er" / "rank_5" / "logs"
    assert json.loads(done.stdout) == {
        "GLOG_v": "1", "GLOG_logtostderr": "0", "GLOG_log_dir": str(folder), "logger_maxBytes": 52428800,
        "logger_backupCount": 30, "GLOG_stderrthreshold": "3",
    }  # fmt: skip
    (written,) = folder.iterdir()
    assert [line[:6] for line in written.read_text().splitlines()] == ["[INFO]", "[WARNI", "[ERROR", "[CRITI"]
    assert [line[:6] for line in done.stderr.splitlines()] == ["[ERROR", "[CRITI"]
    assert {mode(path) for path in (folder, folder.parent, tmp_path / "new" / "er", tmp_path / "new")} == {"0o700"}


def test_files_of_the_harness_itself(tmp_path: Path) -> None:
    code = "from harness import log\nfor n in range(5): log.get('dump.x').log(10 * n + 10, f'n{n}')"
    done = python(code, GLOG_v="0", GLOG_logtostderr="0", GLOG_log_dir=str(tmp_path), GLOG_stderrthreshold="4")
    found = files_of(tmp_path / "rank_0" / "logs")
    host = os.uname().nodename
    severities = ("INFO", "WARNING", "ERROR")
    own = [f"mindspore.{host}.me.log.{each}" for each in severities]
    assert set(found) == {*own, *(f"mindspore.{each}" for each in severities)}
    texts = [found[name].read_text().splitlines() for name in own]
    assert [[line[-2:] for line in text[4:]] for text in texts] == [
        ["n0", "n1", "n2", "n3", "n4"], ["n2", "n3", "n4"], ["n3", "n4"],
    ]  # fmt: skip
    for text, name, each in zip(texts, own, severities, strict=True):
        assert text[0].startswith("Log file created at: ")
        assert text[1:3] == [f"Running on machine: {host}", "Running duration (h:mm:ss): 0:00:00"]
        assert os.readlink(found[f"mindspore.{each}"]) == found[name].name
        assert mode(found[name]) == oct(0o640 & ~_umask())
    assert [line[:6] for line in done.stderr.splitlines()] == ["[WARNI", "[ERROR", "[CRITI"]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code = "from harness import log\ntry: log.error('x')\nexcept TypeError as e: print(e)"
    done = python(code, GLOG_logtostderr="0", GLOG_log_dir=str(tmp_path / "file" / "x"))
    assert "GLOG_log_dir" in done.stdout
    assert str(tmp_path / "file" / "x") in done.stdout
