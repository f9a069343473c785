"""A problem and two completions for the examples."""

from trainer_client import StdioCase, StdioProblem, problem_text

PROBLEM = problem_text(
    StdioProblem(
        mode="stdio",
        tests=[StdioCase(input="1 2\n", expected="3\n"), StdioCase(input="10 -4\n", expected="6\n")],
    )
)
RIGHT = "Two numbers, one sum:\n```python\na, b = map(int, input().split())\nprint(a + b)\n```"
WRONG = "It is always three.\n```python\nprint(3)\n```"
