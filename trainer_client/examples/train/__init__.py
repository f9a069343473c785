"""Configurations for ``microcoder train``: ``cpu.yaml`` learns within minutes on two cores, the others need GPUs."""
