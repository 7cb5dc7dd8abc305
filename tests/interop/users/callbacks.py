import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Callback, EarlyStopping, LossMonitor, Metric, Model, ReduceLROnPlateau

ms.set_seed(3)
rng = np.random.default_rng(3)
x = rng.normal(size=(48, 5)).astype(np.float32)
y = (x @ rng.normal(size=(5, 1)) + 0.1 * rng.normal(size=(48, 1))).astype(np.float32)


class Within(Metric):
    """Share of predictions within a distance."""

    def __init__(self, distance):
        super().__init__()
        self.distance = distance
        self.clear()

    def clear(self):
        self.hits, self.total = 0, 0

    def update(self, *inputs):
        predicted, wanted = (self._convert_data(each) for each in inputs[:2])
        self.hits += int((np.abs(predicted - wanted) < self.distance).sum())
        self.total += wanted.shape[0]

    def eval(self):
        return self.hits / self.total


class Distance(Within):
    """Mean distance of predictions."""

    def update(self, *inputs):
        predicted, wanted = (self._convert_data(each) for each in inputs[:2])
        self.hits += float(np.abs(predicted - wanted).sum())
        self.total += wanted.shape[0]


class Journal(Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_begin(self, run_context):
        print("begin", run_context.original_args().batch_num)

    def on_train_step_end(self, run_context):
        self.losses.append(float(run_context.original_args().net_outputs.asnumpy()))

    def on_train_epoch_end(self, run_context):
        args = run_context.original_args()
        print(f"epoch {args.cur_epoch_num} step {args.cur_step_num} mean {np.mean(self.losses[-3:]):.4f}")

    def on_eval_end(self, run_context):
        print("metrics", sorted(run_context.original_args().metrics))

    def on_train_end(self, run_context):
        print("end after", len(self.losses))


train = ds.NumpySlicesDataset((x[:36], y[:36]), ["x", "y"], shuffle=False).batch(12)
valid = ds.NumpySlicesDataset((x[36:], y[36:]), ["x", "y"], shuffle=False).batch(6)
net = nn.Dense(5, 1)
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.5)
model = Model(net, nn.MSELoss(), optimizer, metrics={"within": Within(0.2), "far": Distance(0)})
model.fit(
    12,
    train,
    valid,
    callbacks=[
        Journal(),
        LossMonitor(3),
        EarlyStopping("far", patience=2, min_delta=0.01, verbose=True, mode="min"),
        ReduceLROnPlateau("far", factor=0.5, patience=1, verbose=True, mode="min", min_delta=0.02),
    ],
    dataset_sink_mode=False,
)
print({name: round(float(value), 4) for name, value in model.eval(valid, dataset_sink_mode=False).items()})
print(f"rate {float(optimizer.learning_rate.asnumpy()):.5f}")
