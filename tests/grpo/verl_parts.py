"""What verl 0.9 hands to its trainers and losses: its own modules where they are installed, else stand-ins."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

HAS_VERL = importlib.util.find_spec("verl") is not None
TRAINERS = "verl.trainer.ppo.v1"
LOSSES = "verl.trainer.ppo.core_algos"


class Config(dict[str, Any]):
    """Nested settings, by attribute and by ``get``, as OmegaConf has them."""

    def __getattr__(self, name: str) -> Any:
        value = self[name]
        return Config(value) if isinstance(value, dict) else value

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name) if name in self else default


class Batch:
    """verl's KVBatchMeta: the keys of rows, and tags."""

    def __init__(self, keys: Sequence[str], tags: Sequence[dict[str, Any]]) -> None:
        self.keys, self.tags, self.partition_id = list(keys), list(tags), "train"

    def __len__(self) -> int:
        return len(self.keys)


class Queue:
    """verl's TransferQueue, in this process: columns by key."""

    def __init__(self, rows: dict[str, dict[str, Any]]) -> None:
        self.rows = rows

    def kv_batch_get(self, keys: Sequence[str], partition_id: str, select_fields: Sequence[str]) -> Any:
        assert partition_id == "train"
        found = [self.rows[key] for key in keys]
        names = [name for name in select_fields if name in found[0]]
        columns = {name: _column([row[name] for row in found]) for name in names}
        return _table(columns, len(keys))

    def kv_batch_put(self, keys: Sequence[str], partition_id: str, fields: Any) -> Batch:
        assert partition_id == "train"
        for name in fields.keys():  # noqa: SIM118 -- a TensorDict's own iteration is over rows
            assert fields[name].is_nested
            for key, value in zip(keys, fields[name].unbind(), strict=True):
                self.rows[key][name] = value
        return Batch(keys, [self.rows[key]["tag"] for key in keys])


def _column(values: list[Any]) -> Any:
    if isinstance(values[0], torch.Tensor):
        return torch.nested.as_nested_tensor(values, layout=torch.jagged)
    if HAS_VERL:
        from tensordict import NonTensorStack

        return NonTensorStack(*values)
    return values


def _table(columns: dict[str, Any], length: int) -> Any:
    if HAS_VERL:
        from tensordict import TensorDict

        return TensorDict(columns, batch_size=length)
    return columns


class StandInTrainer:
    """PPOTrainerSync, as far as its subclasses see it; ``queue`` is the tests' own."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.trainer_mode = config.trainer.v1.trainer_mode

    def _compute_advantage(self, batch: Batch, metrics: dict[str, Any]) -> Batch:
        metrics["verl"] = 1
        queue = sys.modules["transfer_queue"]
        data = queue.kv_batch_get(batch.keys, batch.partition_id, ["rm_scores", "response_mask"])
        rows = [
            scores.sum() * mask
            for scores, mask in zip(data["rm_scores"].unbind(), data["response_mask"].unbind(), strict=True)
        ]
        fields = {"advantages": torch.nested.as_nested_tensor(rows, layout=torch.jagged)}
        returned: Batch = queue.kv_batch_put(batch.keys, batch.partition_id, fields)
        return returned


def install(monkeypatch: pytest.MonkeyPatch, queue: Queue) -> dict[str, Any]:
    """Give the modules of ours that import verl, on verl or on stand-ins, with ``queue`` in the queue's place.

    Returns what they registered, by ``trainer`` and ``loss``.
    """
    if not HAS_VERL:
        _stand_in(monkeypatch)
    queue_module = importlib.import_module("transfer_queue")
    monkeypatch.setattr(queue_module, "kv_batch_get", queue.kv_batch_get, raising=False)
    monkeypatch.setattr(queue_module, "kv_batch_put", queue.kv_batch_put, raising=False)
    for name in ("verl_trainer", "verl_loss"):
        importlib.import_module(f"trainer_client.grpo.{name}")
    trainers, losses = (importlib.import_module(name) for name in (TRAINERS, LOSSES))
    if HAS_VERL:
        monkeypatch.setattr(trainers.PPOTrainerSync, "__init__", StandInTrainer.__init__)
        return {
            "trainer": trainers.get_trainer_cls("microcoder"),
            "loss": losses.get_policy_loss_fn("microcoder"),
        }
    return {"trainer": trainers.registered["microcoder"], "loss": losses.registered["microcoder"]}


def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (TRAINERS, LOSSES, "transfer_queue", "tensordict"):
        parts = path.split(".")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            if name not in sys.modules:
                monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name in ("verl_trainer", "verl_loss"):
        monkeypatch.delitem(sys.modules, f"trainer_client.grpo.{name}", raising=False)
    modules: dict[str, Any] = dict(sys.modules)
    modules["tensordict"].TensorDict = lambda fields, batch_size: fields if batch_size else {}
    modules[TRAINERS].PPOTrainerSync = StandInTrainer
    for path, method in ((TRAINERS, "register_trainer"), (LOSSES, "register_policy_loss")):
        modules[path].registered = {}
        setattr(modules[path], method, _register(modules[path].registered))


def _register(registered: dict[str, Any]) -> Callable[[str], Callable[[Any], Any]]:
    return lambda name: lambda one: registered.setdefault(name, one)


def trainer_of(trainer_class: Any, eos: int, **changes: Any) -> Any:
    """Return a trainer with verl's settings and ``changes`` of them, by section."""
    config: dict[str, Any] = {
        "algorithm": {
            "adv_estimator": "grpo", "use_kl_in_reward": False, "norm_adv_by_std_in_grpo": True,
            "gamma": 1.0, "lam": 1.0,
        },
        "actor_rollout_ref": {"rollout": {"response_length": 6, "n": 4}},
        "trainer": {"v1": {"trainer_mode": "microcoder"}, "microcoder": {"rho": 1.0, "repeat_tokens": 2}},
    }  # fmt: skip
    for section, values in changes.items():
        config[section] = config[section] | values
    trainer = trainer_class(Config(config))
    trainer.tokenizer = SimpleNamespace(eos_token_id=eos)
    trainer.global_steps, trainer.local_trigger_step = 7, 0
    return trainer
