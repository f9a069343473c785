"""The commands of ``microcoder difficulty``, one module each; what they do is in the package above."""
