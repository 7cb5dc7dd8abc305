"""The document's callback that ends a training after some minutes."""

import time

from mindspore.train.callback import Callback
from model import create_dataset, create_model


class StopAtTime(Callback):
    def __init__(self, run_time):
        super().__init__()
        self.run_time = run_time * 60

    def begin(self, run_context):
        cb_params = run_context.original_args()
        cb_params.init_time = time.time()

    def step_end(self, run_context):
        cb_params = run_context.original_args()
        epoch_num = cb_params.cur_epoch_num
        step_num = cb_params.cur_step_num
        loss = cb_params.net_outputs
        cur_time = time.time()
        if (cur_time - cb_params.init_time) > self.run_time:
            print("epoch: ", epoch_num, " step: ", step_num, " loss: ", loss)
            run_context.request_stop()


model, dataset = create_model(), create_dataset()
stop_cb = StopAtTime(run_time=0)
model.train(100, dataset, callbacks=stop_cb)
