"""The page of an inspection: findings, the loss, sizes over depth and time, histograms, feature maps; one HTML file
that fetches nothing and runs its own script alone."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.compare.collector import FrozenObjects
from harness.escape import json_text
from harness.inspect.finding import Finding, Report
from harness.inspect.run import Op, Run, Slot
from harness.inspect.training import Training, training_of
from harness.report.histograms import LAYERS, STEPS, over_depth, over_time, spread
from harness.report.rasters import folded, indexed, logarithms, mosaic, palette, png, scale
from harness.report.rendering import policy, static
from harness.words import counted

Array = np.ndarray[Any, np.dtype[Any]]
#: rows that are drawn one by one with their names; rows of a picture of more; steps of a picture; rows and columns of
#: an overview; rows from which on there is a field to find one
NAMED, TILE, COLUMNS, OVERVIEW, FOUND = 200, 1000, 1000, 360, 20
#: elements that the pictures of one heading have at most, whatever the run: about a byte each in the page
ELEMENTS = 10_000_000
#: pictures of feature maps that a page shows, and channels of one
MAPS, CHANNELS = 12, 64
#: share of a channel's elements near the ends of a sigmoid or a tanh that is called saturated
SATURATED = 0.9


@dataclass(frozen=True)
class Row:
    """A row of a heat map: an operator or a weight, its line, and the slot of each step; or numbers by step."""

    name: str
    source: str
    slots: Mapping[int, Slot] = field(default_factory=dict)
    numbers: Mapping[int, float] | None = None


def write_page(path: Path, report: Report, run: Run) -> None:
    """Writes the page.

    Args:
        path: the HTML file.
        report: what was found.
        run: the run it was found in.
    """
    with FrozenObjects():
        path.write_text(page(report, run), encoding="utf-8")


def page(report: Report, run: Run) -> str:
    """The page as HTML."""
    made = _Pictures(report, run)
    pictures = "".join(made.all())
    title = html.escape(
        f"{report.network}: {counted(len(report.errors), 'error')}, {counted(len(report.notes), 'note')}"
    )
    found = "".join(_finding(each, made.places) for each in report.findings) or "<p>No rule found anything.</p>"
    untold = "".join(f"<li>{html.escape(each)}</li>" for each in report.untold)
    css, js = static("health.css"), static("health.js")
    data = json.dumps({"heats": made.heats, "colours": palette().tolist()}, allow_nan=False, separators=(",", ":"))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(css, js)}">'
        f"<title>{title}</title><style>{css}</style><h1>{title}</h1>{found}"
        f"{f'<h2>Not told</h2><ul>{untold}</ul>' if untold else ''}{pictures}"
        f'<script type="application/json" id="data">{json_text(data).replace("<", chr(92) + "u003c")}</script>'
        f"<script>{js}</script></html>\n"
    )


def _finding(finding: Finding, places: Mapping[str, str]) -> str:
    kind = "error" if finding.is_error else "note"
    where = html.escape(finding.operator)
    if finding.operator in places:
        where = f'<a href="#{places[finding.operator]}">{where}</a>'
    told = [
        finding.reason and f"{finding.certainty.value}: {finding.reason}",
        ", ".join(finding.elements),
        finding.folded,
    ]
    more = "".join(f"<br>{html.escape(each)}" for each in told if each)
    source = f" <code>{html.escape(finding.source)}</code>" if finding.source else ""
    return (
        f'<p class="{kind}"><b>{html.escape(finding.kind)}</b>: {html.escape(finding.text)}<br>'
        f"iteration {finding.iteration}, <code>{where}</code>{source}{more}</p>"
    )


class _Pictures:
    """The pictures of a run.

    Attributes:
        heats: what the page's script knows of each heat map.
        places: where an operator or a weight is drawn first, as an address within the page.
    """

    def __init__(self, report: Report, run: Run) -> None:
        self._report, self._run = report, run
        self._training: Training = run.once("training", training_of)
        self.heats: list[dict[str, Any]] = []
        self.places: dict[str, str] = {}

    def all(self) -> Iterator[str]:
        """All of them, in order."""
        yield self._loss()
        training, run = self._training, self._run
        weights = [(each, run.place(each.op)) for each in training.matrices]
        for heading, rows in (
            ("Values of the forward pass (root mean square), from the first operator down", _forward(run)),
            ("Gradients of the weights", [Row(w.name, at, w.gradients) for w, at in weights]),
            (
                "Change of the weights, relative to their size",
                [Row(w.name, at, numbers={each.iteration: each.ratio for each in w.changes}) for w, at in weights],
            ),
            ("Weights", [Row(w.name, at, w.after) for w, at in weights]),
        ):
            yield self._heat(heading, [each for each in rows if each.slots or each.numbers])
        yield from self._histograms()
        yield from _maps(run)

    def _table(self, rows: Sequence[Row]) -> tuple[list[int], Array]:
        """Labels of steps, and the logarithm of a number for each row and step, float32."""
        every, sizes = self._run.table([next(iter(row.slots.values())) for row in rows if row.slots])
        steps = sorted({*every, *self._report.iterations})
        columns = {step: at for at, step in enumerate(steps)}
        table = np.full((len(rows), len(steps)), np.nan, np.float32)
        table[np.ix_([bool(row.slots) for row in rows], [columns[step] for step in every])] = logarithms(sizes)
        for at, row in enumerate(rows):
            known = row.numbers if row.numbers is not None else {s: _size(slot) for s, slot in row.slots.items()}
            table[at, [columns[step] for step in known]] = logarithms(np.array(list(known.values()), np.float64))
        return steps, table

    def _heat(self, heading: str, rows: Sequence[Row]) -> str:
        if not rows:
            return ""
        steps, table = self._table(rows)
        values = folded(table, len(rows), min(COLUMNS, max(1, ELEMENTS // len(rows))))
        low, high = scale(values)
        number = len(self.heats)
        self.heats.append({
            "names": [row.name for row in rows], "sources": [row.source for row in rows], "steps": steps,
            "low": low, "high": high,
        })  # fmt: skip
        for at, row in enumerate(rows):
            self.places.setdefault(row.name, f"heat-{number}-{at}")
        bar = indexed(np.linspace(low, high, 61)[None], low, high)
        legend = (
            f'<p class="legend">10^{low:.1f} <img alt="from dark to light" src="{bar}"> 10^{high:.1f}; blue: not'
            f" finite, black: 0, grey: not known; {counted(len(steps), 'step')} from left to right</p>"
        )
        asks = f"<input aria-label='find an operator of: {html.escape(heading)}' placeholder='part of a name'>"
        find = f"<div class='tools'>find {asks}</div>" if len(rows) > FOUND else ""
        hint = "<output aria-live='polite'>Click a picture: operator, line, step and number.</output>"
        drawn = self._named(rows, values, low, high) if len(rows) <= NAMED else _tiles(values, low, high)
        return f"<h2>{html.escape(heading)}</h2><figure data-heat='{number}'>{legend}{find}{hint}{drawn}</figure>"

    def _named(self, rows: Sequence[Row], values: Array, low: float, high: float) -> str:
        drawn = []
        for at, row in enumerate(rows):
            label = html.escape(f"{row.name} {row.source}")
            drawn.append(
                f'<div class="strip" title="{label}"><span><bdi>{html.escape(row.name)}</bdi></span>'
                f'<img data-first="{at}" alt="{label}" src="{indexed(values[at][None], low, high)}"></div>'
            )
        return f'<div class="scroll">{"".join(drawn)}</div>'

    def _loss(self) -> str:
        series = next(iter(self._training.losses.values()), [])
        known = [(step, value) for step, value, _ in series if math.isfinite(value)]
        if len(known) < 2:
            return ""
        low, high = min(value for _, value in known), max(value for _, value in known)
        first, last = known[0][0], known[-1][0]

        def across(step: int) -> float:
            return (step - first) / max(1, last - first) * 100

        points = " ".join(f"{across(step):.3f},{40 - (v - low) / (high - low or 1.0) * 38:.3f}" for step, v in known)
        line = (
            f'<polyline fill="none" stroke="currentColor" stroke-width="1.5" vector-effect="non-scaling-stroke"'
            f' points="{points}"/>'
        )
        errors = sorted({each.iteration for each in self._report.errors if first <= each.iteration <= last})
        marks = "".join(
            f'<path stroke="#c33" vector-effect="non-scaling-stroke" d="M{across(step):.3f} 0V42"/>' for step in errors
        )
        red = "; red: an error begins" if errors else ""
        lost = len(series) - len(known)
        more = f"; {counted(lost, 'step')} without a finite one" if lost else ""
        return (
            f"<h2>Loss</h2><p>{known[0][1]:.4g} in step {first}, {known[-1][1]:.4g} in step {last}, between {low:.4g}"
            f" and {high:.4g}{more}{red}</p>"
            f'<svg viewBox="0 0 100 42" preserveAspectRatio="none" role="img" aria-label="loss over steps">'
            f"{marks}{line}</svg>"
        )

    def _histograms(self) -> Iterator[str]:
        layers = spread(self._training.matrices, LAYERS)
        shown = spread(self._report.iterations, STEPS)
        outputs = self._outputs()
        parts = []
        for what, slots in (
            ("values", [outputs.get((w.rank, w.op.name), {}) for w in layers]),
            ("gradients", [w.gradients for w in layers]),
            ("weights", [w.after for w in layers]),
        ):
            last = [each[max(each)] if each else None for each in slots]
            if len(layers) > 1 and (sheet := over_depth(last)):
                parts.append(_gram(f"{what} of the last step, over depth: {counted(len(layers), 'layer')}", sheet))
            for weight, each in zip(layers, slots, strict=True):
                if len(shown) > 1 and (sheet := over_time(each, shown)):
                    name = weight.op.name if what == "values" else weight.name
                    parts.append(_gram(f"{what}: {name} {self._run.place(weight.op)}", sheet))
        if parts:
            left = len(self._training.matrices) - len(layers)
            yield (
                '<h2>Histograms of sizes</h2><p class="legend">Columns are steps, or layers from the first to the last;'
                " from the top: not finite, 10^4 and more, down by half decades to 10^-12, and 0. Light: all elements,"
                f" dark: one of 10,000, black: none.{f' {left} layers between are not drawn.' if left else ''}</p>"
                f'<div class="grams">{"".join(parts)}</div>'
            )

    def _outputs(self) -> dict[tuple[int, str], dict[int, Slot]]:
        found: dict[tuple[int, str], dict[int, Slot]] = {}
        for op in self._run.ops:
            if op.phase == "forward" and 0 in op.outputs:
                found.setdefault((op.where.rank, op.name), {})[op.where.iteration] = op.outputs[0]
        return found


def _gram(text: str, sheet: str) -> str:
    label = html.escape(text)
    image = f'<img loading="lazy" alt="{label}" src="{sheet}">'
    return f"<figure><figcaption><small>{label}</small></figcaption>{image}</figure>"


def _tiles(values: Array, low: float, high: float) -> str:
    """An overview, and every row in pictures of ``TILE`` rows."""
    sheet = indexed(folded(values, OVERVIEW, OVERVIEW), low, high)
    tiles = "".join(
        f'<img loading="lazy" data-first="{at}" alt="rows {at} to {min(at + TILE, len(values)) - 1}"'
        f' height="{min(TILE, len(values) - at)}" src="{indexed(values[at : at + TILE], low, high)}">'
        for at in range(0, len(values), TILE)
    )
    return (
        f'<div class="overview"><img data-first="all" alt="all rows, the largest of each part" src="{sheet}"></div>'
        f"<details><summary>Every row ({len(values)})</summary>"
        f'<div class="scroll"><div class="rows">{tiles}</div></div></details>'
    )


def _size(slot: Slot) -> float:
    numbers = slot.numbers
    return math.nan if numbers is None else math.inf if numbers.bad else numbers.rms


def _forward(run: Run) -> list[Row]:
    found: dict[str, tuple[Op, dict[int, Slot]]] = {}
    for op in run.ops:
        slot = op.outputs.get(0)
        if op.phase == "forward" and slot is not None and slot.is_floating:
            found.setdefault(op.name, (op, {}))[1][op.where.iteration] = slot
    return [Row(name, run.place(op), slots) for name, (op, slots) in found.items()]


def _maps(run: Run) -> Iterator[str]:
    """Channels of the last step's images, one sample each; dead and saturated ones are told by the whole batch."""
    last = {op.name: op for op in run.ops if op.phase == "forward" and op.family in ("conv", "relu", "sigmoid", "tanh")}
    shown = 0
    for name, op in last.items():
        slot = op.outputs.get(0)
        if slot is None or len(slot.record.shape) != 4 or min(slot.record.shape[2:]) < 2 or shown == MAPS:
            continue
        array = slot.load()
        if array is None or not array.shape[0] or not array.shape[1]:
            continue
        if not shown:
            yield (
                '<h2>Feature maps</h2><p class="legend">The first sample of the last step, each channel on its own'
                " scale. A blue frame: it is 0 there. A magenta frame: saturated, nine tenths of its elements, over all"
                " samples, are at an end of the sigmoid or the tanh.</p>"
            )
        shown += 1
        dead, full = _dead(array), _full(array, op.family)
        sheet = png(mosaic(array[0, :CHANNELS], full=full[:CHANNELS]))
        label = html.escape(f"{name} {run.place(op)}")
        marked = [f"{int(dead.sum())} of {len(dead)} channels are 0 for every sample"] if dead.any() else []
        marked += [f"{int(full.sum())} of {len(full)} are saturated"] if full.any() else []
        left = [f"{len(dead) - CHANNELS} more are not drawn"] if len(dead) > CHANNELS else []
        told = "; ".join([*marked, *left])
        yield (
            f"<p><code>{label}</code>{f'<br>{told}' if told else ''}<br>"
            f'<img class="map" alt="channels of {label}" src="{sheet}"></p>'
        )


def _dead(array: Array) -> Array:
    return np.asarray(~array.any(axis=(0, 2, 3)))


def _full(array: Array, family: str) -> Array:
    """Whether each channel is saturated."""
    if family not in ("sigmoid", "tanh"):
        return np.zeros(array.shape[1], bool)
    with np.errstate(all="ignore"):
        near = np.abs(array.astype(np.float32) - 0.5) > 0.49 if family == "sigmoid" else np.abs(array) > 0.98
    return np.asarray(near.mean(axis=(0, 2, 3)) > SATURATED)
