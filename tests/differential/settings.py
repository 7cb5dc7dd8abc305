"""Settings that nobody set: calls of ``mistakes.txt`` with each further parameter of their signatures at other values
than its default, and public methods and attributes of cells, parameters and optimizers.

``python -m tests.differential.settings REAL --seed S --count N`` asks both sides for their signatures, draws values by
the kind of each default, makes each call here and under the real MindSpore (REAL is its Python), and prints what
differs. ``ignored`` is a value that changes the result there and not here. ``--what documents`` sets parameters in the
examples of MindSpore's own documentation, which are read from the installed one: every layer, optimizer, callback,
function and method has some. ``--what examples`` runs the examples as they are; ``--what made`` sets those
of optimizers and callbacks.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.differential.mistakes import FORMS, PRELUDE, Outcome, changed, difference, outcomes, program, spine
from tests.differential.sides import Pair

OWN_PRELUDE = (Path(__file__).parent / "settings_prelude.py").read_text(encoding="utf-8")
#: what is drawn for a default of a kind
VALUES: dict[str, tuple[str, ...]] = {
    "bool": ("True", "False"), "int": ("0", "1", "2", "-1", "3"), "float": ("0.25", "0.5", "2.0", "0.0"),
    "None": ("True", "1", "0", "2", "0.5", "(0, 1)", "'mean'", "ms.float16", "ms.int32", "f", "c", "f[0]", "b", "'w'"),
    "str": ("'mean'", "'sum'", "'none'", "'same'", "'valid'"),
    "other": ("0", "1", "(0,)", "(0, 1)", "ms.float16", "ms.int32", "ms.float64", "'ones'", "'zeros'", "2", "0.5"),
}  # fmt: skip
#: owners whose public members are called or set: how one is made, what tells what it does, after PREFIX of its members
OWNERS = {
    "nn.Cell": "attended(one(), lambda made: {act})",
    "Parameter": "kept(weight(), lambda made: {act})",
    "nn.Optimizer": "optimized({optimizer}, lambda made: {act})",
}
OPTIMIZERS = ("nn.SGD", "nn.Adam", "nn.RMSProp", "nn.AdamWeightDecay")
#: examples that need several processes, a network or another device, or that end or measure a process
_ELSEWHERE = re.compile(
    r"communication|[^\w]init\(\)|Ascend|\bGPU\b|profil|exit\(|while True|set_seed|export|"
    r"obfuscate|multiprocess|msrun|recovery|memory|stream|Event\(|enable_|pijit|dump"
)
#: members that show something, or end what they belong to
LEFT_OUT = frozenset({"auto_parallel_compile_and_run", "compile", "compile_and_run", "exit",
                      "infer_param_pipeline_stage", "parameter_broadcast_done",
                      "register_state_dict_pre_hook", "data_ptr", "storage"})  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A call as it is, and with one setting."""

    plain: str
    call: str


def kind_of(default: str) -> str:
    """The kind of a default, from its text."""
    try:
        value = ast.literal_eval(default)
    except (ValueError, SyntaxError):
        return "other"
    kind = "None" if value is None else type(value).__name__
    return kind if kind in VALUES else "other"


def signatures(pair: Pair, finds: Sequence[str]) -> dict[int, tuple[dict[str, str], list[str], list[str]]]:
    """The parameters with defaults (of either side) of each expression, words, and names in the order of places."""
    lines = [PRELUDE, OWN_PRELUDE, *(f"signature({n}, lambda: {find})" for n, find in enumerate(finds))]
    own, _, real, _ = pair.run("\n".join(lines) + "\n")
    found: dict[int, tuple[dict[str, str], list[str], list[str]]] = {}
    for out in (own, real):
        for line in (out / "stdout").read_text(errors="replace").splitlines():
            if line.startswith('{"signature": '):
                row = json.loads(line)
                rows, words, names = found.setdefault(row["signature"], ({}, [], []))
                rows.update(dict(row["parameters"]))
                names[:] = row["names"] or names
                words += [f"'{word}'" for word in row["words"]]
    return found


def parameters(pair: Pair) -> tuple[list[tuple[str, int, ast.Call]], dict[int, tuple[dict[str, str], list[str]]]]:
    """Every call of ``mistakes.txt`` (its form, its place there), and by number the parameters it leaves out."""
    places = [
        (form, at, call)
        for form in FORMS
        for at, call in enumerate(spine(ast.parse(form, mode="eval").body))
        if "lambda" not in ast.unparse(call.func)
    ]
    found = signatures(pair, [ast.unparse(call.func) for *_, call in places])
    for n, (*_, call) in enumerate(places):
        given = {k.arg for k in call.keywords}
        rows, words, names = found.get(n, ({}, [], []))
        given |= set(names[: len(call.args)])
        found[n] = ({name: text for name, text in rows.items() if name not in given}, words, names)
    return places, {n: (rows, words) for n, (rows, words, _) in found.items()}


def of_forms(pair: Pair, chooser: random.Random) -> Iterator[Setting]:
    """Settings of the calls of ``mistakes.txt``."""
    places, known = parameters(pair)
    for n, (form, at, _call) in enumerate(places):
        tree = ast.parse(form, mode="eval").body
        rows, words = known.get(n, ({}, []))
        for name, default in rows.items():
            kind = kind_of(default)
            values = {*VALUES[kind], *(words if kind in ("str", "None", "other") else ())} - {default}
            for value in chooser.sample(sorted(values), min(4, len(values))):
                yield Setting(form, changed(tree, at, name, value))


def of_members(pair: Pair, chooser: random.Random) -> Iterator[Setting]:
    """Methods and attributes of cells, parameters and optimizers."""
    for owner, shape in OWNERS.items():
        listed = "\n".join([PRELUDE, OWN_PRELUDE, f"print('MEMBERS', *(m for m in dir({owner}) if m[0] != '_'))"])
        _, _, real, _ = pair.run(listed + "\n")
        line = next(x for x in (real / "stdout").read_text().splitlines() if x.startswith("MEMBERS"))
        names = [name for name in line.split()[1:] if name not in LEFT_OUT]
        known = signatures(pair, [f"{owner}.{name}" for name in names])
        for n, name in enumerate(names):
            rows = known.get(n, ({}, [], []))[0]
            acts = [f"made.{name}()", *(f"made.{name}({v})" for v in chooser.sample(VALUES["None"], 4))]
            acts += [f"setattr(made, {name!r}, {v})" for v in ("True", "False", "1", "None", "lambda *_: None")]
            for key, default in rows.items():
                acts += [f"made.{name}({key}={v})" for v in VALUES[kind_of(default)][:3]]
                acts += [f"made.{name}(True, {key}={v})" for v in VALUES[kind_of(default)][:2]]
            for act in acts:
                text = shape.replace("{optimizer}", chooser.choice(OPTIMIZERS))
                yield Setting(text.replace("{act}", "None"), text.replace("{act}", act))


def examples(pair: Pair) -> dict[str, str]:
    """The scripts of MindSpore's documents by the name of what they show, as the installed one has them."""
    _, _, real, _ = pair.run("\n".join([PRELUDE, OWN_PRELUDE, "documented()"]) + "\n")
    line = next(x for x in (real / "stdout").read_text().splitlines() if x.startswith('{"examples": '))
    found: dict[str, str] = {}
    for name, source in json.loads(line)["examples"].items():
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        large = any(isinstance(x, ast.Constant) and type(x.value) is int and x.value > 64 for x in ast.walk(tree))
        if ast.unparse(tree) not in found.values() and not large and not _ELSEWHERE.search(source):
            found[name] = ast.unparse(tree)
    return found


def uses(tree: ast.AST, name: str) -> list[ast.Call]:
    """The calls of what is named ``nn.Dense`` or ``Tensor.sum`` in a script."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func).rpartition(".")[2] == name.rpartition(".")[2]]


def of_documents(pair: Pair, chooser: random.Random) -> Iterator[Setting]:
    """Settings of the calls in the examples of MindSpore's documents."""
    found = [(name, source) for name, source in examples(pair).items() if uses(ast.parse(source), name)]
    known = signatures(pair, [name.replace("amp.", "ms.amp.") for name, _ in found])
    for n, (name, source) in enumerate(found):
        rows, words, names = known.get(n, ({}, [], []))
        for key, default in rows.items():
            kind = kind_of(default)
            values = {*VALUES[kind], *(words if kind in ("str", "None", "other") else ())} - {default}
            for value in chooser.sample(sorted(values), min(4, len(values))):
                tree = ast.parse(source)
                call = uses(tree, name)[0]
                at = names.index(key) if key in names else len(call.args)
                if at < len(call.args) or any(k.arg in (key, None) for k in call.keywords):
                    continue
                call.keywords.append(ast.keyword(key, ast.parse(value, mode="eval").body))
                yield Setting(f"played({name!r}, {source!r})", f"played({name!r}, {ast.unparse(tree)!r})")


#: classes that are made of settings, each with those it needs, by what shows their use
MADE: dict[str, tuple[str, ...]] = {
    "stepped(lambda weights: {})": (
        "nn.SGD(weights, 0.1)", "nn.Momentum(weights, 0.1, 0.9)", "nn.Adam(weights, 0.1)",
        "nn.AdamWeightDecay(weights, 0.1)", "nn.RMSProp(weights, 0.1)", "nn.Adagrad(weights, 0.1, 0.1)",
        "nn.Adadelta(weights, 1.0)", "nn.AdaMax(weights, 0.1)", "nn.ASGD(weights, 0.1)", "nn.Rprop(weights, 0.1)",
        "nn.FTRL(weights, 0.1, 0.1)", "nn.ProximalAdagrad(weights, 0.1)", "nn.LazyAdam(weights, 0.1)",
        "nn.AdamOffload(weights, 0.1)", "nn.Lamb(weights, 0.1)", "nn.AdaFactor(weights, 0.1)",
        "nn.LARS(nn.Momentum(weights, 0.1, 0.9))", "nn.thor(weights, 0.1, s, 0.9)",
    ),
    "heard(lambda: {})": (
        "train.LossMonitor()", "train.TimeMonitor()", "train.History()", "train.LambdaCallback()",
        "train.EarlyStopping('loss', patience=1)", "train.ReduceLROnPlateau('loss', patience=1)",
        "train.CheckpointConfig(save_checkpoint_steps=1)", "train.ModelCheckpoint('x', 'ck')",
        "train.LearningRateScheduler(lambda lr, step: lr / 2)",
    ),
}  # fmt: skip


def of_made(pair: Pair, chooser: random.Random) -> Iterator[Setting]:
    """Settings of optimizers, which make steps in both modes, and of callbacks, which attend a training."""
    rows = [(shape, form) for shape, forms in MADE.items() for form in forms]
    known = signatures(pair, [form.partition("(")[0] for _, form in rows])
    for n, (shape, form) in enumerate(rows):
        found, words, names = known.get(n, ({}, [], []))
        call = ast.parse(form, mode="eval").body
        assert isinstance(call, ast.Call)
        given = {k.arg for k in call.keywords} | set(names[: len(call.args)])
        for key, default in found.items():
            kind = kind_of(default)
            values = {*VALUES[kind], *(words if kind in ("str", "None", "other") else ())} - {default}
            for value in chooser.sample(sorted(values), min(5, len(values))) if key not in given else ():
                yield Setting(shape.format(form), shape.format(changed(call, 0, key, value)))


def told(calls: list[str]) -> str:
    """``program`` of these calls, after this module's prelude."""
    return program(calls).replace(PRELUDE, PRELUDE + "\n" + OWN_PRELUDE, 1)


def of_examples(pair: Pair, _chooser: random.Random) -> Iterator[Setting]:
    """The examples of MindSpore's documents as they are."""
    for name, source in examples(pair).items():
        yield Setting("None", f"played({name!r}, {source!r})")


#: what is drawn, by ``--what``
DRAWS: dict[str, Callable[[Pair, random.Random], Iterator[Setting]]] = {
    "forms": of_forms, "members": of_members, "documents": of_documents,
    "examples": of_examples, "made": of_made,
}  # fmt: skip


def compared(pair: Pair, calls: list[str], batch: int = 20) -> Iterator[tuple[str, Outcome | None, Outcome | None]]:
    """As ``mistakes.compared``, but an ended process is asked once more for single calls only."""
    for start in range(0, len(calls), batch):
        part = calls[start : start + batch]
        own, _, real, _ = pair.run(told(part))
        ours, theirs = outcomes(own), outcomes(real)
        if batch > 1 and min(len(ours), len(theirs)) < len(part):
            yield from compared(pair, part, 1)
            continue
        for number, call in enumerate(part):
            yield call, ours.get(number), theirs.get(number)


def kind(own: Outcome | None, real: Outcome | None, plain: tuple[str, str]) -> tuple[str, str]:
    """How two outcomes differ, as a kind and a text; ``plain`` are the results without the setting."""
    text = difference(own, real)
    if not text or own is None or real is None:
        return ("ends", text) if text else ("", "")
    if not own.error and not real.error:
        same = own.text == plain[0], real.text == plain[1]
        if plain[0] != plain[1] and all(same):
            return "", ""  # that they differ is not the setting's doing
        return ("ignored" if same == (True, False) else "another result"), text
    return text.partition(":")[0], text


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the calls and prints what differs; gives how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("real")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--part", default="")
    parser.add_argument("--what", choices=(*DRAWS, "all"), default="all")
    given = parser.parse_args(argv)
    chooser = random.Random(given.seed)
    kinds: Counter[str] = Counter()
    with Pair(given.real, limit=120) as pair:
        draws = [draw for what, draw in DRAWS.items() if given.what in (what, "all")]
        found = [setting for draw in draws for setting in draw(pair, chooser)]
        found = [setting for setting in dict.fromkeys(found) if given.part in setting.call]
        print(f"{len(found)} settings", flush=True)
        found = chooser.sample(found, min(given.count, len(found)))
        plain = {
            call: (own.text if own else "", real.text if real else "")
            for call, own, real in compared(pair, sorted({setting.plain for setting in found}))
        }
        by_call = {setting.call: setting.plain for setting in found}
        for call, own, real in compared(pair, list(by_call)):
            what, text = kind(own, real, plain[by_call[call]])
            if what and given.what in ("documents", "examples"):
                # What ran before in the same process may show.
                before = next(compared(pair, [by_call[call]], 1))[1:]
                _, own, real = next(compared(pair, [call], 1))
                what, text = kind(own, real, (before[0].text if before[0] else "", before[1].text if before[1] else ""))
            if what == "fails here only" and own and own.text.startswith("UnsupportedName"):
                what = "a name that is not supported"
            kinds[what or "agree"] += 1
            kinds["of them fail there"] += bool(real and real.error and not what)
            if what:
                print(f"{what}: {call}\n    {text[:500]}", flush=True)
    print(f"seed {given.seed}: {dict(sorted(kinds.items()))}")
    return sum(n for name, n in kinds.items() if name not in ("agree", "of them fail there"))


if __name__ == "__main__":
    main()
