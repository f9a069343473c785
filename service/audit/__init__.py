"""Measures how often comparison profiles are right on submissions whose right verdict is known.

``engine.audit`` is the one entry: items in, every program run once, every profile applied to the same outputs, a
report out. ``sources`` reads items from data sets, ``page`` shows a report, ``changes`` compares two of them.
"""
