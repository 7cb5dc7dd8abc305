"""Slots whose values mean nothing in a dump of the real MindSpore 2.10.0 on a CPU.

Its kernels do not write these outputs (the weights and moments are updated in place, the reserved statistics are not
needed), so a dump shows whatever the memory held: parts of other tensors, different from step to step. Found by
comparing such dumps with the operators' inputs; dtypes and shapes are compared like those of any other slot.
"""

from __future__ import annotations

NEVER_WRITTEN = {
    "Adam": ("output.0", "output.1", "output.2"),
    "AdamWeightDecay": ("output.0", "output.1", "output.2"),
    "ApplyCenteredRMSProp": ("output.0",),
    "ApplyRMSProp": ("output.0",),
    "BatchNorm": ("output.1", "output.2"),
    "BatchNormGrad": ("input.5",),
    "Print": ("output.0",),
}

# Larger than any difference of two finite float32 values.
ANYTHING = {"atol": 1e39}

# For the marker's ``against=``: these slots; else 1e-5 of the tensor's largest value for float32, as a sum's rounding
# is relative to its terms, not to what is left of them; else the documented table by dtype.
AGAINST_REAL = {
    "default": "default",
    "float32": {"rtol": 1e-5, "scaled": 1e-5, "max_ulp": 1},
    **{f"*/{op}-op*:{slot}": ANYTHING for op, slots in NEVER_WRITTEN.items() for slot in slots},
}
