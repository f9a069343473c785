"""The OpenAPI description of bodies that the service reads itself, past FastAPI's validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from service.http.audits.request import AuditRequest
from service.wire import AssertProblem, Batch, CallProblem, ProblemDetail, StdioProblem, Submission

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pydantic import BaseModel

_REFERENCE = "#/components/schemas/{model}"

_ERRORS = {
    400: "The body cannot be read",
    401: "An API key is needed",
    404: "Unknown problem, or unknown job",
    409: "Another problem has the id",
    413: "The body is too large",
    415: "Unsupported content type or encoding",
    422: "Fields are invalid",
    429: "The queue is full; see Retry-After",
    503: "Not ready; see Retry-After",
}

DESCRIBED: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "content": {
            "application/problem+json": {"schema": {"$ref": _REFERENCE.format(model="ProblemDetail")}}
        },
    }
    for status, description in _ERRORS.items()
}


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 256},
    "description": "A repeated call with the same key and body gets the first call's answer.",
}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a required JSON body of type ``model``, sent once or under an idempotency key."""
    schema = {"$ref": _REFERENCE.format(model=model.__name__)}
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "parameters": [_IDEMPOTENCY_KEY],
    }


def problem_body() -> dict[str, Any]:
    """Return the description of a body that is a problem of one of the modes."""
    models = (StdioProblem, CallProblem, AssertProblem)
    schema = {"oneOf": [{"$ref": _REFERENCE.format(model=model.__name__)} for model in models]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def install(app: FastAPI) -> None:
    """Let ``app`` describe the models that its bodies and errors refer to."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            _, definitions = models_json_schema(
                [(model, "validation") for model in (Submission, Batch, AuditRequest, ProblemDetail)],
                ref_template=_REFERENCE,
            )
            schema.setdefault("components", {}).setdefault("schemas", {}).update(definitions["$defs"])
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]
