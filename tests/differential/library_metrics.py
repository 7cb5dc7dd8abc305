"""Uses of metrics: several updates, results in between, `clear`, inputs that do not fit."""

from __future__ import annotations

import random

#: each metric, and the kinds of input it takes
METRICS = (
    ("train.Accuracy('classification')", "classes"),
    ("train.Accuracy('multilabel')", "bits"),
    ("train.F1()", "classes"),
    ("train.Precision({type})", "classes"),
    ("train.Recall({type})", "classes"),
    ("train.Fbeta({beta})", "classes"),
    ("train.Precision('multilabel')", "bits"),
    ("train.Recall('multilabel')", "bits"),
    ("train.MAE()", "values"),
    ("train.MSE()", "values"),
    ("train.Loss()", "loss"),
    ("train.TopKCategoricalAccuracy({k})", "classes"),
    ("train.Top1CategoricalAccuracy()", "classes"),
    ("train.Top5CategoricalAccuracy()", "classes"),
    ("train.Perplexity({ignore})", "classes"),
    ("train.Dice(smooth={smooth})", "bits"),
    ("train.BleuScore({n}, {bool})", "words"),
    ("train.CosineSimilarity({similarity}, {reduction}, {bool})", "matrix"),
    ("train.ConfusionMatrix(3, {normalize}, {smooth})", "labels"),
    ("train.ConfusionMatrixMetric({bool}, {rate}, {bool})", "bits"),
    ("train.ROC()", "scores"),
    ("train.ROC(pos_label={bit})", "scores"),
    ("train.ROC(class_num=3)", "classes"),
    ("train.MeanSurfaceDistance({bool}, {distance})", "surfaces"),
    ("train.HausdorffDistance({distance}, {percentile})", "surfaces"),
    ("train.RootMeanSquareDistance({bool}, {distance})", "surfaces"),
)
CHOICES: dict[str, tuple[object, ...]] = {
    "type": ("classification", "multilabel"),
    "beta": (1, 2, 0.5),
    "k": (1, 2, 3, 5),
    "ignore": (None, 0, 1),
    "smooth": (1e-5, 0.5, 0.0),
    "n": (1, 2, 4),
    "bool": (True, False),
    "similarity": ("cosine", "dot"),
    "reduction": ("none", "mean", "sum"),
    "normalize": ("no_norm", "target", "prediction", "all"),
    "rate": ("sensitivity", "tpr", "ppv", "f1", "acc", "mcc", "fpr", "ba", "pt"),
    "bit": (0, 1),
    "percentile": (None, 50, 95.0),
    "distance": ("euclidean", "chessboard", "taxicab"),
}


def metric(chooser: random.Random) -> str:
    """A metric with updates and results in a drawn order."""
    text, kind = chooser.choice(METRICS)
    for name, values in CHOICES.items():
        while "{" + name + "}" in text:
            text = text.replace("{" + name + "}", repr(chooser.choice(values)), 1)
    steps = ["'eval'"] if chooser.random() < 0.1 else []
    for _ in range(chooser.randint(1, 3)):
        shown = kind if chooser.random() < 0.93 else chooser.choice(METRICS)[1]
        steps.append(_update(shown, chooser))
        if chooser.random() < 0.4:
            steps.append("'eval'")
        if chooser.random() < 0.15:
            steps.append("None")
    return f"measured({text}, {', '.join([*steps, repr('eval')])})"


def _update(kind: str, chooser: random.Random) -> str:
    seed, rows = chooser.randrange(10**5), chooser.choice((1, 2, 4, 7))
    scores = f"unit(({rows}, 3), {seed})"
    labels = f"drawn(({rows},), 'int32', {seed}, False, 0, 3)"
    wrapped = lambda text: f"{text}.asnumpy()" if chooser.random() < 0.4 else text  # noqa: E731
    if kind == "classes":
        hot = f"Tensor(np.eye(3, dtype=np.int32)[{labels}.asnumpy()])"
        given = [wrapped(scores), wrapped(labels if chooser.random() < 0.7 else hot)]
    elif kind == "labels":
        given = [wrapped(labels if chooser.random() < 0.5 else scores), wrapped(labels)]
    elif kind == "bits":
        given = [wrapped(f"drawn(({rows}, 3), 'int32', {seed + at}, False, 0, 2)") for at in range(2)]
    elif kind == "values":
        shape = chooser.choice(((rows,), (rows, 3), (rows, 2, 2)))
        dtype = chooser.choice(("float32", "float64", "int32", "float16"))
        given = [wrapped(f"drawn({shape}, {dtype!r}, {seed + at})") for at in range(2)]
    elif kind == "loss":
        given = [wrapped(f"drawn({chooser.choice(((), (1,), (3,), (2, 3)))}, 'float32', {seed})")]
    elif kind == "matrix":
        given = [wrapped(scores)]
    elif kind == "scores":
        given = [wrapped(f"unit(({rows},), {seed})"), wrapped(f"drawn(({rows},), 'int32', {seed}, False, 0, 2)")]
    elif kind == "words":
        words = lambda: [chooser.choice("abcd") for _ in range(chooser.randint(1, 6))]  # noqa: E731
        given = [repr([words()]), repr([[words(), words()]])]
    else:
        shape = chooser.choice(((5, 5), (4, 6), (3, 4, 4)))
        given = [wrapped(f"drawn({shape}, 'int32', {seed + at}, False, 0, 2)") for at in range(2)] + ["1"]
    return f"({', '.join(given)},)"
