"""GRPO with TRL on a tiny model that is made on the spot: the reward comes from the service.

``pip install 'microcoder-evaluator[trl]'``; a CPU is enough for this one.
"""

import tempfile

from datasets import Dataset
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from trainer_client.adapters.trl import EvaluatorReward
from trainer_client.examples.sums import PROBLEM

reward = EvaluatorReward("http://127.0.0.1:8000")


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of single characters."""
    characters = "\n abcdefghijklmnopqrstuvwxyz0123456789+-*/=().,:`"
    words = ["<pad>", "<eos>", "<unk>", *characters]
    tokenizer = Tokenizer(
        models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="left",
    )


def tiny_model(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """Return a model of some ten thousand parameters."""
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            max_position_embeddings=256,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def main() -> None:
    """Train for two steps and print what was logged."""
    tokenizer = tiny_tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=tiny_model(tokenizer),
            reward_funcs=reward,
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=4,
                num_generations=4,
                max_completion_length=16,
                max_steps=2,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                disable_tqdm=True,
            ),
            train_dataset=Dataset.from_list([{"prompt": "print the sum\n", "problem": PROBLEM}] * 8),
            processing_class=tokenizer,
        )
        trainer.train()
    for step in trainer.state.log_history:
        print({name: value for name, value in step.items() if name.startswith(("evaluator/", "reward"))})


if __name__ == "__main__":
    main()
