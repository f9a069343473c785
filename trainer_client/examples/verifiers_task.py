"""A task set of verifiers, for ``prime-rl`` and ``eval``; needs verifiers."""

import asyncio
from collections.abc import Iterable

import verifiers.v1 as vf

from trainer_client.adapters.verifiers import VerifiersReward
from trainer_client.examples.sums import PROBLEM, RIGHT, WRONG

evaluator = VerifiersReward("http://127.0.0.1:8000")


class SumsData(vf.TaskData):
    """A prompt with its problem."""

    problem: str


class SumsTask(vf.Task[SumsData]):
    """Rewards programs that the service accepts."""

    @vf.reward
    async def accepted(self, task: SumsData, trace: vf.Trace) -> float:
        """Return the service's reward; what it raises is recorded on the trace."""
        return await evaluator.reward(task, trace)


class SumsTaskset(vf.Taskset[SumsTask, vf.TasksetConfig]):
    """One task."""

    def load(self) -> Iterable[SumsTask]:
        """Yield the tasks."""
        yield SumsTask(SumsData(idx=0, prompt="Add two numbers.", problem=PROBLEM))


async def main() -> None:
    """Score two replies."""
    (task,) = SumsTaskset(vf.TasksetConfig())
    for text in (RIGHT, WRONG):
        trace = vf.Trace(
            task=vf.TraceTask(type="SumsTask", data=task.data, key=task.key, hash=task.hash),
            agent=vf.AgentInfo(config=vf.AgentConfig(), name="example", trainable=False),
            root_reply=text,
        )
        await task.score(trace)
        print(trace.rewards, trace.metrics)
    await evaluator.aclose()


if __name__ == "__main__":
    asyncio.run(main())
