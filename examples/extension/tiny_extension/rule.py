"""A rule of ``msdump inspect``: ``msdump inspect RUN --rules constant-result``."""

from harness.inspect import rule


@rule("constant-result", "a result whose elements are all equal", group="tiny", least=(2.0, "elements it has at least"))
def constant_result(context):
    for op in context.run.ops:
        for slot in op.outputs.values():
            values = slot.record.load()
            if values is not None and values.size >= context["least"] and (values == values.flat[0]).all():
                context.at(op, "constant", f"all {values.size} elements are {values.flat[0]:g}")
