"""``mindspore.experimental.optim.lr_scheduler``."""
