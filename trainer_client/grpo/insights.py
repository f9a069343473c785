"""The published observations that warnings and refusals name, in words of ours (MicroCoder-Insights, arXiv 2603.07777).

Only those that a trainer can check are here.
"""

from __future__ import annotations

from enum import StrEnum


class Insight(StrEnum):
    """One observation each; the value is what it says."""

    START_BELOW_LEVEL = (
        "a run whose diversity starts below the level to which diversity converges ends in collapse"
    )
    LOW_TEMPERATURE = "current models can fail at a temperature of 0.6, and are stable up to 1.8"
    BY_DIVERSITY = "the right temperature is the one whose diversity neither keeps falling nor swings"
    LOW_THEN_HIGH = "a low temperature first and a high one later beats the high one from the start"
    RAMP = "a gradual change of the temperature, even a short one, shifts diversity irreversibly"
    LONG_CONTEXT = "a longer maximum output gives higher accuracy, faster growth and more diversity"
    SMALL_FIRST_MAXIMUM = (
        "a small first maximum length does damage that a later extension does not undo, "
        "the more the longer it lasted"
    )
    MASK_SHARE = "a higher mask share peaks earlier and lower; full masking collapses"
    LENGTH_GROWTH = "outputs of a healthy run grow in length, and masking truncated ones speeds that up"
    HARD_DATA = "harder data lowers the training reward and raises test accuracy and length"
    HIDDEN_STALL = "a rising training reward can hide that nothing generalises"
    KL = "KL lowers diversity and caps the length; performance rises and then falls"
    KL_WITH_SYMMETRIC_CLIP = (
        "KL with a symmetric clip lowers diversity and caps the length, and performance rises, then falls; "
        "no KL with a higher upper clip sustains it"
    )
