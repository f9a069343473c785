"""The conditional truncation mask: some of the completions that were cut off are neither rewarded nor punished.

    mask_i = [|o_i| = L_max] and [non-incorrect(o_i)] and [not repeat(o_i, m)] and [u_i < rho],   u_i ~ U(0, 1)

(arXiv 2603.07777.) The caller sets the advantages of masked samples to 0; they stay in the mean and the deviation
of their group and in the number of tokens of the batch, as in the paper's formula.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch

from service.wire import Verdict
from trainer_client.grpo.repeats import REPEAT_TOKENS, tail_repeats

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from torch import Tensor


class NonIncorrect(StrEnum):
    """What "the answer is not wrong" means: the paper's word has two readings, and this is a setting."""

    CORRECT = "correct"
    """The published one ("correct answers"): AC."""
    CORRECT_OR_UNANSWERED = "correct_or_unanswered"
    """Also where the cut came before an answer: NC (no program), or CE (a program that does not parse, because
    the cut went through it)."""


_NON_INCORRECT: Mapping[NonIncorrect, frozenset[Verdict]] = MappingProxyType(
    {
        NonIncorrect.CORRECT: frozenset({Verdict.AC}),
        NonIncorrect.CORRECT_OR_UNANSWERED: frozenset({Verdict.AC, Verdict.NC, Verdict.CE}),
    }
)
_JUDGED = frozenset(Verdict) - {Verdict.SKIPPED}


@dataclass(frozen=True, slots=True)
class TruncationDraw:
    """One draw; every field a bool tensor (B,) on the CPU."""

    truncated: Tensor
    """|o_i| = L_max, or what the trainer says."""
    non_incorrect: Tensor
    not_repeating: Tensor
    drawn: Tensor
    """u_i < rho."""
    eligible: Tensor
    """The first three."""
    masked: Tensor
    """All four: the samples whose advantage becomes 0."""


class TruncationMask:
    """Draws the mask with a generator of its own, so that nothing else that is random changes it.

    Every sample takes one number of the generator, whether it is eligible or not: a mask depends on its place in
    the order of draws alone. On several ranks each has an instance of its own with a seed of its own.
    """

    def __init__(
        self,
        max_length: int,
        rho: float = 0.3,
        repeat_tokens: int = REPEAT_TOKENS,
        non_incorrect: NonIncorrect = NonIncorrect.CORRECT,
        seed: int = 0,
        *,
        end_ids: Collection[int] = (),
    ) -> None:
        """Set up.

        Args:
            max_length: L_max in tokens; :attr:`max_length` may be set anew when a stage changes it.
            rho: share of the eligible samples that is masked, in [0, 1]; the paper's is 0.3.
            repeat_tokens: m.
            non_incorrect: which verdicts count as not wrong.
            seed: of the generator.
            end_ids: tokens that end a completion by themselves (end of sequence, padding): a completion whose last
                token is one of them was not cut off, even where it is as long as allowed. Without them the length
                decides alone.

        Raises:
            ValueError: a setting is out of range.

        """
        if not 0 <= rho <= 1:
            raise ValueError(f"rho must be in [0, 1], not {rho}")
        if repeat_tokens < 1:
            raise ValueError(f"repeat_tokens must be at least 1, not {repeat_tokens}")
        self.max_length = max_length
        self.rho = rho
        self.repeat_tokens = repeat_tokens
        self.non_incorrect = NonIncorrect(non_incorrect)
        self.end_ids = frozenset(end_ids)
        self._seed = seed
        self._generator = torch.Generator().manual_seed(seed)

    @property
    def max_length(self) -> int:
        """L_max, tokens."""
        return self._max_length

    @max_length.setter
    def max_length(self, value: int) -> None:
        if value < 1:
            raise ValueError(f"max_length must be at least 1, not {value}")
        self._max_length = value

    def draw(
        self,
        completion_ids: Sequence[Sequence[int]],
        verdicts: Sequence[str | None],
        cut_off: Sequence[bool] | None = None,
    ) -> TruncationDraw:
        """Return which of B samples are masked, and on which conditions.

        Args:
            completion_ids: B completions, without prompt and padding.
            verdicts: of the service, in the same order; ``IE`` or None where nobody could judge, which is never
                eligible.
            cut_off: which were cut off, where the trainer knows it; it then decides instead of the length.

        Raises:
            ValueError: lengths differ, a completion is longer than ``max_length`` (without ``cut_off``), or a
                verdict is none of a submission's.

        """
        if not len(completion_ids) == len(verdicts) == len(verdicts if cut_off is None else cut_off):
            raise ValueError("completion_ids, verdicts and cut_off must have the same length")
        truncated = _bools(map(self._truncated, completion_ids) if cut_off is None else cut_off)
        non_incorrect = _bools(self._non_incorrect(verdict) for verdict in verdicts)
        not_repeating = _bools(not tail_repeats(ids, self.repeat_tokens) for ids in completion_ids)
        drawn = torch.rand(len(verdicts), generator=self._generator, dtype=torch.float64) < self.rho
        eligible = truncated & non_incorrect & not_repeating
        return TruncationDraw(
            truncated=truncated,
            non_incorrect=non_incorrect,
            not_repeating=not_repeating,
            drawn=drawn,
            eligible=eligible,
            masked=eligible & drawn,
        )

    def reseed(self, *numbers: int) -> None:
        """Start the generator anew from the seed and ``numbers``, such as step and rank.

        For trainers whose checkpoints have no place for :meth:`state_dict`: a resumed run knows its step.
        """
        # Hashed, because the generator's own seeding uses 32 bits and would take many of these for the same.
        digest = hashlib.sha256(repr((self._seed, *numbers)).encode()).digest()
        self._generator.manual_seed(int.from_bytes(digest[:4]))

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the generator, for a checkpoint: a tensor of bytes, loadable with weights_only."""
        return {"generator": self._generator.get_state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken. Settings are not part of it.

        Raises:
            ValueError: ``state`` is not of this class.

        """
        if set(state) != {"generator"}:
            raise ValueError(f"the state of a TruncationMask has the key 'generator', not {sorted(state)}")
        # Loading a checkpoint onto a device moves the bytes there; the generator stays on the CPU.
        self._generator.set_state(state["generator"].cpu())

    def _truncated(self, ids: Sequence[int]) -> bool:
        if len(ids) > self.max_length:
            raise ValueError(
                f"completion_ids: a completion of {len(ids)} tokens is longer than max_length={self.max_length}"
            )
        return len(ids) == self.max_length and ids[-1] not in self.end_ids

    def _non_incorrect(self, verdict: str | None) -> bool:
        if verdict is None:
            return False
        if verdict not in _JUDGED:
            raise ValueError(f"verdicts: {verdict!r} is no verdict of a submission")
        return verdict in _NON_INCORRECT[self.non_incorrect]


def _bools(values: Iterable[bool]) -> Tensor:
    return torch.tensor(list(values), dtype=torch.bool)
