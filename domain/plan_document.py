"""A plan as people read, edit, approve and keep it: the steps, and where the value of each parameter comes from."""

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId


class Take(Model):
    """A value out of an earlier step's response. ``step`` counts from 1, the steps that a subtask was given first; ``field`` as
    ``items[0].lat``, or ``items[].lat`` for the item that the request names, found when the response is there. Empty: the response.
    """

    step: int = Field(ge=1)
    field: str


class PlannedStep(Model):
    """A call. ``arguments``: values that stand. ``takes``: parameters that are filled from earlier steps. ``named``: parameters that are
    filled from the plan's own, by name. Required parameters in none of them are found when the step is reached, as in a run without
    a plan; others stay out.
    """

    tool: ToolId
    arguments: JsonObject = Field(default_factory=dict)
    takes: dict[str, Take] = Field(default_factory=dict[str, Take])
    named: dict[str, str] = Field(default_factory=dict[str, str])


class PlanDocument(Model):
    """``parameters``: name to JSON Schema, of a workflow template; a plan for one run has none."""

    steps: tuple[PlannedStep, ...]
    parameters: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])
