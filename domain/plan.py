"""A path through the tool graph, and what its execution made of it."""

from typing import Literal

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId

Origin = Literal[
    "request", "step", "file", "field", "prose", "default", "example", "secret", "memory", "user", "computed"
]
"""``step``: taken from a result. ``file``: out of a file that was given with the request; the reference says where. ``field``, ``prose``: told with the request, but no word of its user's: a field of an earlier response, or words
inside a text of one. ``computed``: worked out by a program, or written by its author; the reference is the expression.
"""
StepStatus = Literal["ok", "failed", "missing", "skipped", "unknown"]
"""``missing``: a required argument could not be found; ``skipped``: its user did not allow the call; ``unknown``: a write whose answer was lost."""
CallOutcome = Literal[
    "ok", "transient", "gone", "absent", "undecided", "refused", "unreached", "caller_fault", "unknown"
]
"""``transient``: 408, 425, 5xx, timeouts, and 429 where no key was sent. ``gone``: the operation is not there (410; 404 to a call without
values, or as the host answers paths that cannot exist). ``absent``: what the call's values name is not there (404). ``undecided``: a 404 of which
it cannot be told whether it is the one or the other. ``refused``: the key that was sent (401, 403, and 429, which is its
quota). ``unreached``: this machine could not get to the host at all. ``caller_fault``: bad arguments, a missing key, an answer that says so
or cannot be read. ``unknown``: a write whose answer was lost."""


CORRECTED = "a correction"
"""The reference of a value that its user put in the place of another before the call was made."""


class Binding(Model):
    """Where an argument's value comes from.

    ``reference``: the span of the request, ``2.items[0].lat`` (step, field), the same of a call earlier in the conversation (``earlier.2.items[0].lat``) or one of
    its arguments (``earlier.2:city``), or the name of a secret, never its value.
    """

    parameter: str
    origin: Origin
    reference: str = ""


class Plan(Model):
    """The tools to call, in order. ``complete``: the walk finished it, rather than running out of budget or tools."""

    path: tuple[ToolId, ...]
    complete: bool
    reason: str = ""


class StepResult(Model):
    """One executed step. ``response`` is the body as text (cut at the executor's cap), ``note`` says what to know of it.

    ``outcome``: of the call, if one was made; a body that says it failed counts as failed whatever its HTTP status.
    ``compressed``: what a policy is shown in its place; empty where the response is short enough to be shown whole. ``instead``: where a
    recorded call with other arguments answered, those that differ, as they were recorded. ``intended``: where its user corrected the call
    before it was made, the arguments that it would have had. ``left_out``: its user left it out of several that one answer was about.
    ``changes``: the tool may change something, so that the call counts whatever it answered; of earlier versions nobody knows.
    """

    tool: ToolId
    arguments: JsonObject = Field(default_factory=dict)
    provenance: tuple[Binding, ...] = ()
    status: StepStatus
    attempts: int = 0
    outcome: CallOutcome | None = None
    http_status: int | None = None
    response: str = ""
    compressed: str = ""
    instead: JsonObject = Field(default_factory=dict)
    note: str = ""
    seconds: float = 0.0
    intended: JsonObject | None = None
    left_out: bool = False
    changes: bool = False

    @property
    def wanted(self) -> JsonObject:
        """The arguments that it is known by: those that it was to be made with, whatever its user corrected."""
        return self.arguments if self.intended is None else self.intended
