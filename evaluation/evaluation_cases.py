"""Requests with the values of a right answer and the calls that lead to it: lines of ``playground/requests``."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, TypeAdapter, ValidationError, field_validator, model_validator

from domain.errors import BrokenInputError, UsageError
from domain.model import JsonObject, Model, describe_errors
from graph.importers.lines import JsonlLine, read_lines

HELD_OUT = "held_out"
"""The group (the name of its file) that must not be used for tuning."""


class GoldCall(Model):
    """A call that leads to the answer.

    An argument ``{"from": "1.items[0].id"}`` is a field of an earlier call's response; ``1.[0].id`` if the response is a list.
    """

    operation: str = Field(min_length=1)
    arguments: JsonObject = Field(default_factory=dict)


class ExpectedValues(Model):
    """The values that a right answer holds."""

    numbers: tuple[float, ...] = ()
    """Each must occur, at most ``tolerance`` away."""
    tolerance: float = Field(default=0.0, ge=0)
    texts: tuple[tuple[str, ...], ...] = ()
    """One text of each tuple must occur, in any case; the first is how the response writes it."""
    dates: tuple[date, ...] = ()
    """Days, in any notation."""
    computed: bool = False
    """The numbers, texts and dates are worked out (counted, added, compared), so that no response has to hold them."""
    evidence: tuple[str, ...] = ()
    """Texts that responses must hold instead of computed values: what these are worked out from."""

    @field_validator("texts", mode="before")
    @classmethod
    def _wrap_single_texts(cls, value: object) -> object:
        if isinstance(value, list | tuple):
            return [[item] if isinstance(item, str) else item for item in value]  # pyright: ignore[reportUnknownVariableType]
        return value

    @property
    def values(self) -> tuple[str, ...]:
        """All expected values in words, for a report."""
        around = f" ± {self.tolerance:g}" if self.tolerance else ""
        numbers = (f"{number:.10g}{around}" for number in self.numbers)
        return (*numbers, *(" / ".join(text) for text in self.texts), *map(str, self.dates))


class ServiceChange(Model):
    """A change with the arguments that matter, as the service's ledger has them."""

    operation: str = Field(min_length=1)
    arguments: JsonObject = Field(default_factory=dict)


class ClarificationNeed(Model):
    """The part of a request that is left open, so that whoever serves it has to ask."""

    answer: str = Field(min_length=1)
    """The user's reply."""
    fits: tuple[tuple[str, ...], ...] = ()
    """The things that the request can mean, each by the marks that distinguish it (an identifier, a name, a town).

    The first is the intended one. Empty: a value is missing.
    """


class EvaluationCase(Model):
    """A request with the values of a right answer."""

    id: str = Field(min_length=1)
    request: str = Field(min_length=1)
    calls: tuple[GoldCall, ...] = ()
    expect: ExpectedValues = ExpectedValues()
    answerable: bool = True
    alone: bool = False
    """It changes something, or could, or meets a failure that counts calls; it runs by itself after a reset."""
    effects: tuple[str, ...] = ()
    """Operations that change something on the way, one entry for each change."""
    entities: tuple[str, ...] = ()
    """Names and other values in it that no trajectory may mention."""
    why: str = ""
    before: tuple[str, ...] = ()
    """Requests made before it in the same conversation."""
    group: str = ""
    """The name of its file, unless the line has one."""
    program: str = ""
    """One way to the answer, as a program over the operations; ``expect`` and ``changes`` are computed with it."""
    changes: tuple[ServiceChange, ...] = ()
    """Every change that must be made, once each, and no other."""
    partly: bool = False
    """Only a part of it can be served; that part is expected."""
    service: Literal["playground", "workshop"] = "playground"
    """The service that it is addressed to."""
    dialogue: str = ""
    """Name of the dialogue that it is a turn of."""
    turn: int = 0
    """Number of the turn in the dialogue, from 1; 0: it is in none."""
    fresh: bool = False
    """It begins another subject, and nothing that was found before may be used."""
    ask: ClarificationNeed | None = None
    """The question that must be asked before it can be served; None: none."""

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if self.answerable and not ((self.calls or self.program) and (self.expect.values or self.changes)):
            raise ValueError("an answerable request needs calls or a program, and expected values or changes")
        if not self.answerable and (self.expect.values or not self.why):
            raise ValueError("a request that cannot be answered expects no value, and says why in 'why'")
        if (self.effects or self.changes) and not (self.alone and self.answerable):
            raise ValueError("a request with effects can be answered and runs alone")
        return self


class EvaluationDialogue(Model):
    """A line with several requests, each of which may refer to those before it."""

    id: str = Field(min_length=1)
    service: Literal["playground", "workshop"] = "playground"
    turns: tuple[JsonObject, ...] = Field(min_length=2)

    def to_cases(self) -> list[EvaluationCase]:
        """Return its turns as requests, named after it: ``name.1``, ``name.2``."""
        return [
            EvaluationCase.model_validate(
                {**turn, "id": f"{self.id}.{number}", "dialogue": self.id, "turn": number, "service": self.service}
            )
            for number, turn in enumerate(self.turns, start=1)
        ]


def _get_line_kind(fields: object) -> str:
    return "dialogue" if isinstance(fields, dict) and "turns" in fields else "request"


_LINE: TypeAdapter[EvaluationCase | EvaluationDialogue] = TypeAdapter(
    Annotated[
        Annotated[EvaluationCase, Tag("request")] | Annotated[EvaluationDialogue, Tag("dialogue")],
        Discriminator(_get_line_kind),
    ]
)


def group_conversations(cases: Iterable[EvaluationCase]) -> list[list[EvaluationCase]]:
    """Group the requests by dialogue, in order; a request outside a dialogue is a conversation of its own."""
    groups: list[list[EvaluationCase]] = []
    for case in cases:
        if case.turn > 1 and groups and groups[-1][-1].dialogue == case.dialogue:
            groups[-1].append(case)
        else:
            groups.append([case])
    return groups


def read_evaluation_cases(paths: Iterable[Path]) -> list[EvaluationCase]:
    """Return all requests of the files, in order; the turns of a dialogue one after another.

    Raises:
        UsageError: there is no such file, no request in them, or an id twice.
        BrokenInputError: a line cannot be used.
    """
    cases: dict[str, EvaluationCase] = {}
    for path in paths:
        if not path.is_file():
            raise UsageError(f"{path} is no file; name a file of requests, one JSON object a line")
        for line in read_lines(path):
            if not isinstance(line, JsonlLine):
                raise BrokenInputError(line.reason, file=line.file, line=line.line)
            for case in _parse_line(line, path):
                if case.id in cases:
                    raise UsageError(f"{path}:{line.number}: the id {case.id!r} is taken; give each request its own")
                cases[case.id] = case
    if not cases:
        raise UsageError("the files hold no request")
    return list(cases.values())


def _parse_line(line: JsonlLine, path: Path) -> list[EvaluationCase]:
    try:
        parsed = _LINE.validate_json(line.body)
        cases = parsed.to_cases() if isinstance(parsed, EvaluationDialogue) else [parsed]
    except ValidationError as error:
        raise BrokenInputError(describe_errors(error), file=str(path), line=line.number) from error
    group = path.name.split(".")[0]
    return [one if one.group else one.model_copy(update={"group": group}) for one in cases]
