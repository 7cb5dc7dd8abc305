"""The lineage of a run: its hyper-parameters, network, data, results."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from harness.framework.tensor import Parameter
from harness.framework.train.callback.model_checkpoint import ModelCheckpoint
from harness.framework.train.summary.messages import LINEAGE


def of_training(run: Any, loss: float | None) -> Any:
    """A ``TrainLineage``."""
    message = LINEAGE["TrainLineage"]()
    hyper = message.hyper_parameters
    if run.optimizer is not None:
        hyper.optimizer = type(run.optimizer).__name__
        rate = run.optimizer.learning_rate
        if isinstance(rate, Parameter):
            hyper.learning_rate = float(np.atleast_1d(rate.asnumpy())[0])
    if run.loss_fn is not None:
        hyper.loss_function = type(run.loss_fn).__name__
    hyper.epoch, hyper.parallel_mode, hyper.device_num = run.epoch_num, run.parallel_mode, run.device_number
    hyper.batch_size = _batch_size(run.train_dataset)
    message.train_dataset.train_dataset_size = _rows(run.train_dataset)
    message.algorithm.network = type(run.network).__name__
    if loss is not None:
        message.algorithm.loss = loss
    saved = [each.latest_ckpt_file_name for each in run.list_callback if isinstance(each, ModelCheckpoint)]
    path = next(filter(None, saved), None)
    message.model.path = json.dumps({"ckpt": path})
    message.model.size = os.path.getsize(path) if path else 0
    return message


def of_evaluation(run: Any) -> Any:
    """An ``EvaluationLineage``."""
    metrics = {name: np.asarray(value).tolist() for name, value in run.metrics.items()}
    message = LINEAGE["EvaluationLineage"](metric=json.dumps(metrics))
    message.valid_dataset.valid_dataset_size = _rows(run.valid_dataset)
    return message


def of_dataset(dataset: Any) -> Any:
    """A ``DatasetGraph``: the operations of a dataset down to its source."""
    message = LINEAGE["DatasetGraph"]()
    source = getattr(dataset, "source", None)
    if hasattr(source, "get_dataset_size"):
        message.children.append(of_dataset(source))
    message.parameter.mapStr.add(key="op_type", value=type(dataset).__name__)
    if "drop_remainder" in vars(dataset):
        message.parameter.mapBool.add(key="drop_remainder", value=dataset.drop_remainder)
        message.parameter.mapInt.add(key="batch_size", value=dataset.batch_size)
    return message


def of_user(given: dict[str, Any]) -> Any:
    """A ``UserDefinedInfo`` of ints, floats and texts by name."""
    message = LINEAGE["UserDefinedInfo"]()
    for name, value in given.items():
        kind = "map_int32" if isinstance(value, int) else "map_double" if isinstance(value, float) else "map_str"
        getattr(message.user_info.add(), kind).add(key=name, value=value)
    return message


def _batch_size(dataset: Any) -> int:
    ask = getattr(dataset, "get_batch_size", None)
    return int(ask()) if callable(ask) else 1


def _rows(dataset: Any) -> int:
    return int(dataset.get_dataset_size()) * _batch_size(dataset)
