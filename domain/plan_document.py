"""A plan as people read, edit, approve and store it: the steps, and where each parameter's value comes from."""

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId


class Take(Model):
    """A value from the response of an earlier step."""

    step: int = Field(ge=1)
    """Number of the step from 1, counted from the first step that the subtask was given."""
    field: str
    """A path such as ``items[0].lat``; empty for the whole response.

    ``items[].lat`` stands for the item that the request names, which is looked up when the response arrives.
    """


class PlannedStep(Model):
    """A call. Required parameters without a value here are looked up when the step is reached; others are left out."""

    tool: ToolId
    arguments: JsonObject = Field(default_factory=dict)
    """Fixed values."""
    takes: dict[str, Take] = Field(default_factory=dict[str, Take])
    """Parameters that are filled from earlier steps."""
    named: dict[str, str] = Field(default_factory=dict[str, str])
    """Parameters that are filled from the plan's own parameters, by name."""


class PlanDocument(Model):
    """A plan of one run, or a workflow template."""

    steps: tuple[PlannedStep, ...]
    parameters: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])
    """JSON Schemas of a template's parameters, by name; a plan for one run has none."""
