"""A run of several ranks beside one of one rank: in that run's terms, which rank left first, and why."""

from harness.explain.layouts.beside_one import Layouts
from harness.explain.layouts.table import Table, table_of
from harness.explain.ranks.finding import RanksReport
from harness.explain.ranks.timeline import Run

__all__ = ["Table", "beside_one", "table_of"]


def beside_one(run: Run, one: Run, table: Table | None = None) -> RanksReport:
    """What is known of ranks that left a run of one rank.

    Args:
        run: of several ranks.
        one: the same training on one rank, which is right.
        table: where parts lie, and other names of modules; what distributed tensors state need not be there.
    """
    return Layouts(run, one, table or Table()).report()
