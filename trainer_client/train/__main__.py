"""``python -m trainer_client.train CONFIG``, for launchers such as ``accelerate launch -m``."""

from trainer_client.train.cli import train

train(prog_name="microcoder train")
