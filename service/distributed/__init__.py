"""Judging through Redis and RQ: API processes enqueue, worker pools on any number of machines judge."""
