"""``python -m trainer_client.difficulty``: the commands where no script is installed."""

from trainer_client.difficulty.cli import difficulty

difficulty(prog_name="microcoder difficulty")
