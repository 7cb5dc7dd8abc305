"""Pages of comparisons: one self-contained HTML file that opens offline."""

from harness.report.artefacts import artefacts
from harness.report.content import Detail, Run, content
from harness.report.page import render
from harness.report.size_limit import limited, only_counts

__all__ = ["Detail", "Run", "artefacts", "content", "limited", "only_counts", "render"]
