"""Training as ``mindspore.train``: models, callbacks, metrics, checkpoints."""

from harness.framework import kinds as _kinds
from harness.framework.names import fallback as _fallback
from harness.framework.outside import keep_outside as _keep_outside
from harness.framework.outside import make_in_python as _make_in_python
from harness.framework.train.callback import *  # noqa: F403
from harness.framework.train.callback import __all__ as _callbacks
from harness.framework.train.checkpoint import *  # noqa: F403
from harness.framework.train.checkpoint import __all__ as _checkpoint
from harness.framework.train.metrics import *  # noqa: F403
from harness.framework.train.metrics import __all__ as _metrics
from harness.framework.train.model import Model
from harness.framework.train.summary.summary_record import SummaryRecord

__all__ = [*_callbacks, *_checkpoint, *_metrics, "Model", "SummaryRecord"]

_members = {_name: globals()[_name] for _name in __all__}
_kinds.guard_all("train", _members)
_make_in_python(_members.values())
for _member in _members.values():
    for _kind in _member.__mro__ if isinstance(_member, type) and issubclass(_member, Metric) else ():  # noqa: F405
        _keep_outside(_kind, ("clear", "update"), AttributeError)
        _keep_outside(_kind, ("__call__", "eval"))
_keep_outside(Model, ("eval", "fit", "predict", "train"))
globals().update(_members)
__getattr__ = _fallback(__name__)
