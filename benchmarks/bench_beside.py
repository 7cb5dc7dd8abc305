"""PyTorch beside the harness: right pairs that hold, and faults that are named: ``python -m benchmarks beside``.

Runs the suite of ``harness.testing.beside`` (needs the extra ``torch``) and writes its table into
``docs/comparison.md``.
"""

from __future__ import annotations

from benchmarks._pages import put

FAULTS, PAIRS, SEED = 40, 25, 0


def section(faults: int, pairs: int, seed: int) -> tuple[str, int]:
    """The table for the page, and how many right pairs fail or faults pass."""
    import torch

    from harness.testing.beside import cells
    from harness.testing.beside.suite import judged, outcomes, table
    from harness.testing.beside.twins import draw

    torch.set_num_threads(1)
    twins = [draw(seed + made, list(cells.BUILD)[made % len(cells.BUILD)]) for made in range(pairs)]
    alarms = [twin for twin in twins if judged(twin.ours(), twin.theirs()).code]
    print(f"{len(alarms)} of {pairs} right pairs do not hold: {[(t.family, t.seed) for t in alarms]}", flush=True)
    every = []
    for outcome in outcomes(faults, seed):
        every.append(outcome)
        if not outcome.named:
            title = outcome.origin.title() if outcome.origin is not None else "it passed"
            print(f"{outcome.kind} in {outcome.twin.family}, seed {outcome.twin.seed}: {title}", flush=True)
    head = (
        f"{pairs} right pairs of seed {seed}: {len(alarms)} false alarms. {len(every)} faults on PyTorch's side, "
        f"PyTorch {torch.__version__}:"
    )
    return "\n".join([head, "", *table(every), ""]), len(alarms) + sum(each.passed for each in every)


def main() -> int:
    """Runs the suite and writes the page; 1 if a right pair fails or a fault passes."""
    text, wrong = section(FAULTS, PAIRS, SEED)
    return int(wrong > 0) if put("comparison.md", "beside", text) else 2


if __name__ == "__main__":
    raise SystemExit(main())
