"""Programs that are sent: of a bounded size, with typed inputs."""

import json
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, Field

from agent.plans.plan_text_check import MAX_INPUTS, MAX_PLAN_LENGTH
from domain.model import JsonObject
from domain.tool import ToolId
from server.routes.given_documents import MOST_CHARACTERS

_MOST_TOOLS = 100


class SentProgram(BaseModel):
    """``text``: Python over the functions that the plan is shown with. ``inputs``: names that it finds, each with its JSON Schema; one with a ``default``
    may be left out. ``values``: of this run, for its inputs.
    """

    text: str = Field(max_length=MAX_PLAN_LENGTH)
    inputs: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject], max_length=2 * MAX_INPUTS)
    values: JsonObject = Field(default_factory=dict, max_length=2 * MAX_INPUTS)


class WholeSentProgram(SentProgram):
    """``tools``: the functions that its text may call."""

    tools: dict[str, ToolId] = Field(default_factory=dict[str, ToolId], max_length=_MOST_TOOLS)


Sent = TypeVar("Sent", bound=SentProgram)


def _bounded(program: Sent) -> Sent:
    size = len(json.dumps([program.inputs, program.values]))
    if size > MOST_CHARACTERS:
        raise ValueError(
            f"has inputs of {size:,} characters as JSON: at most {MOST_CHARACTERS:,}; shorten their values"
        )
    return program


GivenProgram = Annotated[SentProgram, AfterValidator(_bounded)]
GivenWholeProgram = Annotated[WholeSentProgram, AfterValidator(_bounded)]
