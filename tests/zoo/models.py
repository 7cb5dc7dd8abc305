"""60 classes of models of nine libraries, small, with random weights, and what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from tests.zoo.operators import declare_operators


class Model(NamedTuple):
    """A model and its input.

    Attributes:
        library: the package it comes from.
        make: makes the module.
        given: makes its arguments, by place and by name.
    """

    library: str
    make: Callable[[], Any]
    given: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]


MODELS: dict[str, Model] = {}


def _images(size: int = 32, count: int = 2, channels: int = 3) -> Callable[[], Any]:
    return lambda: ((torch.randn(count, channels, size, size),), {})


def _ids(words: int = 50, length: int = 8, **more: Any) -> Callable[[], Any]:
    return lambda: ((), {"input_ids": torch.randint(3, words, (2, length)), **{k: v() for k, v in more.items()}})


def _add(library: str, name: str, make: Callable[[], Any], given: Callable[[], Any]) -> None:
    MODELS[f"{library}-{name}"] = Model(library, make, given)


def _torchvision() -> None:
    declare_operators()
    import torchvision.models as models

    small = {"num_classes": 4, "weights": None}
    for name, size in (
        ("resnet18", 32), ("mobilenet_v2", 32), ("mobilenet_v3_small", 32), ("shufflenet_v2_x0_5", 32),
        ("squeezenet1_1", 48), ("efficientnet_b0", 32), ("densenet121", 32), ("mnasnet0_5", 32), ("regnet_y_400mf", 32),
        ("convnext_tiny", 32), ("swin_t", 32),
    ):  # fmt: skip
        _add("torchvision", name, lambda name=name: getattr(models, name)(**small), _images(size))


def _timm() -> None:
    import timm

    sizes: dict[str, dict[str, Any]] = {
        "vit_tiny_patch16_224": {"img_size": 32, "depth": 2, "embed_dim": 32, "num_heads": 2},
        "deit_tiny_patch16_224": {"img_size": 32, "depth": 2, "embed_dim": 32, "num_heads": 2},
        "cait_xxs24_224": {"img_size": 32, "depth": 2, "embed_dim": 32, "num_heads": 2},
        "mixer_s32_224": {"img_size": 64},
        "resmlp_12_224": {"img_size": 32},
        "gmlp_ti16_224": {"img_size": 32},
        "resnet10t": {}, "mobilenetv4_conv_small": {}, "ghostnet_050": {}, "lcnet_050": {}, "tinynet_e": {},
        "efficientvit_b0": {}, "repvgg_a0": {}, "hardcorenas_a": {}, "fbnetc_100": {},
        "poolformer_s12": {}, "edgenext_xx_small": {},
    }  # fmt: skip
    for name, more in sizes.items():
        size = more.get("img_size", 64)
        _add("timm", name, lambda name=name, more=more: timm.create_model(name, num_classes=4, **more), _images(size))


def _transformers() -> None:
    import transformers as hf

    small = {
        "vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "max_position_embeddings": 32, "pad_token_id": 0,
    }  # fmt: skip
    for name in ("Bert", "Roberta", "Electra", "Albert", "DebertaV2", "MPNet", "Nystromformer", "RoFormer"):
        more = {"embedding_size": 16} if name in ("Electra", "Albert", "RoFormer") else {}
        config = getattr(hf, f"{name}Config")(**small, **more)
        _add("transformers", name.lower(), lambda name=name, config=config: getattr(hf, f"{name}Model")(config), _ids())
    for name in ("Llama", "Mistral", "Qwen2", "Gemma", "Phi", "StableLm", "Olmo", "GPTNeoX", "Falcon", "Mixtral"):
        more = {} if name in ("Phi", "GPTNeoX", "Falcon") else {"num_key_value_heads": 1}
        more |= {"head_dim": 8} if name == "Gemma" else {}
        config = getattr(hf, f"{name}Config")(**small, **more)
        kind = f"{name}ForCausalLM"
        _add("transformers", name.lower(), lambda kind=kind, config=config: getattr(hf, kind)(config), _ids())
    gpt = hf.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=32)
    _add("transformers", "gpt2", lambda: hf.GPT2LMHeadModel(gpt), _ids())
    t5 = hf.T5Config(vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0)
    both = _ids(decoder_input_ids=lambda: torch.randint(3, 50, (2, 5)))
    _add("transformers", "t5", lambda: hf.T5ForConditionalGeneration(t5), both)
    vit = hf.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=32, patch_size=8
    )
    images = lambda: ((), {"pixel_values": torch.randn(2, 3, 32, 32)})  # noqa: E731
    _add("transformers", "vit", lambda: hf.ViTModel(vit), images)


def _diffusers() -> None:
    import diffusers

    blocks = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
    unet = {"sample_size": 8, "block_out_channels": (8, 16), "layers_per_block": 1, "norm_num_groups": 4, **blocks}
    noise = lambda: ((torch.randn(2, 3, 8, 8), torch.tensor([3, 7])), {})  # noqa: E731
    _add("diffusers", "unet2d", lambda: diffusers.UNet2DModel(**unet), noise)
    vae = {"block_out_channels": (8,), "norm_num_groups": 4, "latent_channels": 2}
    _add("diffusers", "autoencoder", lambda: diffusers.AutoencoderKL(**vae), _images(8))


def _others() -> None:
    import segmentation_models_pytorch as smp
    from peft import LoraConfig, get_peft_model
    from torch_geometric import nn as graphs
    from x_transformers import Decoder, Encoder, TransformerWrapper, ViTransformerWrapper

    smp_small = {"encoder_name": "mobilenet_v2", "encoder_weights": None, "classes": 2}
    for name in ("Unet", "FPN", "Linknet", "PSPNet"):
        _add("smp", name.lower(), lambda name=name: getattr(smp, name)(**smp_small), _images(64))
    edges = torch.tensor([[0, 1, 2, 3, 3], [1, 2, 3, 0, 1]])
    nodes = lambda: ((torch.randn(4, 8), edges), {})  # noqa: E731
    for name in ("GCN", "GAT", "GraphSAGE", "GIN", "EdgeCNN"):
        _add("pyg", name.lower(), lambda name=name: getattr(graphs, name)(8, 16, 2, 3), nodes)
    words = lambda: ((torch.randint(0, 50, (2, 8)),), {})  # noqa: E731
    wrapped = {"num_tokens": 50, "max_seq_len": 16}
    _add("x-transformers", "decoder", lambda: TransformerWrapper(**wrapped, attn_layers=Decoder(
        dim=16, depth=2, heads=2, rotary_pos_emb=True, ff_glu=True)), words)  # fmt: skip
    _add("x-transformers", "encoder", lambda: TransformerWrapper(**wrapped, attn_layers=Encoder(
        dim=16, depth=2, heads=2, use_rmsnorm=True)), words)  # fmt: skip
    seen = {"image_size": 16, "patch_size": 8, "num_classes": 4}
    _add("x-transformers", "vit", lambda: ViTransformerWrapper(
        **seen, attn_layers=Encoder(dim=16, depth=2, heads=2)), _images(16))  # fmt: skip
    import transformers as hf

    llama = hf.LlamaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                           intermediate_size=32, num_key_value_heads=1)  # fmt: skip
    lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.1)
    _add("peft", "lora", lambda: get_peft_model(hf.LlamaForCausalLM(llama), lora), _ids())


def _lightning() -> None:
    import lightning

    class Tower(lightning.LightningModule):
        """A LightningModule of two towers."""

        def __init__(self) -> None:
            super().__init__()
            self.left, self.right = torch.nn.Linear(8, 16), torch.nn.Linear(8, 16)
            self.head = torch.nn.Sequential(torch.nn.LayerNorm(32), torch.nn.SiLU(), torch.nn.Linear(32, 3))

        def forward(self, x: Any) -> Any:
            return self.head(torch.cat([self.left(x), self.right(x.flip(-1))], -1))

    _add("lightning", "tower", Tower, lambda: ((torch.randn(4, 8),), {}))


_LOADERS = {
    "torchvision": _torchvision, "timm": _timm, "transformers": _transformers, "diffusers": _diffusers,
    "others": _others, "lightning": _lightning,
}  # fmt: skip


def load(*libraries: str) -> dict[str, Model]:
    """The models of some libraries, by name; of all by default. A library that is not installed raises."""
    for each in libraries or _LOADERS:
        _LOADERS[each]()
    return MODELS


#: what a run in CI takes, one or two of each library
SAMPLE = (
    "torchvision-shufflenet_v2_x0_5", "timm-vit_tiny_patch16_224", "transformers-bert", "transformers-llama",
    "diffusers-unet2d", "pyg-gat", "x-transformers-decoder", "peft-lora", "lightning-tower",
)  # fmt: skip
