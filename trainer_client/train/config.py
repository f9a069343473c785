"""The configuration of a run.

A step is one rollout: ``rollout.prompts`` prompts with ``rollout.group_size`` completions each, which are then learnt
from in one update or several. Steps of stages, evaluations and checkpoints count these, as in the paper's figures.
Units are in the names; tokens where nothing is said.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from trainer_client.config import ClientConfig
from trainer_client.grpo.diversity import METRICS
from trainer_client.grpo.health import HealthThresholds
from trainer_client.grpo.schedule import Stage, StagedSchedule
from trainer_client.train.algorithm import AlgorithmSection
from trainer_client.train.section import Section

DataFormat = Literal[
    "problems",
    "apps",
    "codecontests",
    "humaneval",
    "leetcode",
    "livecodebench",
    "mbpp",
    "test_lists",
    "verl",
]


def _beside_the_file(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    path = path if path.is_absolute() or folder is None else folder / path
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return path


InputFile = Annotated[Path, AfterValidator(_beside_the_file)]
Count = Annotated[int, Field(ge=1)]


class RandomModel(Section):
    """A Qwen3 with random weights and a tokenizer of whole words, to try a set-up on a CPU."""

    vocabulary: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    """The tokens besides padding, end and unknown; a text is cut into the longest of them."""
    hidden_size: Count = 64
    layers: Count = 2
    heads: Count = 4
    max_length: Count = 64
    """Most tokens of prompt and completion."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.vocabulary)) < len(self.vocabulary):
            raise ValueError("vocabulary: a token stands twice")
        if self.heads % 2 or self.hidden_size % self.heads:
            raise ValueError("heads: must be even and divide hidden_size")
        return self


class ModelSection(Section):
    """The policy: ``name`` is a folder or a name at the Hugging Face hub; or ``random``."""

    name: str | None = None
    random: RandomModel | None = None
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Of the weights; with ``update.bf16`` computing is in bfloat16 all the same."""
    attention: str | None = None
    """``flash_attention_2``, ``sdpa``, ...; None: what transformers chooses."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.name is None) == (self.random is None):
            raise ValueError("give exactly one of `name` and `random`")
        return self


class DataSection(Section):
    """Files of problems, JSON lines or Parquet."""

    train: InputFile
    heldout: InputFile | None = None
    """Problems that are never trained on; the model's accuracy on them is measured as training goes on."""
    format: DataFormat = "problems"
    """``problems``: rows with ``prompt`` and ``problem``; else the shape of a public data set."""
    prompt_field: str = "prompt"
    """The field with the text for the model: text, or a list of chat messages."""
    instruction: str | None = Field(None, pattern=r"\{prompt\}")
    """Text around the prompt, which stands where ``{prompt}`` is."""
    chat: bool = False
    """Put prompts that are text into a user's message, for the chat template of the tokenizer."""
    max_prompt_length: Count = 2048
    """Longer prompts are left out, and counted in the log."""


class EvaluatorSection(ClientConfig):
    """The service and how to call it: the settings of :class:`trainer_client.ClientConfig`."""

    api_key_file: InputFile | None = None
    """File with the API key, so that no key stands in the configuration."""

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if self.api_key is not None and self.api_key_file is not None:
            raise ValueError("give at most one of `api_key` and `api_key_file`")
        return self


class VllmSection(Section):
    """Rollouts by vLLM: in the trainer's processes, or by a server beside them."""

    mode: Literal["colocate", "server"] = "colocate"
    server_url: str | None = None
    """Of ``vllm serve MODEL --logprobs-mode processed_logprobs``."""
    tensor_parallel_size: Count = 1
    gpu_memory_utilization: float = Field(0.4, gt=0, le=1)
    sleep: bool = True
    """Colocated: vLLM gives its memory back while the policy is updated."""

    @model_validator(mode="after")
    def _where(self) -> Self:
        if (self.mode == "server") != (self.server_url is not None):
            raise ValueError("server_url: needed in mode server, and there only")
        return self


class StageItem(Section):
    """From ``step`` on: the sampling temperature and the most tokens of a completion."""

    step: int = Field(0, ge=0)
    temperature: float = Field(gt=0)
    max_completion_length: Annotated[int, Field(ge=2)]


class RolloutSection(Section):
    """How completions are sampled."""

    prompts: Count
    """Prompts of a step."""
    group_size: Annotated[int, Field(ge=2)] = 8
    """Completions of a prompt."""
    stages: Annotated[list[StageItem], Field(min_length=1)]
    """One for a constant temperature; more for the staged schedule: jumps, never a ramp."""
    top_p: float = Field(1.0, gt=0, le=1)
    diversity: str = "bigram_jaccard"
    """Metric of the diversity within groups."""
    vllm: VllmSection | None = None
    """Without it, transformers samples: slow, but everywhere."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.diversity not in METRICS:
            raise ValueError(f"diversity: {self.diversity!r} is none of {', '.join(METRICS)}")
        self.schedule()
        return self

    def schedule(self) -> StagedSchedule:
        """Return the stages as a schedule.

        Raises:
            ValueError: they are not in order, or a ramp.

        """
        return StagedSchedule(
            [Stage(one.step, one.temperature, one.max_completion_length) for one in self.stages]
        )

    @property
    def longest_completion(self) -> int:
        """Return the most tokens of a completion in any stage."""
        return max(one.max_completion_length for one in self.stages)


class UpdateSection(Section):
    """How the policy is updated."""

    prompts: Count | None = None
    """Prompts of an update; fewer than those of a step make several updates, the later ones off-policy."""
    completions_per_device: Count = 8
    """Completions that a device computes at once."""
    learning_rate: float = Field(1e-6, gt=0)
    warmup_steps: int = Field(0, ge=0)
    """Steps in which the learning rate rises from 0."""
    learning_rate_schedule: Literal["constant_with_warmup", "cosine", "linear"] = "constant_with_warmup"
    weight_decay: float = Field(0.0, ge=0)
    max_grad_norm: float = Field(1.0, gt=0)
    gradient_checkpointing: bool = True
    bf16: bool = True


class EvaluationSection(Section):
    """Accuracy on the held-out problems."""

    every: Count
    """Steps from one measurement to the next; the first is before training, the last after it."""
    samples: Count = 1
    """Completions of each problem; the accuracy is the share of accepted ones."""
    temperature: float | None = Field(None, gt=0)
    """None: that of the stage."""
    completions_per_device: Count = 8


class RunSection(Section):
    """Length, place and machine of a run."""

    output: Path
    """Folder for log, curves, checkpoints and the final model, from the current folder."""
    steps: Count
    seed: int = Field(0, ge=0, lt=2**31)
    save_every: Count = 50
    """Steps from one checkpoint to the next; a run can be resumed at them."""
    keep_checkpoints: Count = 2
    cpu: bool = False
    """Train without a GPU."""
    deepspeed: InputFile | None = None
    """DeepSpeed's configuration; FSDP is configured by ``accelerate launch``."""
    trl: dict[str, Any] = Field(default_factory=dict)
    """Further fields of TRL's GRPOConfig that no other section sets."""


class TrainConfig(Section):
    """A run of ``microcoder train``."""

    model: ModelSection
    data: DataSection
    evaluator: EvaluatorSection
    rollout: RolloutSection
    run: RunSection
    algorithm: AlgorithmSection = Field(default_factory=lambda: AlgorithmSection.model_validate({}))
    update: UpdateSection = UpdateSection()
    evaluation: EvaluationSection | None = None
    health: HealthThresholds = HealthThresholds()
    """Where warnings begin; those of diversity hold for one metric only."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.evaluation is not None and self.data.heldout is None:
            raise ValueError("evaluation: needs data.heldout")
        if self.rollout.prompts % self.prompts_per_update:
            raise ValueError(
                f"update.prompts: {self.prompts_per_update} does not divide rollout.prompts ({self.rollout.prompts})"
            )
        if self.run.cpu and (self.update.bf16 or self.rollout.vllm is not None):
            raise ValueError("run.cpu: needs update.bf16: false, and no rollout.vllm")
        return self

    @property
    def prompts_per_update(self) -> int:
        """Return how many prompts an update learns from."""
        return self.update.prompts or self.rollout.prompts

    @property
    def updates_per_step(self) -> int:
        """Return how many updates follow a rollout."""
        return self.rollout.prompts // self.prompts_per_update
