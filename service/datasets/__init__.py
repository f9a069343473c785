"""Rows of public data sets as problems of the contract; one module per shape, each with ``problem_of(row)``.

| module | data sets |
| --- | --- |
| ``livecodebench`` | LiveCodeBench code generation (lite) |
| ``apps`` | APPS, TACO, PRIME's Eurus rows: lists of inputs and outputs |
| ``test_lists`` | DeepCoder, SYNTHETIC-1, open-r1's verifiable problems: a list of tests |
| ``verl`` | what verl hands to reward functions: tests of either make |
| ``codecontests`` | CodeContests |
| ``humaneval`` | HumanEval and MBPP |
| ``leetcode`` | LeetCodeDataset |

A row that cannot be turned into tests raises :class:`~service.datasets.values.RowError` with the field's name: a
problem without its tests, or with half of them, would reward the wrong programs.

Rewards and audits have to read a row alike, so the client has these readers too; nothing here needs more than the
client's own dependencies.
"""
