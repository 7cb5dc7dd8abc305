"""Files of the harness's own lines follow one another at their size limit."""

from __future__ import annotations

import getpass
import logging
import time
from pathlib import Path

import pytest

from harness.log.files import SeverityFiles
from harness.log.settings import LogSettings


def test_a_full_file_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(1_000_000_000, 1_000_000_100))
    monkeypatch.setattr(time, "strftime", lambda form, *given: f"{next(seconds)}" if "-" in form else "now")
    settings = LogSettings(folder=str(tmp_path / "logs"), base=str(tmp_path), max_log_size=400)
    handler = SeverityFiles(settings, logging.Formatter("%(message)s"))
    for number in range(40):
        handler.handle(logging.LogRecord("x", logging.INFO, "", 1, f"{number:02d}".ljust(49), None, None))
    files = sorted(path for path in (tmp_path / "logs").iterdir() if not path.is_symlink())
    assert len(files) > 2
    assert all(path.stat().st_size < 400 + 50 for path in files)
    lines = [line[:2] for path in files for line in path.read_text().splitlines()[4:]]
    assert lines == [f"{number:02d}" for number in range(40)]
    assert (tmp_path / "logs" / "mindspore.INFO").resolve() == files[-1]


def test_within_one_second_a_full_file_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda form, *given: "now")
    handler = SeverityFiles(LogSettings(folder=str(tmp_path), base=str(tmp_path), max_log_size=1), logging.Formatter())
    for _ in range(3):
        handler.handle(logging.LogRecord("x", logging.INFO, "", 1, "text", None, None))
    (written,) = (path for path in tmp_path.iterdir() if not path.is_symlink())
    assert written.read_text().splitlines()[4:] == ["text"] * 3


@pytest.mark.parametrize(("user", "named"), [("bob", "bob"), ("a/b c", "a_b_c"), ("", "invalid-user"), (None, None)])
def test_the_user_in_a_files_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str | None, named: str | None
) -> None:
    """Unset, it is the account's name; only an empty one is nobody's."""
    for variable in ("LOGNAME", "LNAME", "USERNAME", "USER"):
        monkeypatch.delenv(variable, raising=False)
    account = getpass.getuser()
    if user is not None:
        monkeypatch.setenv("USER", user)
    handler = SeverityFiles(LogSettings(folder=str(tmp_path), base=str(tmp_path)), logging.Formatter())
    handler.handle(logging.LogRecord("x", logging.INFO, "", 1, "text", None, None))
    (written,) = (path for path in tmp_path.iterdir() if not path.is_symlink())
    assert f".{named or account}.log.INFO." in written.name
