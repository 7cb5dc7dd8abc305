"""Communication of a group of one; settings of a training on many devices."""

from __future__ import annotations

import pytest

from harness import Tensor, communication, context, nn, ops
from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework import parallel
from harness.framework.communication import management


def test_a_run_is_rank_0_of_1() -> None:
    management.init("nccl")
    assert management.GlobalComm.INITED
    assert management.GlobalComm.WORLD_COMM_GROUP == "nccl_world_group"
    assert (communication.get_rank(), communication.get_group_size(), communication.get_local_rank()) == (0, 1, 0)
    management.release()
    assert not management.GlobalComm.INITED
    with pytest.raises(SettingError, match="hccl"):
        management.init("gloo")
    management.init()
    assert management.GlobalComm.BACKEND == "hccl"


def test_groups_can_only_be_of_rank_0() -> None:
    communication.create_group("mine", [0])
    assert communication.get_group_size("mine") == 1
    assert communication.get_world_rank_from_group_rank("mine", 0) == 0
    communication.destroy_group("mine")
    for call, error in (
        (lambda: communication.get_rank("mine"), StateError),
        (lambda: communication.get_rank(3), SettingTypeError),  # type: ignore[arg-type]
        (lambda: communication.create_group("other", [0, 1]), SettingError),
        (lambda: communication.get_group_rank_from_world_rank(1, "hccl_world_group"), SettingError),
        (lambda: ops.AllReduce("mean"), SettingError),
        (lambda: ops.AllReduce(group="nobody"), StateError),
    ):
        with pytest.raises(error):
            call()


def test_collectives_of_one_give_what_they_are_given() -> None:
    x = Tensor([1.0, 2.0])
    for op in (ops.AllReduce(), ops.AllGather(), ops.ReduceScatter()):
        assert op(x).asnumpy().tolist() == [1, 2]
    assert nn.DistributedGradReducer([], True)((x,))[0].asnumpy().tolist() == [1, 2]


def test_settings_of_many_devices() -> None:
    context.set_auto_parallel_context(gradients_mean=True, parallel_mode=context.ParallelMode.STAND_ALONE)
    assert context.get_auto_parallel_context("gradients_mean") is True
    context.reset_auto_parallel_context()
    assert context.get_auto_parallel_context("gradients_mean") is False
    with pytest.raises(SettingTypeError):
        context.set_auto_parallel_context(gradients_mean=1)
    with pytest.raises(NotImplementedError, match="one process"):
        context.set_auto_parallel_context(parallel_mode=context.ParallelMode.DATA_PARALLEL)
    parallel.set_algo_parameters(elementwise_op_strategy_follow=True)
    assert parallel.get_algo_parameters("elementwise_op_strategy_follow") is True
    parallel.reset_algo_parameters()
    assert parallel.get_algo_parameters("elementwise_op_strategy_follow") is False
    with pytest.raises(SettingError):
        parallel.set_algo_parameters(nothing=1)
