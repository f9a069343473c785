"""``python -m service.cli``: the command line where no script is installed."""

from service.cli import main

main(prog_name="microcoder")
