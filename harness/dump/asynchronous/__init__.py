"""The asynchronous dump of Ascend: its file format, its directories, and the queue of tensors to write."""
