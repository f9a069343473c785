"""Rows of public data sets as problems of the contract; one module per shape, each with ``problem_of(row)``.

| module | data sets |
| --- | --- |
| ``livecodebench`` | LiveCodeBench code generation (lite) |
| ``apps`` | APPS, TACO, PRIME's Eurus rows: lists of inputs and outputs |
| ``test_lists`` | DeepCoder, SYNTHETIC-1 and open-r1's verifiable problems: a list of tests |
| ``codecontests`` | CodeContests |
| ``humaneval`` | HumanEval and MBPP |
| ``leetcode`` | LeetCodeDataset |

A row that cannot be turned into tests raises :class:`ProblemError` with the field's name: a problem without its
tests, or with half of them, would reward the wrong programs.
"""
