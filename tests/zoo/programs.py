"""Programs of PyTorch's libraries that train, generate and adapt models: each gives a module and what runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightning
import peft
import torch
import transformers
from accelerate import Accelerator, cpu_offload
from accelerate.state import AcceleratorState
from lightning.fabric import Fabric
from torch import nn
from torch.nn import functional as F

from tests.capture.torch.programs import Net, Program, given

CASES: dict[str, Callable[[], Program]] = {}
IDS = torch.tensor([[3, 4, 5, 6]])


def case(made: Callable[[], Program]) -> Callable[[], Program]:
    CASES[made.__name__] = made
    return made


def values(module: nn.Module) -> list[Any]:
    return [each.detach().clone() for each in module.parameters()]


# --- Lightning, accelerate -------------------------------------------------------------------------------------------


class Lit(lightning.LightningModule):
    """Trains a network; by hand, or as Lightning does."""

    def __init__(self, by_hand: bool = False) -> None:
        super().__init__()
        self.net, self.automatic_optimization = Net(), not by_hand

    def training_step(self, batch: Any, _: int) -> Any:
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        if not self.automatic_optimization:
            optimizer: Any = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        return loss

    def predict_step(self, batch: Any, _: int) -> Any:
        return self.net(batch[0])

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(self.parameters(), 1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def trainer(**options: Any) -> Any:
    quiet = dict.fromkeys(
        ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False
    )  # fmt: skip
    return lightning.Trainer(max_epochs=1, accelerator="cpu", **quiet, **options)


def batches() -> Any:
    rows = [(given() * at, torch.ones(5, 3)) for at in range(1, 5)]
    return torch.utils.data.DataLoader(rows, batch_size=None)  # type: ignore[arg-type]


def fitted(module: Lit, **options: Any) -> Program:
    def program() -> Any:
        trainer(**options).fit(module, batches())
        return values(module)

    return module, program


@case
def lightning_fit() -> Program:
    return fitted(Lit())


@case
def lightning_clipped_and_accumulated() -> Program:
    return fitted(Lit(), gradient_clip_val=0.5, accumulate_grad_batches=2)


@case
def lightning_by_hand() -> Program:
    return fitted(Lit(by_hand=True))


@case
def lightning_predict() -> Program:
    module = Lit()
    return module, lambda: trainer().predict(module, batches())


def stepped(module: nn.Module, optimizer: Any, loss: Callable[[], Any], backward: Callable[[Any], Any]) -> Program:
    def program() -> Any:
        optimizer.zero_grad()
        found = loss()
        backward(found)
        optimizer.step()
        return found.detach(), values(module)

    return module, program


@case
def fabric() -> Program:
    made, module = Fabric(accelerator="cpu", devices=1), Net()
    set_up, optimizer = made.setup(module, torch.optim.AdamW(module.parameters(), 1e-2))
    return stepped(module, optimizer, lambda: set_up(given()).square().mean(), made.backward)


def accelerated(**options: Any) -> Program:
    AcceleratorState._reset_state(True)
    made, module = Accelerator(cpu=True, **options), Net()
    prepared, optimizer = made.prepare(module, torch.optim.AdamW(module.parameters(), 1e-2))
    return stepped(module, optimizer, lambda: prepared(given()).square().mean(), made.backward)


@case
def accelerate() -> Program:
    return accelerated()


@case
def accelerate_bfloat16() -> Program:
    return accelerated(mixed_precision="bf16")


@case
def accelerate_offload() -> Program:
    module = cpu_offload(Net().eval(), execution_device=torch.device("cpu"))
    return module, lambda: module(given())


# --- models that generate --------------------------------------------------------------------------------------------

SMALL = {
    "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "vocab_size": 50, "max_position_embeddings": 32, "bos_token_id": 0, "eos_token_id": 1,
    "pad_token_id": 2,
}  # fmt: skip


def llama(**options: Any) -> Any:
    config = transformers.LlamaConfig(**SMALL, **options)
    return transformers.LlamaForCausalLM(config).eval()


def generated(module: Any, **options: Any) -> Program:
    given = {"attention_mask": torch.ones_like(IDS), "max_new_tokens": 4, **options}
    return module, lambda: module.generate(IDS, **given)


@case
def generate() -> Program:
    return generated(llama(), do_sample=False)


@case
def generate_sampled() -> Program:
    return generated(llama(), do_sample=True, top_k=5, temperature=0.7)


@case
def generate_beams() -> Program:
    return generated(llama(), num_beams=3, do_sample=False)


@case
def generate_static_cache() -> Program:
    return generated(llama(), do_sample=False, cache_implementation="static")


@case
def generate_assisted() -> Program:
    return generated(llama(), do_sample=False, assistant_model=llama())


@case
def experts() -> Program:
    config = transformers.MixtralConfig(**{**SMALL, "num_hidden_layers": 1}, num_local_experts=4)
    return trained(transformers.MixtralForCausalLM(config), output_router_logits=True)


@case
def gradient_checkpointing() -> Program:
    module = llama()
    module.gradient_checkpointing_enable()
    return trained(module, use_cache=False)


# --- adapters --------------------------------------------------------------------------------------------------------


def trained(module: Any, **options: Any) -> Program:
    optimizer = torch.optim.AdamW([each for each in module.parameters() if each.requires_grad], 1e-2)
    module.train()
    return stepped(
        module, optimizer, lambda: module(input_ids=IDS, labels=IDS, **options).loss, lambda loss: loss.backward()
    )  # fmt: skip


def adapted(config: Any) -> Program:
    return trained(peft.get_peft_model(llama(), config))


@case
def lora() -> Program:
    return adapted(peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], lora_dropout=0.1))


@case
def dora() -> Program:
    return adapted(peft.LoraConfig(r=2, target_modules=["q_proj"], use_dora=True))


@case
def prefix_tuning() -> Program:
    return adapted(peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3))


@case
def prompt_tuning() -> Program:
    return adapted(peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3))


@case
def ia3() -> Program:
    return adapted(peft.IA3Config(target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]))


@case
def merged() -> Program:
    module = peft.get_peft_model(llama(), peft.LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False))

    def program() -> Any:
        module.merge_adapter()
        found = module(input_ids=IDS).logits
        module.unmerge_adapter()
        with module.disable_adapter():
            return found, module(input_ids=IDS).logits

    return module.eval(), program
