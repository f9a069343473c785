"""Compares what programs print or return with what is expected: text, numbers, structures; nothing else."""

from comparators.chain import compare
from comparators.comparison import Comparison, Rules
from comparators.profiles import PROFILES, Profile

__all__ = ["PROFILES", "Comparison", "Profile", "Rules", "compare"]
