"""``Model``: trains, evaluates and runs a network.

Source of the rules: MindSpore 2.10.0 CPU, measured (``tests/interop/test_train_traces.py`` holds them).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from harness.errors import SettingAttributeError, SettingError, SettingTypeError, StateError, UnsupportedError
from harness.framework import context, log
from harness.framework.communication import get_group_size
from harness.framework.nn import checks
from harness.framework.tensor import Tensor
from harness.framework.train import networks, training
from harness.framework.train.callback import __all__ as own_names
from harness.framework.train.callback.base import InternalCallbackParam
from harness.framework.train.callback.manager import CallbackManager, as_list
from harness.framework.train.callback.model_checkpoint import ModelCheckpoint
from harness.framework.train.checks import whole
from harness.framework.train.evaluation import MetricSet, evaluate
from harness.framework.train.metrics import get_metrics
from harness.framework.train.rows import size_of
from harness.framework.train.training import Plan

_LOG = log.get("train")
_OLD_HOOKS = frozenset(("begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end"))


class Model:
    """A network with its loss, optimizer and metrics.

    Args:
        network: a cell.
        loss_fn: called with the network's output and the label; None if the network gives its loss.
        optimizer: over the network's parameters; None if the network trains itself.
        metrics: None, metrics by name, or a set of names.
        eval_network: gives (loss, prediction, label), or with ``eval_indexes`` these among its outputs; None: made of
            ``network`` and ``loss_fn``.
        eval_indexes: places of loss, prediction and label; None gives each metric all outputs of ``eval_network``.

    Raises:
        SettingTypeError, SettingError, UnknownKeyError: arguments that are not accepted.
        UnsupportedError: boosting, mixed precision of level ``auto``.
    """

    def __init__(
        self,
        network: Any,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        eval_network: Any = None,
        eval_indexes: list[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        more = networks.settings(amp_level, boost_level, kwargs, optimizer is not None)
        if loss_fn is not None and not hasattr(loss_fn, "get_inputs"):
            raise SettingAttributeError(f"Model: loss_fn must be a Cell, got {type(loss_fn).__name__}")
        self._network = network
        self.loss_fn = loss_fn
        self._optimizer = optimizer
        self._train_network = networks.train_network(network, loss_fn, optimizer, amp_level, more)
        self._eval_network = eval_network
        found = get_metrics(metrics)
        if found and eval_network is not None:
            if eval_indexes is not None and not (isinstance(eval_indexes, list) and len(eval_indexes) == 3):
                raise SettingError(f"Model: eval_indexes must be None or a list of three ints, got {eval_indexes!r}")
        elif found:
            self._eval_network = networks.eval_network(network, loss_fn, amp_level)
            eval_indexes = [0, 1, 2]
        self.judge = MetricSet(found or {}, eval_indexes)
        self._is_training = True
        #: (epoch, step in it) of the training that runs, or ran last
        self.position = (0, 0)

    # -- the networks --------------------------------------------------------------------------------------------------
    @property
    def train_network(self) -> Any:
        """The network with its loss and optimizer."""
        return self._train_network

    @property
    def eval_network(self) -> Any:
        """The cell that gives (loss, prediction, label)."""
        return self._eval_network

    @property
    def predict_network(self) -> Any:
        """The network itself."""
        return self._network

    def prepare(self, *, train: bool) -> None:
        """Switches the network to training or evaluation."""
        (self._train_network if train else self._eval_network).set_train(train)
        self._is_training = train

    def in_mode(self, *, train: bool) -> Any:
        """The network to train or evaluate with, switched back if a callback switched it."""
        network = self._train_network if train else self._eval_network
        if self._is_training != train:
            self.prepare(train=train)
        return network

    # -- training ------------------------------------------------------------------------------------------------------
    def train(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Trains up to epoch ``epoch``.

        Args:
            epoch: number of the last epoch, at least 1.
            train_dataset: gives rows (data, label), or the network's arguments if there is no ``loss_fn``.
            callbacks: None, a Callback, or any iterable of them.
            dataset_sink_mode: on a CPU there is no sinking; only ``sink_size`` then counts, as the ``batch_num`` that
                callbacks see.
            sink_size: -1 or at least 1.
            initial_epoch: epochs that were done before; below ``epoch``.
        """
        checks.boolean(dataset_sink_mode, "dataset_sink_mode", "Model.train")
        size, sink = _check_epochs("Model.train", epoch, train_dataset, sink_size, initial_epoch)
        _check_hooks(callbacks, "train")
        steps = sink if dataset_sink_mode else size
        self._train(Plan(initial_epoch, epoch, train_dataset), callbacks, steps)

    def fit(
        self,
        epoch: int,
        train_dataset: Any,
        valid_dataset: Any = None,
        valid_frequency: int | list[int] = 1,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Trains as ``train`` does, with evaluations after epochs.

        Args:
            valid_dataset: the dataset to evaluate; None for no evaluation.
            valid_frequency: every so many epochs, or a list of epochs.
        """
        checks.boolean(dataset_sink_mode, "dataset_sink_mode", "Model.fit")
        checks.boolean(valid_dataset_sink_mode, "valid_dataset_sink_mode", "Model.fit")
        size, sink = _check_epochs("Model.fit", epoch, train_dataset, sink_size, initial_epoch)
        if not isinstance(valid_frequency, (int, list)):
            raise SettingTypeError(f"Model.fit: valid_frequency must be an int or a list, got {valid_frequency!r}")
        if isinstance(valid_frequency, int) and valid_frequency < 1:
            raise SettingError(f"Model.fit: valid_frequency must be at least 1, got {valid_frequency}")
        if valid_dataset is not None and not self.judge.metrics:
            raise SettingError("Model.fit: a valid_dataset needs Model(metrics=...)")
        _check_hooks(callbacks, "fit")
        steps = sink if dataset_sink_mode else size
        self._train(Plan(initial_epoch, epoch, train_dataset, valid_dataset, valid_frequency), callbacks, steps)

    def _train(self, plan: Plan, callbacks: Any, steps: int) -> None:
        given = as_list(callbacks)
        mode = context.get_auto_parallel_context("parallel_mode")
        pynative = context.get_context("mode") == context.PYNATIVE_MODE
        run = InternalCallbackParam(
            cur_step_num=0, train_network=self._train_network, epoch_num=plan.last - plan.first, batch_num=steps,
            mode="train", loss_fn=self.loss_fn, optimizer=self._optimizer, parallel_mode=mode,
            device_number=1 if mode == "stand_alone" else get_group_size(), train_dataset=plan.train,
            list_callback=[*training.internal(pynative), *given],
            train_dataset_element=None, network=self._network, last_save_ckpt_step=None, latest_ckpt_file=None,
            loss_scale_mananger=None, initial_step=None,
        )  # fmt: skip
        try:
            with CallbackManager(run.list_callback) as entered:
                self._claim(plan.train)
                training.train(self, plan, entered, run)
        except BaseException:
            self._save_breakpoint(callbacks)
            raise

    def _save_breakpoint(self, callbacks: Any) -> None:
        """Makes the last checkpoint callback of a list save after an exception ended the training."""
        given = callbacks if isinstance(callbacks, list) else [callbacks]
        saving = [each for each in given if isinstance(each, ModelCheckpoint)]
        if saving:
            saving[-1].save_breakpoint(self._train_network, *self.position)

    def _claim(self, dataset: Any) -> None:
        """``StateError`` if another model trained with this dataset object."""
        if getattr(dataset, "__model_hash__", None) is None:
            with suppress(AttributeError, TypeError):  # a user's dataset may not accept attributes
                dataset.__model_hash__ = hash(self)
        if getattr(dataset, "__model_hash__", hash(self)) != hash(self):
            raise StateError("Model.train: this dataset object was used by another model; make a new one")

    # -- evaluation and use --------------------------------------------------------------------------------------------
    def eval(self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False) -> dict[str, Any]:
        """Evaluates; metrics are cleared first.

        Args:
            callbacks: None, a Callback or a list of them.
            dataset_sink_mode: on a CPU there is no sinking.

        Returns:
            The value of each metric, by the name it was given.
        """
        checks.boolean(dataset_sink_mode, "dataset_sink_mode", "Model.eval")
        if not self.judge.metrics:
            raise SettingError("Model.eval: needs Model(metrics=...)")
        _check_hooks(callbacks, "eval")
        run = InternalCallbackParam(
            eval_network=self._eval_network, valid_dataset=valid_dataset, batch_num=size_of(valid_dataset),
            mode="eval", cur_step_num=0, list_callback=as_list(callbacks), network=self._network,
        )  # fmt: skip
        self.judge.clear()
        found: dict[str, Any] = {}
        with CallbackManager(callbacks) as entered:
            found = evaluate(self, valid_dataset, entered, run, in_fit=False)
        return found

    def predict(self, *predict_data: Any, backend: str | None = None, config: Any = None) -> Any:
        """The network's outputs for these inputs, in evaluation mode."""
        if backend is not None or config is not None:
            raise UnsupportedError(f"Model.predict(backend={backend!r}, config={config!r}) is not supported; there is "
                                   "only None")  # fmt: skip
        for item in predict_data:
            if isinstance(item, Tensor) and item.size == 0:
                raise SettingError("Model.predict: an input is empty")
            if item is not None and not isinstance(item, (Tensor, int, float, str)):
                raise SettingTypeError(f"Model.predict: an input must be a Tensor, None, int, float or str, "
                                       f"got {type(item).__name__}")  # fmt: skip
        if self._is_training:
            self._network.set_train(False)
            self._is_training = False
        return self._network(*predict_data)


def _check_epochs(owner: str, epoch: int, dataset: Any, sink_size: int, initial_epoch: int) -> tuple[int, int]:
    """Steps of an epoch, and the number that callbacks see with a sink."""
    whole(sink_size, "sink_size", owner)
    whole(epoch, "epoch", owner, 1)
    whole(initial_epoch, "initial_epoch", owner, 0)
    if initial_epoch >= epoch:
        raise SettingError(f"{owner}: initial_epoch must be below epoch, got {initial_epoch} and {epoch}")
    size = size_of(dataset)
    if size == 0:
        raise SettingError(f"{owner}: the dataset is empty")
    if sink_size != -1 and sink_size < 1:
        raise SettingError(f"{owner}: sink_size must be -1 or at least 1, got {sink_size}")
    return size, size if sink_size == -1 else sink_size


def _check_hooks(callbacks: Any, where: str) -> None:
    """Warns about older hooks in a user's class; ``SettingError`` if they would run twice (``fit``)."""
    for each in callbacks if isinstance(callbacks, list) else [callbacks]:
        name = type(each).__name__
        old = sorted(_OLD_HOOKS & set(vars(type(each)))) if name not in own_names else []
        if old and callbacks:
            text = f"callback {name} defines {', '.join(old)}; use on_train_... or on_eval_... instead"
            if where == "fit":
                raise SettingError(f"Model.fit: {text}")
            _LOG.warning("Model.%s: %s", where, text)
