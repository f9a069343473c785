"""An example per trainer: the file that the trainer is given, which run by itself makes the trainer's call.

``python -m trainer_client.examples.NAME``, with ``make serve`` running.
"""
