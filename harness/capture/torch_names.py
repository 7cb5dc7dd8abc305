"""Parts of the names of PyTorch's operators in a capture; they are known where PyTorch is not installed, too."""

ROOT = "Default"
GRADIENTS = "Gradients"
#: the scope of an optimizer is ``Default/optimizer-AdamW``
OPTIMIZER = "optimizer-"
