"""Reads files that ``torch.save`` wrote, without PyTorch and without pickle: tensors of raw storages, and nothing that
would be run."""

from harness.capture.torch_files.tensors import Item, StoredTensor, items

__all__ = ["Item", "StoredTensor", "items"]
