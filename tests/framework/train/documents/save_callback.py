"""The document's callback that saves the network whenever its accuracy grew."""

from mindspore import save_checkpoint
from mindspore.train.callback import Callback
from model import create_dataset, create_model


class SaveCallback(Callback):
    def __init__(self, eval_model, ds_eval):
        super().__init__()
        self.model = eval_model
        self.ds_eval = ds_eval
        self.acc = 0

    def step_end(self, run_context):
        cb_params = run_context.original_args()
        result = self.model.eval(self.ds_eval)
        if result["accuracy"] > self.acc:
            self.acc = result["accuracy"]
            file_name = str(self.acc) + ".ckpt"
            save_checkpoint(save_obj=cb_params.train_network, ckpt_file_name=file_name)
            print("Save the maximum accuracy checkpoint,the accuracy is", self.acc)


model = create_model()
model.train(3, create_dataset(), callbacks=SaveCallback(model, create_dataset()))
