"""A form of a comparison: ``msdump diff A B --export diff.md``."""

from harness.report import View


class Markdown(View):
    name = "markdown"
    ending = ".md"

    def export(self, title, explanation, steps):
        lines = [f"# {title}", "", "| operator | role |", "|---|---|"]
        lines += [f"| {step.where.operator} | {step.role.value} |" for step in steps]
        return "\n".join([*lines, ""])
