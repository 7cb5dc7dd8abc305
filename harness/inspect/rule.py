"""Rules, their parameters, and the one registry that holds them."""

from __future__ import annotations

import fnmatch
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import SettingError
from harness.inspect.finding import Certainty, Finding, Severity
from harness.inspect.run import Op, Run
from harness.registry import Registry, instance_of


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a rule depends on.

    Attributes:
        default: its value if nobody sets it.
        meaning: what it is, in one line.
    """

    default: float
    meaning: str


@dataclass(eq=False)
class Context:
    """What a rule is given, and where it puts what it finds.

    Attributes:
        run: the run.
        rule: the rule that is asked.
        settings: its parameters by name.
        findings: what was found so far, by all rules.
        untold: what could not be told, a line each.
    """

    run: Run
    rule: Rule
    settings: Mapping[str, float]
    findings: list[Finding] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> float:
        return self.settings[name]

    def once(self, name: str, make: Callable[[Run], Any]) -> Any:
        """What ``make`` gives for the run, made once for all rules."""
        return self.run.once(name, make)

    def at(self, op: Op, kind: str, text: str, **more: Any) -> Finding:
        """Adds a finding at an execution; further arguments are those of ``Finding``."""
        more.setdefault("iteration", op.where.iteration)
        more.setdefault("source", self.run.place(op))
        return self.add(kind, text, operator=op.name, layer=op.layer, rank=op.where.rank, **more)

    def add(self, kind: str, text: str, error: bool = True, **more: Any) -> Finding:
        """Adds a finding; ``error`` says whether it fails."""
        severity = Severity.ERROR if error else Severity.NOTE
        found = Finding(self.rule.name, kind, severity, text, **more)
        self.findings.append(found)
        return found

    def cannot_tell(self, why: str) -> None:
        """Notes what the rule could not tell."""
        line = f"{self.rule.name}: {why}"
        if line not in self.untold:
            self.untold.append(line)


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule.

    Attributes:
        name: its name (``dead-units``).
        meaning: what it finds, in one line.
        ask: looks at a run; see ``Context``.
        parameters: by name.
        group: ``default``, or a group that is asked for by its name (``mindinsight``).
        order: rules of lower numbers are asked first; later ones know what those found.
    """

    name: str
    meaning: str
    ask: Callable[[Context], None]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    group: str = "default"
    order: int = 50


_MODULES = ("nonfinite", "weights", "updates", "activations", "signals", "data", "losses", "precision", "mindinsight")


def _populate() -> None:
    for name in _MODULES:
        importlib.import_module(f"harness.inspect.rules.{name}")


def _accepted(name: str, found: Any) -> Rule:
    """What an entry point names as a rule: a ``Rule``, or a function that ``rule`` decorates."""
    return instance_of(Rule)(name, getattr(found, "rule", found))


#: Every rule by name. Other packages add theirs by entry points of the group ``harness.inspect``.
RULES: Registry[Rule] = Registry("rule", "harness.inspect", _populate, _accepted)


def rule(
    name: str, meaning: str, group: str = "default", order: int = 50, **parameters: tuple[float, str]
) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Registers the decorated function as a rule.

    Args:
        name, meaning, group, order: see ``Rule``.
        parameters: default and meaning by name.
    """

    def registered(ask: Callable[[Context], None]) -> Callable[[Context], None]:
        made = Rule(name, meaning, ask, {k: Parameter(*v) for k, v in parameters.items()}, group, order)
        ask.rule = RULES.register(name, made)  # type: ignore[attr-defined]  # an entry point names the function
        return ask

    return registered


def chosen(rules: Iterable[str] | None, off: Iterable[str] = ()) -> list[Rule]:
    """The rules to ask, in their order.

    Args:
        rules: names, globs or groups; None for the group ``default``. ``+NAME`` adds to the default ones.
        off: names or globs of rules that are left out.

    Raises:
        SettingError: a text matches no rule.
    """
    asked = list(rules or ())
    wanted: set[str] = set()
    if not asked or all(each.startswith("+") for each in asked):
        wanted |= _matching("default")
    for each in asked:
        wanted |= _matching(each.removeprefix("+"))
    for each in off:
        wanted -= _matching(each)
    return sorted((RULES.get(name) for name in wanted), key=lambda each: (each.order, each.name))


def _matching(text: str) -> set[str]:
    every = {name: RULES.get(name) for name in RULES}
    found = {name for name, each in every.items() if each.group == text or fnmatch.fnmatchcase(name, text)}
    if not found:
        groups = sorted({each.group for each in every.values()})
        RULES.get(text) if not any(c in text for c in "*?[") else None
        raise SettingError(f"no rule or group of rules is like {text!r}; groups are {', '.join(groups)}")
    return found


def settings_of(rules: Sequence[Rule], given: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The parameters of each rule, defaults included.

    Args:
        rules: the rules.
        given: ``{"RULE.PARAMETER": number}``, or ``{"RULE": {"PARAMETER": number}}``.

    Raises:
        SettingError: a rule has no such parameter, or the value is no number.
    """
    made = {each.name: {name: p.default for name, p in each.parameters.items()} for each in rules}
    flat: dict[str, Any] = {}
    for name, value in given.items():
        flat.update({f"{name}.{k}": v for k, v in value.items()} if isinstance(value, Mapping) else {name: value})
    for name, value in flat.items():
        owner, _, parameter = name.rpartition(".")
        known = RULES.get(owner).parameters if owner else {}
        if parameter not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise SettingError(f"{name}: rule {owner!r} has no parameter {parameter!r}; {has}")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise SettingError(f"{name}: a parameter is a number, got {value!r}") from None
        if owner in made:
            made[owner][parameter] = number
    return made


__all__ = ["RULES", "Certainty", "Context", "Parameter", "Rule", "chosen", "rule", "settings_of"]
