"""The page of an inspection: findings, the loss, sizes over depth and time, feature maps; one HTML file, no network."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness.inspect.finding import Finding, Report
from harness.inspect.run import Run, Slot
from harness.inspect.training import Training
from harness.report.rasters import coloured, logarithms, mosaic, png, scale
from harness.words import counted

#: rows of a picture, and pictures of feature maps, that a page shows
ROWS, MAPS, CHANNELS = 10_000, 12, 64
_STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem } code { overflow-wrap: anywhere }
.error { border-left: 4px solid #c33; padding-left: .6rem } .note { border-left: 4px solid #999; padding-left: .6rem }
.strip { display: grid; grid-template-columns: minmax(8rem, 22rem) 1fr; gap: .5rem; align-items: center }
.strip:target { outline: 2px solid #c33 }
.strip span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; direction: rtl; text-align: left }
.strip img { width: 100%; height: 1.1em; image-rendering: pixelated }
.map { image-rendering: pixelated; width: min(100%, 40rem) }
.scroll { max-height: 30rem; overflow: auto } svg { width: 100%; height: 12rem }
@media (max-width: 40rem) { .strip { grid-template-columns: 1fr } }
"""
Strip = tuple[str, str, dict[int, float]]


def write_page(path: Path, report: Report, run: Run) -> None:
    """Writes the page.

    Args:
        path: the HTML file.
        report: what was found.
        run: the run it was found in.
    """
    path.write_text(page(report, run), encoding="utf-8")


def page(report: Report, run: Run) -> str:
    """The page as HTML."""
    training = Training(run)
    known: dict[str, str] = {}
    pictures = "".join(_pictures(report, run, training, known))
    title = html.escape(
        f"{report.network}: {counted(len(report.errors), 'error')}, {counted(len(report.notes), 'note')}"
    )
    found = "".join(_finding(each, known) for each in report.findings) or "<p>No rule found anything.</p>"
    untold = "".join(f"<li>{html.escape(each)}</li>" for each in report.untold)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>{found}"
        f"{f'<h2>Not told</h2><ul>{untold}</ul>' if untold else ''}{pictures}</html>\n"
    )


def _finding(finding: Finding, known: dict[str, str]) -> str:
    kind = "error" if finding.is_error else "note"
    where = html.escape(finding.operator)
    if finding.operator in known:
        where = f'<a href="#{known[finding.operator]}">{where}</a>'
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


def _pictures(report: Report, run: Run, training: Training, known: dict[str, str]) -> Iterator[str]:
    yield _loss(training)
    steps = list(report.iterations)
    for heading, strips in (
        ("Values of the forward pass (root mean square), from the first operator down", _forward(run)),
        ("Gradients of the weights", _weights(training, "gradients")),
        ("Change of the weights, relative to their size", _weights(training, "changes")),
        ("Weights", _weights(training, "states")),
    ):
        yield _heat(heading, strips, steps, known)
    yield from _maps(run)


def _forward(run: Run) -> list[Strip]:
    found: dict[str, Strip] = {}
    for op in run.ops:
        slot = op.outputs.get(0)
        if op.phase == "forward" and slot is not None and slot.is_floating:
            strip = found.setdefault(op.name, (op.name, run.place(op), {}))
            strip[2][op.where.iteration] = _size(slot)
    return list(found.values())


def _size(slot: Slot) -> float:
    numbers = slot.numbers
    if numbers is None:
        return math.nan
    return math.inf if numbers.bad else numbers.rms


def _weights(training: Training, what: str) -> list[Strip]:
    found = []
    for weight in training.matrices:
        if what == "gradients":
            sizes = {step: _size(slot) for step, slot in weight.gradients.items()}
        elif what == "changes":
            sizes = {each.iteration: each.ratio for each in weight.changes}
        else:
            sizes = {step: _size(slot) for step, slot in weight.after.items()}
        if sizes:
            found.append((weight.name, training.run.place(weight.op), sizes))
    return found


def _heat(heading: str, strips: Sequence[Strip], steps: Sequence[int], known: dict[str, str]) -> str:
    if not strips:
        return ""
    shown = strips[:ROWS]
    values = logarithms(np.array([[sizes.get(step, math.nan) for step in steps] for _, _, sizes in shown]))
    low, high = scale(values)
    rows = []
    for (name, source, sizes), row in zip(shown, values, strict=True):
        known.setdefault(name, f"r{len(known)}")
        last = next(reversed(sizes.values()), math.nan)
        label = html.escape(f"{name} {source}")
        rows.append(
            f'<a class="strip" id="{known[name]}" title="{label}, last {last:.3g}"><span>{html.escape(name)}</span>'
            f'<img alt="{label}" src="{png(coloured(row[None], low, high))}"></a>'
        )
    left = f"<p>{len(strips) - ROWS} more are not shown.</p>" if len(strips) > ROWS else ""
    ends = f"10^{low:.1f} (dark) to 10^{high:.1f} (light); blue: not finite, black: 0, grey: not known"
    legend = f"<p>{ends}; {counted(len(steps), 'step')} from left to right</p>"
    return f'<h2>{html.escape(heading)}</h2>{legend}<div class="scroll">{"".join(rows)}</div>{left}'


def _loss(training: Training) -> str:
    series = next(iter(training.losses.values()), [])
    values = [value for _, value, _ in series if math.isfinite(value)]
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = high - low or 1.0
    points = " ".join(
        f"{at / (len(values) - 1) * 100:.3f},{40 - (v - low) / span * 38:.3f}" for at, v in enumerate(values)
    )
    line = f'<polyline fill="none" stroke="currentColor" stroke-width=".6" points="{points}"/>'
    return (
        f"<h2>Loss</h2><p>{values[0]:.4g} at first, {values[-1]:.4g} at last</p>"
        f'<svg viewBox="0 0 100 42" preserveAspectRatio="none" role="img" aria-label="loss over steps">{line}</svg>'
    )


def _maps(run: Run) -> Iterator[str]:
    """Channels of the last step's images, one sample each."""
    last = {op.name: op for op in run.ops if op.phase == "forward" and op.family in ("conv", "relu", "sigmoid", "tanh")}
    shown = 0
    for name, op in last.items():
        slot = op.outputs.get(0)
        if slot is None or len(slot.record.shape) != 4 or min(slot.record.shape[2:]) < 2 or shown == MAPS:
            continue
        array = slot.load()
        if array is None:
            continue
        if not shown:
            yield "<h2>Feature maps, first sample of the last step; a blue frame marks a channel that is 0</h2>"
        shown += 1
        sheet = png(mosaic(array[0, :CHANNELS]))
        label = html.escape(f"{name} {run.place(op)}")
        yield f'<p><code>{label}</code><br><img class="map" alt="channels of {label}" src="{sheet}"></p>'
