"""A resources server of NeMo Gym, the ``app.py`` of its folder; needs nemo-gym.

A row's ``verifier_metadata`` has the field ``problem``.
"""

from typing import Any

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseRunRequest,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)

from trainer_client.adapters.nemo_gym import NemoGymReward

evaluator = NemoGymReward("http://127.0.0.1:8000")


class SumsRunRequest(BaseRunRequest):
    """What a rollout starts with."""

    verifier_metadata: dict[str, Any]


class SumsVerifyRequest(SumsRunRequest, BaseVerifyRequest):
    """A rollout to be judged."""


class SumsVerifyResponse(BaseVerifyResponse):
    """The same with its reward, and whether to leave it out."""

    mask_sample: bool
    instance_config: dict[str, bool]
    evaluator: dict[str, Any]


class SumsServer(SimpleResourcesServer):
    """Asks the service."""

    config: BaseResourcesServerConfig

    async def verify(self, body: SumsVerifyRequest) -> SumsVerifyResponse:
        """Judge the rollout's output."""
        fields = await evaluator.verification(body.response.output_text, body.verifier_metadata["problem"])
        return SumsVerifyResponse(**body.model_dump(), **fields)


if __name__ == "__main__":
    SumsServer.run_webserver()
