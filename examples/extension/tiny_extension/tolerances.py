"""A tolerance by name: ``@pytest.mark.msdump(tolerance="tiny-npu")``, ``msdump diff --tolerance tiny-npu``."""

from harness.compare import ToleranceRule


class TinyNpu(ToleranceRule):
    name = "tiny-npu"
    meaning = "its sums are kept in 10 bits"

    def tolerances(self):
        return {"default": "default", "float32": (2**-10, 1e-6)}
