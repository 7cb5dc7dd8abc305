"""Series forecasting: patches, transformer encoder, reversible instance normalisation, Model.fit with early stop."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.dataset import GeneratorDataset
from mindspore.train import MAE, Callback, EarlyStopping, Model

ms.set_seed(44)
np.random.seed(44)


class RevIN(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.gain = Parameter(ops.ones(n, ms.float32), name="gain")
        self.shift = Parameter(ops.zeros(n, ms.float32), name="shift")

    def construct(self, x):
        m = x.mean(1, True)
        s = ops.sqrt(x.var(1, keepdims=True) + 1e-5)
        return (x - m) / s * self.gain + self.shift, m, s


class PatchTST(nn.Cell):
    def __init__(self, n=2, length=12, patch=4, d=8, horizon=3):
        super().__init__()
        self.rev = RevIN(n)
        self.patch, self.count = patch, length // patch
        self.embed = nn.Dense(patch, d)
        self.pos = Parameter(Tensor(np.random.randn(1, self.count, d) * 0.02, ms.float32), name="pos")
        layer = nn.TransformerEncoderLayer(d, 2, 16, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.head = nn.Dense(d * self.count, horizon)
        self.n = n

    def construct(self, x):
        b = x.shape[0]
        x, m, s = self.rev(x)
        x = x.transpose(0, 2, 1).reshape(b * self.n, self.count, self.patch)
        x = self.encoder(self.embed(x) + self.pos)
        y = self.head(x.reshape(b, self.n, -1)).transpose(0, 2, 1)
        return y * s + m


class Windows:
    def __init__(self, lo, hi):
        t = np.arange(lo, hi, dtype=np.float32)
        self.s = np.stack([np.sin(t / 3), np.cos(t / 4) * 2], 1) + 0.05 * np.random.randn(hi - lo, 2)
        self.s = self.s.astype(np.float32)

    def __len__(self):
        return len(self.s) - 15 + 1

    def __getitem__(self, i):
        return self.s[i : i + 12], self.s[i + 12 : i + 15]


class Log(Callback):
    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        print("epoch", p.cur_epoch_num, f"loss {float(p.net_outputs.asnumpy()):.4f}")

    def on_eval_end(self, run_context):
        print("eval", {k: f"{v:.4f}" for k, v in run_context.original_args().metrics.items()})


train = GeneratorDataset(Windows(0, 26), ["x", "y"], shuffle=False).batch(4, drop_remainder=True)
valid = GeneratorDataset(Windows(30, 50), ["x", "y"], shuffle=False).batch(3)
net = PatchTST()
model = Model(net, nn.MSELoss(), nn.AdamWeightDecay(net.trainable_params(), 5e-3), metrics={"mae": MAE()})
model.fit(2, train, valid, callbacks=[Log(), EarlyStopping(monitor="mae", patience=1)], dataset_sink_mode=False)
print(model.predict(Tensor(Windows(60, 75)[0][0][None])).shape)
