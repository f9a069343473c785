"""The HTTP side: bodies in, answers out; knows the queue, not the judging."""
