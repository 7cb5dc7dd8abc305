"""Losses written by users: focal, dice, contrastive, triplet with hard mining, soft targets, total variation."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

r = np.random.RandomState(8)


class Focal(nn.LossBase):
    def __init__(self, gamma=2.0, alpha=0.25, reduction="mean"):
        super().__init__(reduction)
        self.gamma, self.alpha = gamma, alpha

    def construct(self, logits, labels):
        p = ops.sigmoid(logits)
        ce = ops.binary_cross_entropy_with_logits(logits, labels, ops.ones_like(logits), ops.ones_like(logits), "none")
        pt = p * labels + (1 - p) * (1 - labels)
        w = self.alpha * labels + (1 - self.alpha) * (1 - labels)
        return self.get_loss(w * (1 - pt) ** self.gamma * ce)


def dice(p, t, eps=1.0):
    p, t = p.reshape(p.shape[0], -1), t.reshape(t.shape[0], -1)
    inter = (p * t).sum(1)
    return (1 - (2 * inter + eps) / (p.sum(1) + t.sum(1) + eps)).mean()


def hard_triplet(e, y, margin=0.3):
    d = ((e.expand_dims(0) - e.expand_dims(1)) ** 2).sum(-1)
    d = ops.sqrt(ops.maximum(d, Tensor(1e-12)))
    same = ops.equal(y.expand_dims(0), y.expand_dims(1)).astype(ms.float32)
    pos = (d * same).max(axis=1)
    neg = (d + 1e5 * same).min(axis=1)
    return ops.relu(pos - neg + margin).mean()


def tv(img):
    return ops.abs(img[:, :, 1:] - img[:, :, :-1]).sum() + ops.abs(img[:, 1:] - img[:, :-1]).sum()


def soft_ce(logits, target, t=2.0):
    return -(ops.softmax(target / t, -1) * ops.log_softmax(logits / t, -1)).sum(-1).mean() * t * t


logits, labels = Tensor(r.randn(4, 5).astype(np.float32)), Tensor((r.rand(4, 5) > 0.5).astype(np.float32))
e, y = Tensor(r.randn(6, 3).astype(np.float32)), Tensor(np.array([0, 0, 1, 1, 2, 2], np.int32))
img = Tensor(r.rand(2, 4, 4).astype(np.float32))
cases = {
    "focal": (lambda a: Focal()(a, labels), logits),
    "dice": (lambda a: dice(ops.sigmoid(a), labels), logits),
    "triplet": (lambda a: hard_triplet(a, y), e),
    "tv": (tv, img),
    "soft": (lambda a: soft_ce(a, labels * 3), logits),
    "cosine": (lambda a: 1 - (a[0] * a[1]).sum() / (ops.norm(a[0]) * ops.norm(a[1])), e),
    "huber": (lambda a: nn.HuberLoss(delta=0.5)(a, labels), logits),
    "smooth": (lambda a: nn.SmoothL1Loss(beta=0.3, reduction="mean")(a, labels), logits),
    "kl": (lambda a: nn.KLDivLoss("batchmean")(ops.log_softmax(a), ops.softmax(labels)), logits),
    "bce": (lambda a: nn.BCELoss(reduction="sum")(ops.sigmoid(a), labels), logits),
}
for mode in (ms.PYNATIVE_MODE,):
    ms.set_context(mode=mode)
    for name, (fn, x) in cases.items():
        value, grad = ms.value_and_grad(fn)(x)
        print(name, f"{float(value):.4f}", f"{float(ops.abs(grad).sum()):.4f}", np.round(grad.asnumpy().ravel()[:4], 4))
