"""Random uses of every metric: ``metric_programs.py SEED`` prints, as JSON, what each gives or the error it raises.

The same file runs under the real MindSpore and under ``msdump run``.
"""

from __future__ import annotations

import json
import sys
import warnings

import mindspore.nn as nn
import numpy as np

ROUNDS = 25
RATES = ("tpr", "tnr", "ppv", "npv", "fnr", "fpr", "fdr", "for", "pt", "ts", "acc", "ba", "f1", "mcc", "fm", "bm", "mk",
         "Fowlkes mallows index")  # fmt: skip


def plain(value):
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return np.asarray(value, dtype=float).tolist()


class Player:
    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.found = []

    def add(self, name, make, *inputs):
        try:
            self.found.append([name, plain(make()(*inputs))])
        except Exception as error:
            kind = next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")
            self.found.append([name, kind])

    def classes(self, at):
        count, classes = self.random.randint(1, 8), self.random.randint(2, 5)
        scores, label = self.random.rand(count, classes), self.random.randint(0, classes, size=count)
        one_hot = np.eye(classes)[label].astype(int)
        many, wanted = self.random.rand(count, classes, 3), self.random.randint(0, classes, size=(count, 3))
        for metric in (nn.Accuracy, nn.Precision, nn.Recall, nn.F1):
            self.add(metric.__name__, metric, scores, label)
            self.add(metric.__name__ + " one-hot", metric, scores, one_hot)
            self.add(metric.__name__ + " of many", metric, many, wanted)
        self.add("Dice", nn.Dice, scores, one_hot)
        self.add("TopK", lambda: nn.TopKCategoricalAccuracy(2), scores, label)
        self.add("Perplexity", lambda: nn.Perplexity(int(label[0]) if at % 2 else None), scores, label)
        self.add("MAE", nn.MAE, scores, scores[::-1].copy())
        self.add("MSE", nn.MSE, many, many[::-1].copy())
        self.add("Loss", nn.Loss, scores[0])
        for normalize in ("no_norm", "target", "prediction", "all"):
            self.add("ConfusionMatrix", lambda norm=normalize: nn.ConfusionMatrix(classes, norm), scores, label)
        for similarity in ("cosine", "dot"):
            for reduction in ("none", "sum", "mean"):
                self.add("CosineSimilarity", lambda s=similarity, r=reduction: nn.CosineSimilarity(s, r, bool(at % 2)),
                         scores)  # fmt: skip

    def curves(self):
        scores, label = np.round(self.random.rand(6), 1), self.random.randint(0, 2, size=6)
        self.add("ROC", nn.ROC, scores, label)
        self.add("ROC of 0", lambda: nn.ROC(pos_label=0), scores, label)
        self.add("auc", lambda: nn.auc, np.sort(scores), scores)
        self.add("auc reordered", lambda: lambda x, y: nn.auc(x, y, reorder=True), scores, label * 1.0)
        self.add("ConfusionMatrix of 2", lambda: nn.ConfusionMatrix(2), scores, label)

    def masks(self, at):
        shape = (self.random.randint(1, 8), self.random.randint(2, 5), 3)
        one, other = ((self.random.rand(*shape) > 0.5) * 1 for _ in range(2))
        for metric in (nn.Accuracy, nn.Precision, nn.Recall):
            self.add(metric.__name__ + " multilabel", lambda m=metric: m("multilabel"), one, other)
        for name in RATES:
            self.add(name, lambda n=name: nn.ConfusionMatrixMetric(metric_name=n), one[..., 0], other[..., 0])
            self.add(name + " by update", lambda n=name: nn.ConfusionMatrixMetric(bool(at % 2), n, True), one, other)
        for decrease in ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"):
            self.add(decrease, lambda d=decrease: nn.ConfusionMatrixMetric(True, "tpr", True, d), one, other)

    def surfaces(self):
        shape = tuple(self.random.randint(1, 7, size=self.random.randint(1, 4)))
        one, other = self.random.randint(0, 3, size=shape), self.random.randint(0, 3, size=shape)
        label = int(self.random.randint(0, 3))
        for distance in ("euclidean", "chessboard", "taxicab"):
            self.add("Hausdorff " + distance, lambda d=distance: nn.HausdorffDistance(d), one, other, label)
            for symmetric in (False, True):
                for metric in (nn.MeanSurfaceDistance, nn.RootMeanSquareDistance):
                    make = lambda m=metric, s=symmetric, d=distance: m(s, d)  # noqa: E731
                    self.add(metric.__name__, make, one, other, label)
        self.add("Hausdorff of bools", nn.HausdorffDistance, one == 1, other == 1, 1)
        if label in one and label in other:
            self.add("Hausdorff percentile", lambda: nn.HausdorffDistance(percentile=40.0), one, other, label)

    def words(self, at):
        def text():
            return list(self.random.choice(list("abcde"), size=self.random.randint(1, 8)))

        candidates = [text() for _ in range(2)]
        references = [[text() for _ in range(self.random.randint(1, 4))] for _ in range(2)]
        for size in (1, 2, 3, 4):
            self.add("BLEU", lambda n=size: nn.BleuScore(n, bool(at % 2)), candidates, references)

    def play(self):
        for at in range(ROUNDS):
            self.classes(at)
            self.curves()
            self.masks(at)
            self.surfaces()
            self.words(at)
        return self.found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(Player(int(sys.argv[1])).play()))
