"""Harnesses in Docker containers instead of jails: the trusted side."""
