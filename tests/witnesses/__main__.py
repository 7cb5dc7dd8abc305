"""Proves that every row of every table of observed facts is needed by what was recorded.

``python -m tests.witnesses check [WORD...]`` takes each row out in a fork of this process, runs the witness of that
row alone there, and lists the rows whose witness holds all the same; it ends with 1 if there are any.

``python -m tests.witnesses find [WORD...]`` looks for the witness of each row that has none, and of each whose witness
holds without it, among the recorded networks, the recorded calls that name it, and the tests of its table; writes
``tests/data/witnesses.json``. WORD is part of the name of a table, or of a row.

``python -m tests.witnesses weak [WORD...]`` lists the facts in code whose witness fails only because the changed code
raises an error of Python's.

``python -m tests.witnesses page`` writes the counts in ``docs/facts.md``.

``check`` takes facts that stand in code, too: it makes the change that ``tests/data/facts.json`` names for each, and
runs its test.

``python -m tests.witnesses seek SEEN [WORD...]`` looks for the change and the test of facts in code that have none.
SEEN is what ``pytest -p tests.witnesses.seen --facts-seen SEEN`` noted: which tests run which code.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tests.framework.compile.test_recorded_graphs import DATA, RECORDED
from tests.witnesses.at_import import still_holds
from tests.witnesses.page import PAGE, written
from tests.witnesses.recordings import CALL, CALLS, apart, call_holds, failures, graphs_hold, holds
from tests.witnesses.search import Search, Seen
from tests.witnesses.seen import users_of
from tests.witnesses.tables import FACTS, TABLES, WITNESSES, Row, facts, rows, statements
from tests.witnesses.weak import accident


def is_needed(row: Row) -> bool:
    """Whether the witness of ``row`` fails without it."""
    if row.at_import:
        return not still_holds(row.table, *row.at_import, row.witness)

    def without() -> bool:
        row.take_out()
        return holds(row.witness, row.key)

    return not apart(without)


def found(row: Row) -> str:
    """A witness of ``row``: the first recorded network or call, or the first test of its table, that fails without
    it."""
    tests = next((table.tests for table in TABLES if table.key == row.table), ())
    calls = [case for case, lines in CALLS.items() if _word(row.name) in f"{case} {lines}"]

    def without() -> str:
        row.take_out()
        likely, others = _by_likelihood(row.name)
        for net in likely:
            if not graphs_hold(net):
                return net
        for case in calls:
            if not call_holds(case):
                return f"{CALL}{case}"
        for net in others:
            if not graphs_hold(net):
                return net
        return next(iter(failures(*tests, first=True)), "") if tests else ""

    return apart(without)


def _by_likelihood(name: str) -> tuple[list[str], list[str]]:
    """The recorded networks that have the word of a row in their text, or in their graphs; and the others."""
    word = _word(name).lower()
    texts = {net: (DATA / "nets" / f"{net}.py").read_text().lower() for net in RECORDED}
    found = {
        net: (word not in text, len(text)) for net, text in texts.items() if word in f"{text}{RECORDED[net]}".lower()
    }
    return sorted(found, key=found.__getitem__), [net for net in RECORDED if net not in found]


def _word(name: str) -> str:
    """The name of a row without its owner: ``squeeze`` of ``Tensor.squeeze (older form)``."""
    return re.findall(r"\w+", name.removeprefix("Tensor.").removeprefix("ops."))[0].strip("_")


def check(chosen: list[Row]) -> int:
    """Prints the rows that nothing holds, and how many were looked at; how many those are."""
    unheld = [row for row in chosen if not row.witness or not is_needed(row)]
    for row in unheld:
        print(f"{row.table}: {row.name}: {row.witness or 'no witness'}", flush=True)
    print(f"{len(chosen)} rows, {len(unheld)} unheld")
    return len(unheld)


def weak(chosen: list[Row]) -> int:
    """Prints the facts whose witness fails by an accident alone, and how many were looked at; how many those are.
    Changes at import are made in other processes, and not looked at."""

    def without(row: Row) -> str:
        row.take_out()
        return accident(row.witness)

    here = [row for row in chosen if row.witness and row.at_import is None and row.witness != "crossings"]
    found = 0
    for row in here:
        if error := apart(lambda row=row: without(row)):  # type: ignore[misc]
            found += 1
            print(f"{row.table}: {row.name or 'the module'}: {error} in {row.witness}", flush=True)
    print(f"{len(here)} facts, {found} held by an accident alone")
    return found


def find(chosen: list[Row]) -> int:
    """Writes a witness for each row that has none; how many are left without."""
    known = json.loads(WITNESSES.read_text()) if WITNESSES.is_file() else {}
    unheld = 0
    for row in chosen:
        if row.table.startswith("framework.observed.") or (row.witness and is_needed(row)):
            continue
        witness = found(row)
        known.setdefault(row.table, {}).pop(row.name, None)
        if witness:
            known[row.table][row.name] = witness
        else:
            unheld += 1
            print(f"{row.table}: {row.name}: nothing holds it", flush=True)
        write(known)
    print(f"{len(chosen)} rows, {unheld} unheld")
    return unheld


def seek(seen: Seen, chosen: list[Row]) -> int:
    """Writes the change and the witness of each fact in code that has none; how many are left without."""
    known = facts()
    there = {(row.table, row.name) for row in statements()}
    kept = {
        table: {name: witness for name, witness in found.items() if (table, name) in there}
        for table, found in known.items()
    }
    wanted = [row for row in chosen if not row.witness]

    def work(search: Search) -> None:
        for row in wanted:
            found = search.of_mark(row.key)
            kept.setdefault(row.table, {})[row.name] = list(found) if found else None
            FACTS.write_text(json.dumps({key: kept[key] for key in sorted(kept)}, indent=1, sort_keys=True) + "\n")
            print(f"{row.table}: {row.name or 'the module'}: {found[2] if found else 'nothing holds it'}", flush=True)

    modules = {row.table for row in wanted}
    for row in wanted:
        if row.key.is_table:
            modules.update(users_of(row.name))
    Search(seen, work).run(modules)
    return sum(not (kept.get(row.table) or {}).get(row.name) for row in wanted)


def write(known: dict[str, dict[str, str]]) -> None:
    """Writes ``tests/data/witnesses.json``: the tables and their rows in order, without those that are gone."""
    there: dict[str, dict[str, str]] = {}
    for row in rows():
        witness = known.get(row.table, {}).get(row.name)
        if witness:
            there.setdefault(row.table, {})[row.name] = witness
    WITNESSES.write_text(json.dumps(there, indent=1, sort_keys=True) + "\n")


def main(arguments: list[str]) -> int:
    """Runs one command; its exit status."""
    command, *named = arguments or [""]
    if command == "page":
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    if command not in ("check", "find", "seek", "weak") or (command == "seek" and not named):
        print(
            "usage: python -m tests.witnesses check|find|weak [WORD...], seek SEEN [WORD...], or page", file=sys.stderr
        )
        return 2
    if command == "seek":
        seen, *named = named
        return int(bool(seek(Seen([Path(seen)]), _chosen(statements(), named))))
    if command == "weak":
        return int(bool(weak(_chosen(statements(), named))))
    if command == "find":
        return int(bool(find(_chosen(rows(), named))))
    return int(bool(check(_chosen([*rows(), *statements()], named))))


def _chosen(found: list[Row], named: list[str]) -> list[Row]:
    return [row for row in found if not named or any(each in f"{row.table}: {row.name}" for each in named)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
