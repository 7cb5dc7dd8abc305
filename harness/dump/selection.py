"""The ``kernels`` list: the operators and parameters that ``dump_mode`` 1 selects.

Measured on 2.10.0: an entry of any JSON type is serialised, then all double quotes and blanks are removed from the
text; ``name-regex(...)`` matches whole names, a text without ``/`` and ``-op`` is a type (contained in the operator's
type, any case), anything else is a full name. Parameters are candidates under their own names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from logging import Logger
from typing import Any, Literal

from harness.dump.ecma import RegexError
from harness.dump.ecma_match import Matcher
from harness.dump.json_text import dumps
from harness.errors import DumpConfigError

_REGEX_OPENING = "name-regex("

RuleKind = Literal["regex", "name", "type"]
KINDS: tuple[RuleKind, ...] = ("regex", "name", "type")
"""All kinds, in the order in which rules are tried. Releases up to 1.7 know names only, 2.0 to 2.2 no patterns."""


@dataclass(frozen=True, slots=True)
class KernelRule:
    """One entry of the list.

    Attributes:
        text: the entry's effective text (quotes and blanks removed).
        kind: ``regex``, ``name`` (full name with scope) or ``type``.
        matcher: the compiled pattern of a ``regex`` rule.
    """

    text: str
    kind: RuleKind
    matcher: Matcher | None = None

    def matches(self, name: str) -> bool:
        """Whether it selects the operator or parameter with the full name ``name``
        (``Default/fc1-Dense/MatMul-op0``)."""
        if self.matcher is not None:
            return self.matcher.fullmatch(name)
        if self.kind == "name":
            return self.text == name
        return self.text.lower() in type_part(name).lower()


def type_part(name: str) -> str:
    """The part of a name that type rules match: after the last ``/`` and before the last ``-`` (``MatMul``)."""
    last = name.rpartition("/")[2]
    before, dash, _ = last.rpartition("-")
    return before if dash else last


def entry_text(entry: Any, *, blanks: bool = False) -> str:
    """An entry's effective text: serialised, without double quotes, and without blanks unless ``blanks`` keeps them."""
    text = dumps(entry).replace('"', "")
    return text if blanks else text.replace(" ", "")


def read_rule(text: str, kinds: Sequence[RuleKind] = KINDS) -> KernelRule:
    """Makes the rule of an entry's text; ``ecma.RegexError`` for a refused pattern.

    Args:
        text: see ``entry_text``.
        kinds: kinds that the release knows; an entry of another kind is a type, or else a name.
    """
    if "regex" in kinds and text.startswith(_REGEX_OPENING) and text.rfind(")") == len(text) - 1:
        return KernelRule(text, "regex", Matcher(text[len(_REGEX_OPENING) : -1]))
    return KernelRule(text, "type" if "type" in kinds and "/" not in text and "-op" not in text else "name")


class Selection:
    """Decides which names are dumped, and notes unused rules.

    Args:
        rules: rules of the configuration; without any rule, every name is selected.
    """

    def __init__(self, rules: Iterable[KernelRule]) -> None:
        given = list(rules)
        self._rules = [rule for kind in KINDS for rule in given if rule.kind == kind]
        self._used: set[KernelRule] = set()
        self._reported = False

    def rule_for(self, name: str) -> KernelRule | None:
        """The first rule that selects ``name``: patterns first, then full names, then types.

        Raises:
            DumpConfigError: kind ``regex``; a pattern is too costly to match.
        """
        try:
            return next((rule for rule in self._rules if rule.matches(name)), None)
        except RegexError as error:
            raise DumpConfigError("regex", f"dump configuration: kernels: {error}") from None

    def takes(self, name: str) -> bool:
        """Whether ``name`` is selected."""
        return not self._rules or self.rule_for(name) is not None

    def dumped(self, name: str) -> None:
        """Notes that something of ``name`` was dumped, so that its rule counts as used."""
        rule = self.rule_for(name)
        if rule is not None:
            self._used.add(rule)

    def unused(self) -> list[str]:
        """Texts of the rules under which nothing was dumped."""
        return [rule.text for rule in self._rules if rule not in self._used]

    def report_unused(self, logger: Logger, entry: str = "the kernels entry %r") -> None:
        """Warns of each rule under which nothing was dumped, once; ``entry`` is its name in the configuration."""
        if not self._reported:
            self._reported = True
            for text in self.unused():
                logger.warning(f"dump: {entry} matched nothing that was dumped", text)
