import os

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, load_checkpoint, load_param_into_net, nn, save_checkpoint

ms.set_seed(33)


class Backbone(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, has_bias=True)
        self.bn = nn.BatchNorm2d(4)

    def construct(self, x):
        return self.bn(self.conv(x)).mean((2, 3))


class Net(nn.Cell):
    def __init__(self, classes=3):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Dense(4, classes)
        self.register_buffer("counter", Tensor(np.zeros(1, np.float32)))

    def construct(self, x):
        return self.head(self.backbone(x))


net = Net()
print(sorted(net.parameters_dict().keys()))
opt = nn.Adam(net.trainable_params(), 0.001)
x = Tensor(np.random.RandomState(1).randn(4, 1, 6, 6).astype(np.float32))
vg = ms.value_and_grad(lambda x: net(x).sum(), None, opt.parameters)
net.set_train()
_, g = vg(x)
opt(g)
save_checkpoint(net, "net.ckpt", append_dict={"epoch": 3, "lr": 0.01, "flag": True, "note": "hello"})
save_checkpoint(opt, "opt.ckpt")
save_checkpoint(
    [{"name": "a", "data": Tensor([1.0, 2.0])}, {"name": "b", "data": Parameter(Tensor([3]), name="zz")}], "list.ckpt"
)
save_checkpoint(net.backbone, "bb.ckpt", choice_func=lambda n: n.startswith("backbone.bn"))
for f in ("net", "opt", "list", "bb"):
    d = load_checkpoint(f + ".ckpt")
    print(f, type(d).__name__, {k: (v.shape, str(v.dtype)) if isinstance(v, Parameter) else v for k, v in d.items()})
net2 = Net()
print(load_param_into_net(net2, load_checkpoint("net.ckpt")))
print(np.allclose(net2.set_train(False)(x).asnumpy(), net.set_train(False)(x).asnumpy()))
net3 = Net(5)
d = load_checkpoint("net.ckpt")
try:
    load_param_into_net(net3, d)
except Exception as e:
    print(next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))
for k in list(d):
    if k.startswith("head"):
        print("drop", k, d.pop(k).shape)
print(load_param_into_net(net3, d))
print(load_param_into_net(net3, d, strict_load=True))
d = load_checkpoint("net.ckpt", filter_prefix=["head"])
print(sorted(d))
d = load_checkpoint("net.ckpt", choice_func=lambda n: n.startswith("backbone") and "conv" in n)
print(sorted(d))
d = load_checkpoint("net.ckpt", specify_prefix="backbone.bn")
print(sorted(d))
bb = Backbone()
raw = load_checkpoint("net.ckpt")
renamed = {k[len("backbone.") :]: v for k, v in raw.items() if k.startswith("backbone.")}
print(load_param_into_net(bb, renamed))
half = {k: Parameter(v.astype(ms.float16), name=k) for k, v in raw.items() if isinstance(v, Parameter)}
try:
    print(load_param_into_net(net2, half))
    print(net2.head.weight.dtype)
except Exception as e:
    print("fp16:", next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))
try:
    print(load_param_into_net(net2, half, strict_load=True))
except Exception as e:
    print("fp16 strict:", next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))
opt2 = nn.Adam(net2.trainable_params(), 0.001)
print(load_param_into_net(opt2, load_checkpoint("opt.ckpt")))
print(opt2.global_step, np.abs(opt2.moment1[0].asnumpy()).sum().round(5))
d = load_checkpoint("bb.ckpt", bb)
print(sorted(d))
for bad in ({"head.weight": 3}, [1], {"head.weight": Tensor([1.0])}):
    try:
        print(load_param_into_net(net, bad))
    except Exception as e:
        print(next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))
try:
    load_checkpoint("none.ckpt")
except Exception as e:
    print(next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))
try:
    save_checkpoint(net, 3)
except Exception as e:
    print(next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))
print(sorted(f for f in os.listdir(".") if f.endswith(".ckpt")))
ms.save_checkpoint(net, "half", format="safetensors")
print(
    sorted(f for f in os.listdir(".") if f.endswith("safetensors")),
    sorted(ms.load_checkpoint("half.safetensors", format="safetensors"))[:3],
)
