"""``msdump backends``: what can run here, and what is real."""

from __future__ import annotations

from harness import backends
from harness.cli.text import table


def list_backends() -> int:
    """Prints a row per backend. Returns 0."""
    rows = []
    for name in backends.BACKENDS:
        backend = backends.get(name)
        reason = backend.available()
        kind = "emulated" if backend.emulated else "real"
        rows.append((name, kind, " ".join(backend.modes), "yes" if reason is None else f"no: {reason}"))
    print("\n".join(table(("backend", "kind", "modes", "runs here"), rows)))
    return 0
