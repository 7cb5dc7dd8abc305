"""Suites that prove an extension, and faults injected on purpose, for tests."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.testing.injection import KINDS, Injection, inject

if TYPE_CHECKING:
    from harness.testing.suites import BackendSuite, EngineSuite, FormatSuite, ReplayerSuite, Suite
    from harness.testing.suites.replayer import Known

__all__ = [
    "KINDS", "BackendSuite", "EngineSuite", "FormatSuite", "Injection", "Known", "ReplayerSuite", "Suite", "inject",
]  # fmt: skip

# Most who inject a fault test no extension.
_SUITES = ("BackendSuite", "EngineSuite", "FormatSuite", "ReplayerSuite", "Suite")
__getattr__, __dir__ = _lazy(
    __name__, dict.fromkeys(_SUITES, "harness.testing.suites") | {"Known": "harness.testing.suites.replayer"}
)
