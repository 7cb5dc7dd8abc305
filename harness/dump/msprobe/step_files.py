"""The contents of one step's ``dump.json``, ``stack.json`` and ``construct.json``."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.dump.msprobe.names import cells, entry
from harness.recording import SourceLine

DUMP, STACK, CONSTRUCT = "dump.json", "stack.json", "construct.json"
TENSORS = "dump_tensor_data"
OPERATOR = "operator"
"""Field of an entry that msprobe ignores: the operator with its own name."""
# msprobe treats a text that could be a spreadsheet formula as an attack.
FORMULA = re.compile(r";(?=[＋－＝％＠+\-=%@])")


class StepFiles:
    """The entries of one step, in the order they were executed.

    Args:
        header: the fields before ``data`` in ``dump.json``.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._header = dict(header)
        self._data: dict[str, dict[str, Any]] = {}
        self._stacks: dict[tuple[str, ...], list[str]] = {}
        self._parents: dict[str, str | None] = {}
        self._executions: Counter[str] = Counter()

    def resume(self, texts: Mapping[str, str]) -> None:
        """Restores the earlier content of this step's files, by name."""
        self._data = json.loads(texts[DUMP])["data"]
        self._executions.update(value[OPERATOR]["name"] for value in self._data.values())
        if STACK in texts:
            self._parents = json.loads(texts[CONSTRUCT])
            self._stacks = {tuple(lines): names for names, lines in json.loads(texts[STACK]).values()}

    def begin(self, stem: str, name: str) -> str:
        """The key of the next execution of operator ``name``."""
        key = entry(stem, name, self._executions[name])
        self._executions[name] += 1
        return key

    def add(self, key: str, content: dict[str, Any], name: str, source: Iterable[SourceLine]) -> None:
        """Adds one execution.

        Args:
            key: from ``begin``.
            content: its value in ``dump.json``.
            name: full name of the operator.
            source: its stack, outermost call first.
        """
        self._data[key] = content
        self._stacks.setdefault(stack_lines(source), []).append(key)
        inner = key
        for cell in cells(name):
            self._parents.setdefault(inner, cell)
            inner = cell
        self._parents.setdefault(inner, None)

    def texts(self, *, extra: bool) -> list[tuple[str, str]]:
        """Names and texts of the files; ``dump.json`` is the last, so that its presence proves that of the others.

        Args:
            extra: also ``stack.json`` and ``construct.json``.
        """
        dump = [(DUMP, json.dumps({**self._header, "data": self._data}, indent=1))]
        if not extra:
            return dump
        stacks = {str(at): [names, list(lines)] for at, (lines, names) in enumerate(self._stacks.items())}
        return [(STACK, json.dumps(stacks, indent=1)), (CONSTRUCT, json.dumps(self._parents, indent=1)), *dump]


def stack_lines(source: Iterable[SourceLine]) -> tuple[str, ...]:
    """The lines of a stack in ``stack.json``, innermost call first."""
    lines: Sequence[SourceLine] = list(source)
    return tuple(
        FORMULA.sub("; ", f"File {line.path}, line {line.line}, \n {line.text.strip()}") for line in reversed(lines)
    )
