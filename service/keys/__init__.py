"""API keys: who may call, and how much."""
