"""Limits by control group, of either version, where this process may make groups."""
