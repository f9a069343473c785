"""Rows of public data sets as problems of the contract; one module per shape, each with ``problem_of(row)``.

The readers themselves are :mod:`service.datasets`, the ones that audits use: what is measured there is what is rewarded
here. A row that cannot be turned into tests raises :class:`ProblemError` with the field's name: a problem without its
tests, or with half of them, would reward the wrong programs.
"""
