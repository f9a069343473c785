"""What runs inside a container of the ``docker`` sandbox, besides the harness. Standard library only.

Two processes that never run a program's text: ``first.py``, which becomes the harness, and ``bridge.py``, under
another user id, which turns frames on its standard input into the descriptors that a harness works with.
"""
