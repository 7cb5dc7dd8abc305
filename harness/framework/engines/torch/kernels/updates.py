"""Changes parameters in place: optimizers and assignments."""

from __future__ import annotations

from typing import Any

import torch

from harness.framework.engines.torch.base import kernel
from harness.framework.engines.torch.values import HALVES
from harness.framework.ops.base import Call


def _wide(x: Any) -> Any:
    return x.to(torch.float32) if x.dtype in HALVES else x


def _store(target: Any, value: Any) -> Any:
    """Rounds ``value`` into ``target``; returns the stored values, ready to compute with."""
    target.copy_(value)
    return _wide(target)


@kernel("Assign", "AssignAdd", "AssignSub", moves=True)
def _assign(call: Call, target: Any, value: Any) -> Any:
    if call.op != "Assign":
        value = target + value if call.op == "AssignAdd" else target - value
    target.copy_(value)
    return target


@kernel("Adam", wide=True)
def _adam(call: Call, variable: Any, m: Any, v: Any, *rest: Any) -> Any:
    power1, power2, rate, beta1, beta2, epsilon, gradient = rest
    rate = rate * torch.sqrt(1 - power2) / (1 - power1)
    mean = _store(m, _wide(m) * beta1 + gradient * (1 - beta1))
    spread = _store(v, _wide(v) * beta2 + gradient * gradient * (1 - beta2))
    if call.attrs.get("use_nesterov"):
        mean = mean * beta1 + (1 - beta1) * gradient
    _store(variable, _wide(variable) - rate * mean / (torch.sqrt(spread) + epsilon))
    return variable, m, v


@kernel("AdamWeightDecay", wide=True)
def _adam_weight_decay(call: Call, variable: Any, m: Any, v: Any, *rest: Any) -> Any:
    rate, beta1, beta2, epsilon, decay, gradient = rest[:6]
    mean = _store(m, _wide(m) * beta1 + gradient * (1 - beta1))
    spread = _store(v, _wide(v) * beta2 + gradient * gradient * (1 - beta2))
    step = mean / (torch.sqrt(spread) + epsilon) + decay * _wide(variable)
    _store(variable, _wide(variable) - rate * step)
    return variable, m, v


@kernel("ApplyMomentum", wide=True)
def _apply_momentum(call: Call, variable: Any, accumulation: Any, rate: Any, gradient: Any, momentum: Any) -> Any:
    """``use_nesterov`` changes nothing, as with MindSpore."""
    gradient = gradient * call.attrs.get("gradient_scale", 1.0)
    moved = _store(accumulation, _wide(accumulation) * momentum + gradient)
    _store(variable, _wide(variable) - rate * moved)
    return variable


@kernel("SGD", wide=True)
def _sgd(call: Call, parameters: Any, gradient: Any, rate: Any, accum: Any, momentum: Any, stat: Any) -> Any:
    slope = gradient + _wide(parameters) * float(call.attrs.get("weight_decay", 0.0))
    moves = momentum > 0  # asked of the device, without waiting for its answer
    kept = 1.0 - float(call.attrs.get("dampening", 0.0))
    first = (_wide(stat) > 0).to(slope.dtype)
    moved = slope * first + (_wide(accum) * momentum + slope * kept) * (1 - first)
    moved = _store(accum, torch.where(moves, moved, _wide(accum)))
    stat.copy_(torch.where(moves, torch.zeros_like(stat), stat))
    slope = torch.where(moves, slope + moved * momentum if call.attrs.get("nesterov") else moved, slope)
    _store(parameters, _wide(parameters) - rate * slope)
    return parameters


@kernel("ApplyRMSProp", "ApplyCenteredRMSProp", wide=True)
def _apply_rms_prop(call: Call, variable: Any, *rest: Any) -> Any:
    if call.op == "ApplyRMSProp":
        square, moment, rate, gradient, rho, momentum, epsilon = rest
        centre = 0
    else:
        mean, square, moment, gradient, rate, rho, momentum, epsilon = rest
        centre = _store(mean, _wide(mean) * rho + gradient * (1 - rho))
    spread = _store(square, _wide(square) * rho + gradient * gradient * (1 - rho)) - centre * centre
    moved = _store(moment, _wide(moment) * momentum + rate * gradient / torch.sqrt(spread + epsilon))
    _store(variable, _wide(variable) - moved)
    return variable


@kernel("ApplyAdagrad", wide=True)
def _apply_adagrad(call: Call, variable: Any, accumulation: Any, rate: Any, gradient: Any) -> Any:
    total = _store(accumulation, _wide(accumulation) + gradient * gradient)
    _store(variable, _wide(variable) - rate * gradient / torch.sqrt(total))
    return variable, accumulation


@kernel("ApplyAdagradV2", wide=True)
def _apply_adagrad_v2(call: Call, variable: Any, accumulation: Any, rate: Any, gradient: Any) -> Any:
    total = _wide(accumulation)
    if call.attrs["update_slots"]:
        total = _store(accumulation, total + gradient * gradient)
    _store(variable, _wide(variable) - rate * gradient / (torch.sqrt(total) + call.attrs["epsilon"]))
    return variable, accumulation


@kernel("ApplyAdadelta", wide=True)
def _apply_adadelta(call: Call, variable: Any, accumulation: Any, updates: Any, *rest: Any) -> Any:
    rate, rho, epsilon, gradient = rest
    total = _store(accumulation, _wide(accumulation) * rho + gradient * gradient * (1 - rho))
    update = torch.sqrt(_wide(updates) + epsilon) / torch.sqrt(total + epsilon) * gradient
    _store(updates, _wide(updates) * rho + update * update * (1 - rho))
    _store(variable, _wide(variable) - rate * update)
    return variable, accumulation, updates


@kernel("ApplyAdaMax", wide=True)
def _apply_ada_max(call: Call, variable: Any, m: Any, v: Any, *rest: Any) -> Any:
    power, rate, beta1, beta2, epsilon, gradient = rest
    mean = _store(m, _wide(m) * beta1 + gradient * (1 - beta1))
    most = _store(v, torch.maximum(_wide(v) * beta2, torch.abs(gradient)))
    _store(variable, _wide(variable) - rate / (1 - power) * mean / (most + epsilon))
    return variable, m, v


@kernel("ApplyFtrl", wide=True)
def _apply_ftrl(call: Call, variable: Any, accumulation: Any, linear: Any, *rest: Any) -> Any:
    gradient, rate, l1, l2, power = rest
    before = _wide(accumulation) ** -power
    after = (_wide(accumulation) + gradient * gradient) ** -power
    total = _store(linear, _wide(linear) + gradient - (after - before) / rate * _wide(variable))
    _store(accumulation, _wide(accumulation) + gradient * gradient)
    step = (l1 - total) / (after / rate + 2 * l2)
    _store(variable, torch.where(torch.abs(total) > l1, step, torch.zeros_like(step)))
    return variable


@kernel("ApplyProximalAdagrad", wide=True)
def _apply_proximal_adagrad(call: Call, variable: Any, accumulation: Any, *rest: Any) -> Any:
    rate, l1, l2, gradient = rest
    total = _store(accumulation, _wide(accumulation) + gradient * gradient)
    share = rate / torch.sqrt(total)
    step = _wide(variable) - share * gradient
    small = torch.sign(step) * torch.clamp(torch.abs(step) - share * l1, min=0)
    _store(variable, torch.where(l1 > 0, small, step) / (1 + l2 * share))
    return variable, accumulation
