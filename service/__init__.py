"""The service: HTTP, queue and the core that judges; importing the package itself loads nothing."""
