"""Pages of comparisons: one self-contained HTML file that opens offline."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.report.artefacts import artefacts
from harness.report.content import Detail, Run, content
from harness.report.rendering import render
from harness.report.size_limit import limited, only_counts

if TYPE_CHECKING:
    from harness.report.comparison import page
    from harness.report.exports import REPORTS, View

__all__ = ["REPORTS", "Detail", "Run", "View", "artefacts", "content", "limited", "only_counts", "page", "render"]

# Most pages are of results that are there already.
__getattr__, __dir__ = _lazy(
    __name__, {"page": "harness.report.comparison"} | dict.fromkeys(("REPORTS", "View"), "harness.report.exports")
)
