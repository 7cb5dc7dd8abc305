"""Small random models of torchvision and transformers, as ``torch_faults`` draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.zoo.operators import declare_operators

Made = tuple[Any, tuple[Any, ...]]
_SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 32,
}  # fmt: skip
_WORDS = 61


def _pictures(count: int, size: int) -> Any:
    return torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(3))


def _vision(name: str, size: int = 32, **more: Any) -> Callable[[], Made]:
    def make() -> Made:
        declare_operators()
        import torchvision

        return getattr(torchvision.models, name)(num_classes=5, **more), (_pictures(3, size),)

    return make


def _text(name: str, config: str, **more: Any) -> Callable[[], Made]:
    def make() -> Made:
        import transformers

        made = getattr(transformers, name)(getattr(transformers, config)(vocab_size=_WORDS, **more))
        return made, ((torch.arange(18).reshape(2, 9) * 17 + 3) % _WORDS,)

    return make


def _transformer() -> Made:
    inputs = [torch.linspace(-1, 1, 2 * n * 16).reshape(2, n, 16).sin() for n in (5, 4)]
    return torch.nn.Transformer(16, 2, 1, 1, 32, batch_first=True), tuple(inputs)


MODELS: dict[str, Callable[[], Made]] = {
    "squeezenet": _vision("squeezenet1_1", 64), "resnet": _vision("resnet18"), "mnasnet": _vision("mnasnet0_5"),
    "bert": _text("BertForSequenceClassification", "BertConfig", **_SMALL),
    "gpt2": _text("GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, n_positions=32),
    "llama": _text("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=2, **_SMALL),
    "qwen2": _text("Qwen2ForCausalLM", "Qwen2Config", num_key_value_heads=2, **_SMALL),
    "gemma": _text("GemmaForCausalLM", "GemmaConfig", head_dim=8, num_key_value_heads=2, **_SMALL),
    "roberta": _text("RobertaModel", "RobertaConfig", **_SMALL),
    "albert": _text("AlbertModel", "AlbertConfig", embedding_size=16, **_SMALL),
    "distilbert": _text("DistilBertModel", "DistilBertConfig", dim=32, n_layers=2, n_heads=4, hidden_dim=48,
                        max_position_embeddings=32),
    "t5": _text("T5EncoderModel", "T5Config", d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4),
    "transformer": _transformer,
}  # fmt: skip


def fresh_models(most: int = 3_000_000) -> dict[str, Callable[[], Made]]:
    """Models of torchvision, timm and transformers that no cause was built on, with at most so many parameters."""
    from tests.zoo.models import load

    def made(model: Any) -> Callable[[], Made]:
        def make() -> Made:
            network = model.make()
            if sum(each.numel() for each in network.parameters()) > most:
                raise ValueError("too large")
            args, kwargs = model.given()
            return network, (*args, *kwargs.values())

        return make

    known = ("resnet", "squeezenet", "mnasnet", *MODELS)
    return {
        name: made(model) for name, model in load("torchvision", "timm", "transformers").items()
        if name.partition("-")[2].partition("1")[0].partition("_")[0] not in known
    }  # fmt: skip


def loss_of(output: Any, total: bool = False) -> Any:
    """A number that depends on the first floating-point tensor that a model gives.

    Args:
        total: a sum in place of a mean.
    """
    found: list[Any] = []

    def walk(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            if value.is_floating_point() and value.requires_grad:
                found.append(value)
        elif isinstance(value, (list, tuple)):
            for each in value:
                walk(each)
        elif hasattr(value, "values"):
            for each in value.values():
                walk(each)

    walk(output)
    first = found[0]
    weights = torch.linspace(-1, 1, first.numel()).reshape(first.shape)
    if total:
        return (first * weights).sum() + first.square().mean() * 0.1
    return (first * weights).mean() + first.square().mean() * 0.1
