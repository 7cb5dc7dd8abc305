"""Checkpoints: files of parameters, exchangeable with MindSpore's."""

from harness.framework.train.checkpoint.load import load_checkpoint, load_param_into_net
from harness.framework.train.checkpoint.save import save_checkpoint

__all__ = ["load_checkpoint", "load_param_into_net", "save_checkpoint"]
