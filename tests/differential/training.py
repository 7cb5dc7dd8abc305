"""Optimizers and losses that programs train with."""

from __future__ import annotations

#: with ``{}`` for the parameters
OPTIMIZERS = (
    "nn.SGD({}, learning_rate=0.1)", "nn.Momentum({}, learning_rate=0.1, momentum=0.9)",
    "nn.Adam({}, learning_rate=0.01)", "nn.Adam({}, learning_rate=0.01, weight_decay=0.01)",
    "nn.AdamWeightDecay({}, learning_rate=0.01, weight_decay=0.01)",
    "nn.Momentum({}, learning_rate=0.1, momentum=0.9, weight_decay=0.01)",
    "nn.SGD({}, learning_rate=0.1, momentum=0.9, weight_decay=0.01)",
    "nn.SGD({}, learning_rate=0.1, momentum=0.9, nesterov=True)",
    "nn.Momentum({}, learning_rate=nn.ExponentialDecayLR(0.1, 0.9, 2), momentum=0.9)",
    "nn.Adam({}, learning_rate=nn.CosineDecayLR(0.001, 0.1, 4))",
    "nn.RMSProp({}, learning_rate=0.01)", "nn.Adagrad({}, learning_rate=0.01)", "nn.AdaMax({}, learning_rate=0.01)",
    "nn.Adadelta({}, learning_rate=0.1)", "nn.FTRL({}, learning_rate=0.01)", "nn.LazyAdam({}, learning_rate=0.01)",
    "nn.ProximalAdagrad({}, learning_rate=0.01)",
)  # fmt: skip
#: those of wide programs beside them
MORE_OPTIMIZERS = (
    "nn.Adam([{{'params': {0}[:1], 'lr': 0.1}}, {{'params': {0}[1:]}}], learning_rate=0.01)",
    "nn.Momentum({}, learning_rate=[0.1, 0.05, 0.01], momentum=0.9)", "nn.Adam({}, use_amsgrad=True)",
    "nn.SGD({}, learning_rate=nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5))",
    "nn.Momentum({}, learning_rate=0.1, momentum=0.9, use_nesterov=True)",
    "nn.RMSProp({}, learning_rate=0.01, centered=True)",
    "nn.Adam({}, learning_rate=nn.WarmUpLR(0.1, 3), beta1=0.8, use_nesterov=True)",
)  # fmt: skip
LOSSES = (
    "nn.MSELoss()", "nn.MSELoss(reduction='sum')", "nn.L1Loss()", "nn.SmoothL1Loss()", "nn.CrossEntropyLoss()",
    "nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')", "nn.HuberLoss()",
)  # fmt: skip
#: those of wide programs beside them
MORE_LOSSES = (
    "nn.CrossEntropyLoss(label_smoothing=0.1)", "nn.CrossEntropyLoss(reduction='sum')", "nn.L1Loss(reduction='sum')",
    "nn.SmoothL1Loss(beta=0.5, reduction='mean')", "nn.MAELoss()", "nn.RMSELoss()", "nn.BCEWithLogitsLoss()",
    "nn.SoftMarginLoss()",
)  # fmt: skip
