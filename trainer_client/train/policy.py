"""The model that is trained, and its tokenizer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    set_seed,
)

from trainer_client.train.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from trainer_client.train.config import ModelSection, RandomModel

PAD, END, UNKNOWN = "<pad>", "<eos>", "<unk>"
HEAD_SIZE = 16


def policy_of(section: ModelSection, folder: Path, seed: int) -> tuple[str, Any]:
    """Return the folder or name of the initial model, and its tokenizer.

    A random model is written to ``folder``, so that it is loaded as any other: a reference model and vLLM need that.

    Raises:
        ConfigError: there is no such model, or its tokenizer has no end token.

    """
    if section.random is not None:
        write_random_model(section.random, folder, seed)
        name = str(folder)
    else:
        name = str(section.name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
    except (OSError, ValueError) as error:
        raise ConfigError(f"model.name: {name}: {error}") from error
    if tokenizer.eos_token is None:
        raise ConfigError(f"model.name: {name}: the tokenizer has no end token")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return name, tokenizer


def write_random_model(section: RandomModel, folder: Path, seed: int) -> None:
    """Write a Qwen3 with random weights and a tokenizer of ``section.vocabulary`` to ``folder``."""
    tokenizer = word_tokenizer(section.vocabulary)
    set_seed(seed)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=section.hidden_size,
            intermediate_size=2 * section.hidden_size,
            num_hidden_layers=section.layers,
            num_attention_heads=section.heads,
            num_key_value_heads=section.heads // 2,
            head_dim=HEAD_SIZE,
            max_position_embeddings=section.max_length,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def word_tokenizer(vocabulary: list[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer that cuts a text into the longest words of ``vocabulary``; decoding joins them again."""
    words = [PAD, END, UNKNOWN, *vocabulary]
    tokens = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token=UNKNOWN))
    longest_first = sorted(vocabulary, key=len, reverse=True)
    tokens.pre_tokenizer = pre_tokenizers.Split(Regex("|".join(map(re.escape, longest_first))), "isolated")
    tokens.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token=PAD, eos_token=END, unk_token=UNKNOWN, padding_side="left"
    )
