"""The client by itself: judgements, rewards, and what a failure looks like."""

from trainer_client import EvaluatorClient, StdioCase, StdioProblem, Submission
from trainer_client.examples.sums import PROBLEM, RIGHT, WRONG

with EvaluatorClient("http://127.0.0.1:8000") as client:
    print(client.rewards([RIGHT, WRONG], [PROBLEM, PROBLEM]))

    problem = StdioProblem(mode="stdio", tests=[StdioCase(input="2\n", expected="4\n")])
    judgement = client.evaluate(Submission(code="print(int(input()) + 1)", problem=problem))
    print(judgement.verdict, judgement.message)
