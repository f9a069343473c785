"""Warm Python: zygotes that fork a process for each program, and the two ways in which it runs tests."""
