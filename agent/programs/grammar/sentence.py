"""Sentences of the grammar: a flat list of named steps, each of one kind with few fields, and an answer.

A *path* names an earlier step and a part of its result: ``people[0].id``, ``people[].id`` (of all of them), ``people[].papers[].title``.
A *value* is a constant, or a text in which ``{path}`` stands for the value at that path; a text that is exactly one ``{path}`` is that
value itself. The schema has no recursion, no optional field and no bound, so that every endpoint that takes schemas accepts it; bounds
are checked here.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, FiniteFloat, model_validator

from domain.model import Model
from domain.program import Answered

MOST_STEPS = 24
_MOST_ARGUMENTS = 24
_LONGEST_NAME = 60
_LONGEST = 16_000

Constant = str | int | FiniteFloat | bool
Value = Constant | list[str | int | FiniteFloat]
Test = Literal["=", "!=", ">", ">=", "<", "<=", "contains"]
Operator = Literal["+", "-", "*", "/"]


# The names and docstrings of these classes are part of the JSON schema that a model is given.
class Argument(Model):
    """A parameter of a function, ``body.city`` for a field of an object, and what it is given."""

    parameter: str
    value: Value


class Call(Model):
    """A function is called once."""

    do: Literal["call"]
    name: str
    function: str
    arguments: list[Argument]


class ForEach(Model):
    """A function is called for each item of the list ``of``; values say ``{item.…}``. What comes of it is a list of ``item`` and ``result``."""

    do: Literal["for_each"]
    name: str
    of: str
    function: str
    arguments: list[Argument]


class Listed(Model):
    """Values as a list, to go through with ``for_each``: two names that are compared, say."""

    do: Literal["list"]
    name: str
    values: list[str | int | FiniteFloat]


class FieldOf(Model):
    """What lies at a path gets a name."""

    do: Literal["field"]
    name: str
    of: str


class First(Model):
    """The first item of a list."""

    do: Literal["first"]
    name: str
    of: str


class Pick(Model):
    """The item of a list whose ``field`` is most like a text."""

    do: Literal["pick"]
    name: str
    of: str
    field: str
    like: str


class Where(Model):
    """The items of a list whose ``field`` passes a test."""

    do: Literal["where"]
    name: str
    of: str
    field: str
    test: Test
    value: Value


class Ranked(Model):
    """The item of a list with the most or the least in ``field``; with ``how_many`` above 1 a list of so many, the best first."""

    do: Literal["most", "least"]
    name: str
    of: str
    field: str
    how_many: int


class Figure(Model):
    """How many items a list has; the sum or the average of a list of numbers."""

    do: Literal["count", "sum", "average"]
    name: str
    of: str


class Calculate(Model):
    """A number made of two."""

    do: Literal["calculate"]
    name: str
    left: Value
    operator: Operator
    right: Value


class Compare(Model):
    """One of three texts, as ``left`` is more than ``right``, less, or equal to it."""

    do: Literal["compare"]
    name: str
    left: Value
    right: Value
    more: str
    less: str
    equal: str


class Join(Model):
    """A list as one text: ``text`` for each item, which it names ``{item.…}``, with ``by`` in between."""

    do: Literal["join"]
    name: str
    of: str
    text: str
    by: str


class Look(Model):
    """The last step: the structure of what lies at a path is shown before anything more is written."""

    do: Literal["look"]
    name: str
    of: str


Step = Call | ForEach | Listed | FieldOf | First | Pick | Where | Ranked | Figure | Calculate | Compare | Join | Look


class Sentence(Model):
    """``answer``: a text with ``{path}`` in it. ``missing``: what could not be served, and what is told where a step finds nothing."""

    steps: list[Annotated[Step, Field(discriminator="do")]]
    answered: Answered
    answer: Value
    missing: str

    @model_validator(mode="after")
    def _within_bounds(self) -> Self:
        if len(self.steps) > MOST_STEPS:
            raise ValueError(f"there may be {MOST_STEPS} steps at most")
        for step in self.steps:
            if not 0 < len(step.name) <= _LONGEST_NAME:
                raise ValueError(f"the name of a step has 1 to {_LONGEST_NAME} characters")
            if isinstance(step, (Call, ForEach)) and len(step.arguments) > _MOST_ARGUMENTS:
                raise ValueError(f"{step.name}: there may be {_MOST_ARGUMENTS} arguments at most")
        if len(self.model_dump_json()) > _LONGEST:
            raise ValueError(f"it may have {_LONGEST} characters at most")
        return self
