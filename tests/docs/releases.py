"""The table of ``docs/reference/releases.md``, made from the rules of each generation.

``python -m tests.docs.releases`` rewrites it.
"""

from __future__ import annotations

from harness.dump.generations import GENERATIONS, rules_for
from harness.dump.rules import Rules
from harness.errors import UnsupportedError
from tests.subprocesses import ROOT

PAGE = ROOT / "docs" / "reference" / "releases.md"
BEGIN, END = "<!-- rules -->\n", "<!-- end of rules -->"
BACKENDS = ("cpu", "gpu", "ascend", "ascend-o2")
_STATISTICS = {
    "nothing": "statistics", "npy": "statistics with `file_format` npy", "async npy": "statistics, asynchronous in npy",
    "another device": "no statistics",
}  # fmt: skip
_WITHOUT = {"e2e": "kernel by kernel all the same", "async": "asynchronous", "off": "nothing"}
_PYNATIVE = {"dumped": "dumped", "refused": "refused", "off": "nothing"}


def rows(generation: str) -> list[str]:
    """The rows of one generation: what a dump configuration gives on each device."""
    found = []
    for backend in BACKENDS:
        try:
            rules = rules_for(backend, generation)
        except UnsupportedError:
            continue
        cells = [generation, backend, _written(rules), *_settings(rules)]
        found.append("| " + " | ".join(cells) + " |")
    return found


def _written(rules: Rules) -> str:
    return _WITHOUT.get(str(rules.without_e2e), str(rules.without_e2e))


def _settings(rules: Rules) -> list[str]:
    modes = ", ".join(str(mode) for mode in sorted(rules.op_debug_modes))
    has_statistics = any(check.__module__.endswith("check_saved_data") for check in rules.checks)
    return [
        _STATISTICS[rules.statistics_need] if has_statistics else "no statistics",
        ", ".join(rules.kernel_kinds),
        modes + (", 4 has an effect" if rules.exception_dump else ""),
        _PYNATIVE[rules.pynative],
    ]


def table() -> str:
    """The table."""
    heads = (
        "releases", "device", "without `e2e_dump_settings`, or with it off", "statistics", "`kernels` are",
        "`op_debug_mode`", "PyNative mode",
    )  # fmt: skip
    head = f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|\n"
    return head + "".join(f"{row}\n" for generation in GENERATIONS for row in rows(generation))


def main() -> None:
    """Writes the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _old, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
