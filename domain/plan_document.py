"""A plan as people read, edit, approve and keep it: the steps, and where the value of each parameter comes from."""

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId


class Take(Model):
    """A value out of an earlier step's response. ``step`` counts from 1; ``field`` as ``items[0].lat``."""

    step: int = Field(ge=1)
    field: str


class PlannedStep(Model):
    """A call. ``arguments``: values that stand. ``takes``: parameters that are filled from earlier steps. ``named``: parameters that are
    filled from the plan's own, by name. Parameters in none of them are found when the step is reached, as in a run without a plan.
    """

    tool: ToolId
    arguments: JsonObject = Field(default_factory=dict)
    takes: dict[str, Take] = Field(default_factory=dict[str, Take])
    named: dict[str, str] = Field(default_factory=dict[str, str])


class PlanDocument(Model):
    """``parameters``: name to JSON Schema, of a workflow template; a plan for one run has none."""

    steps: tuple[PlannedStep, ...]
    parameters: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])
