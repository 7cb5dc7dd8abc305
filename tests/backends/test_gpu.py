"""A setting decides whether backend gpu is emulated; the machine never decides silently."""

from __future__ import annotations

import pytest

from harness.backends import get, gpu
from harness.errors import SettingError
from harness.framework.engines import available

GONE = "there is no CUDA device here (no NVIDIA driver shows itself)"


@pytest.mark.parametrize("given", [None, "", "emulated"])
def test_unset_it_is_emulated_whatever_is_there(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cuda_missing", lambda: pytest.fail("nobody asked"))
    monkeypatch.delenv("MSDUMP_GPU", raising=False)
    if given is not None:
        monkeypatch.setenv("MSDUMP_GPU", given)
    assert get("gpu").emulated
    assert get("gpu").available() is None


@pytest.mark.parametrize(("choice", "missing", "emulated", "why"), [
    ("cuda", GONE, False, GONE), ("cuda", None, False, None), ("auto", GONE, True, None), ("auto", None, False, None),
])  # fmt: skip
def test_asked_for(
    choice: str, missing: str | None, emulated: bool, why: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MSDUMP_GPU", choice)
    monkeypatch.setattr(gpu, "cuda_missing", lambda: missing)
    assert get("gpu").emulated is emulated
    assert get("gpu").available() == why


def test_without_a_driver_nothing_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available, "torch_missing", lambda: None)
    monkeypatch.setattr(available, "DRIVER", ())
    assert available.cuda_missing() == GONE


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_GPU", "yes")
    with pytest.raises(SettingError, match="MSDUMP_GPU: emulated, cuda, auto are accepted, got 'yes'"):
        get("gpu").available()
