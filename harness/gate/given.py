"""The values that a test, a script or a service hands over by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.capture import COMPARED, Capture
from harness.capture.given import Kept, leaves, record_of
from harness.capture.lookup import Lookup, nowhere
from harness.errors import HarnessError, SettingError, SettingTypeError
from harness.records import GIVEN_SCOPE, Record

#: How a capture of nothing but such values says where they are from; no backend computed them.
RULES = {"values": "handed over by the test"}


#: The name of a value that is handed over alone.
ALONE = "value"


def text_name(name: str) -> str:
    """The artefact that holds a text given under ``name``."""
    return f"{COMPARED}{GIVEN_SCOPE}/{name}.txt"


def _unknown(name: str) -> bool:
    """Whether a golden has a slot of this name, where there is none."""
    return False


class Given:
    """Values given by name, each name once.

    Attributes:
        records: the arrays, in the order in which they were given.
        texts: the texts, by the name of their artefact.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.texts: dict[str, bytes] = {}
        self._names: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._names)

    def take(
        self,
        name: str,
        value: Any,
        source: str | None = None,
        *,
        kept: Kept = _unknown,
        stored: Lookup = nowhere,
    ) -> None:
        """Keeps a value, to be compared under ``name``; later changes of it have no effect.

        Args:
            name: of the value; its parts are named ``name.key`` and ``name[0]``.
            value: see ``harness.capture.given.leaves``.
            source: the line that gave it.
            kept: whether the golden has a slot of its own for a part; asked for lists of numbers only.
            stored: finds values that the golden holds already.

        Raises:
            HarnessError: see ``leaves``; or the value is empty, or its name is already used.
        """
        if not isinstance(name, str) or not name or not name.isprintable():
            given = repr(name) if isinstance(name, str) else f"{type(name).__name__}; msdump.check(name, value)"
            raise SettingError(f"msdump.check: the name of a value is a printable text, got {given}")
        found = list(leaves(name, value, kept))
        if not found:
            raise SettingError(f"msdump.check: {name!r} holds nothing to compare: {value!r:.80}")
        names = [leaf.name for leaf in found]
        for at, each in enumerate(names):
            if each in names[:at]:
                raise SettingError(f"msdump.check: two parts of {name!r} are called {each!r}; rename one")
            if each in self._names:
                raise SettingError(f"msdump.check: {each!r} was handed over before in this test; give it another name")
        self._names.update(names)
        for leaf in found:
            if isinstance(leaf.content, str):
                self.texts[text_name(leaf.name)] = leaf.content.encode(errors="surrogateescape")
            else:
                self.records.append(record_of(leaf, name, source, stored))

    def capture(self, network: str, backend: str, mode: str) -> Capture:
        """A capture of nothing but these values."""
        return Capture(network, backend, False, self.records, mode, dict(RULES), dict(self.texts))


def given_of(values: Any, kept: Kept = _unknown, call: str = "harness.check") -> Given:
    """Values that are handed over at once: a mapping of names, or one value alone.

    Args:
        values: see above.
        kept: see ``Given.take``.
        call: who was called, for messages.

    Raises:
        HarnessError: see ``Given.take``; or a name is no text, or there is nothing.
    """
    named = values if isinstance(values, Mapping) else {ALONE: values}
    odd = [name for name in named if not isinstance(name, str)]
    if odd:
        raise SettingTypeError(f"{call}: names are texts, got {odd[0]!r} ({type(odd[0]).__name__})")
    given = Given()
    for name, value in named.items():
        try:
            given.take(name, value, kept=kept)
        except HarnessError as error:
            text = str(error).replace("msdump.check", call, 1).replace(" in this test", "", 1)
            raise type(error)(text) from None
    if not given:
        raise SettingError(f"{call}: there is nothing to compare in {values!r:.80}")
    return given


def of_values(values: Any, network: str, backend: str, mode: str, call: str = "harness.check") -> Capture:
    """Values that are handed over at once, as a capture; ``call`` says who was called, for messages."""
    return given_of(values, call=call).capture(network, backend, mode)
