"""A path through the tool graph and the results of executing it."""

from typing import Literal

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId

Origin = Literal[
    "request", "step", "file", "field", "prose", "default", "example", "secret", "memory", "user", "computed"
]
"""The origin of an argument's value.

``step``: a result of an earlier step. ``file``: a file given with the request; the reference says where in it.
``field`` and ``prose``: given with the request but not in its user's words, namely a field of an earlier response, or
words within a text of one. ``computed``: computed by a program or written by its author; the reference is the
expression.
"""
StepStatus = Literal["ok", "failed", "missing", "skipped", "unknown"]
"""How a step ended.

``missing``: a required argument could not be found; ``skipped``: the user did not allow the call; ``unknown``: a
write whose answer was lost.
"""
CallOutcome = Literal[
    "ok", "transient", "gone", "absent", "undecided", "refused", "unreached", "caller_fault", "unknown"
]
"""What became of a call.

``transient``: 408, 425, 5xx, timeouts, and 429 if no key was sent. ``gone``: the operation does not exist (410; or
404 to a call without values, or answered as the host answers paths that cannot exist). ``absent``: the thing that the
values name does not exist (404). ``undecided``: a 404 that may be either. ``refused``: the key was rejected (401,
403, and 429, which is its quota). ``unreached``: this machine could not reach the host. ``caller_fault``: bad
arguments, a missing key, or an answer that says so or cannot be read. ``unknown``: a write whose answer was lost.
"""


CORRECTED = "a correction"
"""The reference of a value that the user changed before the call was made."""


class Binding(Model):
    """Where an argument's value comes from."""

    parameter: str
    origin: Origin
    reference: str = ""
    """The place of the value, by origin.

    A span of the request; ``2.items[0].lat`` (step and field); ``earlier.2.items[0].lat``, the same for a call earlier in the conversation, or
    ``earlier.2:city``, one of its arguments; or the name of a secret, never its value.
    """


class Plan(Model):
    """The tools to call, in order."""

    path: tuple[ToolId, ...]
    complete: bool
    """The search finished the path, instead of running out of budget or tools."""
    reason: str = ""


class StepResult(Model):
    """The result of one executed step."""

    tool: ToolId
    arguments: JsonObject = Field(default_factory=dict)
    provenance: tuple[Binding, ...] = ()
    status: StepStatus
    attempts: int = 0
    outcome: CallOutcome | None = None
    """Outcome of the call, if one was made; a body that reports a failure counts as failed, whatever the HTTP status."""
    http_status: int | None = None
    response: str = ""
    """The body as text, cut at the executor's limit."""
    compressed: str = ""
    """What a policy is shown instead of the response; empty if that is short enough."""
    instead: JsonObject = Field(default_factory=dict)
    """If a recorded call with other arguments answered, those that differ, as they were recorded."""
    note: str = ""
    """What a reader should know about the response."""
    seconds: float = 0.0
    intended: JsonObject | None = None
    """If the user corrected the call before it was made, the arguments that it would have had."""
    left_out: bool = False
    """The user excluded it when several calls were approved at once."""
    changes: bool = False
    """The tool may have side effects, so the call counts whatever it answered; False in results of earlier versions."""

    @property
    def requested_arguments(self) -> JsonObject:
        """The arguments that identify the call: those it was to be made with, before any correction by the user."""
        return self.arguments if self.intended is None else self.intended


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
