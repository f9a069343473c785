"""The embedded queue: what waits, whose turn it is, and the worker processes that judge."""
