"""A reader process: parses and validates large bodies, so that the service's event loop never waits for one.

A thread would not do: the parser and the validator hold the interpreter lock for a whole body, seconds for
the largest. Frames in: one :class:`~service.intake.Rules`, then per body its shape and the body. Frames out
per body: an :class:`Outcome`, then its problems in the order of ``Outcome.problems``.

Started as ``python -m service.http.reader DESCRIPTOR``.
"""

from typing import Self

from pydantic import BaseModel, ConfigDict, TypeAdapter

from service.errors import ClientError, InvalidFieldsError, MalformedBodyError
from service.intake import Intake, Item, Rules, Shape, take_in
from service.processes.child import run_child
from service.processes.frames import Blob, Channel
from service.wire import ErrorDetail

_SHAPE: TypeAdapter[Shape] = TypeAdapter(Shape)


class Outcome(BaseModel):
    """What became of a body: its items and the keys of its problems, or the error that it has."""

    model_config = ConfigDict(cache_strings="keys")

    items: list[Item] = []
    problems: list[str] = []
    malformed: str | None = None
    invalid: list[ErrorDetail] | None = None
    invalid_total: int = 0

    @classmethod
    def of_error(cls, error: ClientError) -> Self:
        """Return what tells of ``error``, which is one that :func:`~service.intake.take_in` raises."""
        match error:
            case InvalidFieldsError():
                return cls(invalid=error.errors, invalid_total=error.total)
            case _:
                return cls(malformed=str(error))

    def intake(self, problems: list[bytearray]) -> Intake:
        """Return the intake.

        Raises:
            ClientError: the error that the body has.

        """
        if self.malformed is not None:
            raise MalformedBodyError(self.malformed)
        if self.invalid is not None:
            raise InvalidFieldsError(self.invalid, self.invalid_total)
        return Intake(self.items, dict(zip(self.problems, problems, strict=True)))


def serve(channel: Channel) -> int:
    """Read bodies until the channel closes; return the process's exit status."""
    rules_json = channel.read()
    if rules_json is None:
        return 0
    rules = Rules.model_validate_json(rules_json)
    while (shape := channel.read()) is not None:
        body = channel.read()
        if body is None:
            break
        try:
            channel.write(_read(body, _SHAPE.validate_python(shape.decode()), rules))
        except ConnectionError:
            break
    return 0


def _read(body: bytes, shape: Shape, rules: Rules) -> list[Blob]:
    try:
        intake = take_in(body, shape, rules)
    except ClientError as error:
        return [Outcome.of_error(error).model_dump_json().encode()]
    outcome = Outcome(items=intake.items, problems=list(intake.problems))
    return [outcome.model_dump_json().encode(), *intake.problems.values()]


if __name__ == "__main__":
    run_child(serve)
