"""SetItem: assignment to elements of a tensor, which no graph of this project holds."""

from __future__ import annotations

from harness.errors import UnsupportedError
from harness.framework.ops.base import Call, Operator, operator
from harness.graph import Spec


@operator
class SetItem(Operator):
    """Refused wherever it is traced; being an operator lets the error say where in the user's source it stands."""

    name = "SetItem"

    def infer(self, call: Call) -> Spec:
        raise UnsupportedError(
            "assignment to elements of a tensor is not supported in construct; use ops.select, ops.masked_fill, "
            "ops.tensor_scatter_update or ops.concat"
        )
