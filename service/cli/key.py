"""``microcoder key``: a new API key, and what to configure so that it is accepted."""

from __future__ import annotations

import click

from service.keys.ring import new_key


@click.command()
@click.argument("name")
def key(name: str) -> None:
    """Make an API key called NAME. Nothing keeps the key: give it to its caller now."""
    if not name.replace("-", "").replace(".", "").replace("_", "").isalnum() or not name.isascii():
        raise click.UsageError("NAME: has letters, digits, dots, hyphens and underscores only")
    secret, entry = new_key(name)
    click.echo(f"key, for its caller:                 {secret}")
    click.echo(f"entry, for MICROCODER_API_KEYS:      {entry}")
