"""Texts are made once, when they are first read."""

from __future__ import annotations

import pytest

from harness.capture.texts import Texts


def test_texts_are_made_once_and_only_when_read() -> None:
    made = []

    def text() -> str:
        made.append(1)
        return "é"

    texts = Texts({"a": text, "b": "plain"})
    assert (list(texts), len(texts), "a" in texts, made) == (["a", "b"], 2, True, [1])
    texts = Texts({"a": text, "b": "plain"})
    made.clear()
    assert list(texts) == ["a", "b"]
    assert not made
    assert texts == {"a": "é".encode(), "b": b"plain"}
    assert texts["a"] is texts["a"]
    assert made == [1]
    with pytest.raises(KeyError):
        texts["c"]
