"""Subtasks of a request, and the question for them."""

from dataclasses import dataclass

from agent.policy.question import Decider, PolicyQuestion
from agent.text import clean
from domain.event import SubtaskStarted
from domain.plan import StepResult
from domain.tool import ToolDoc

MAX_NAME_CHARS = 80
"""Limit of the name of a subtask, in characters."""


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """An earlier request of the conversation, worded so that it is clear by itself."""

    request: str
    steps: tuple[tuple[int, ToolDoc, StepResult], ...] = ()
    """Its successful calls, with their numbers."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """A part of a request that is planned by itself."""

    number: int
    """Number of the subtask, from 1."""
    name: str
    description: str
    """Request of the subtask, clear by itself: it has every value that it needs, and only values of the request."""
    category: str = ""
    """Category of its tools; empty unless the planner asks for it and a model names it."""
    depends_on: tuple[int, ...] = ()
    """Numbers of earlier subtasks whose results it needs."""
    earlier: tuple[int, ...] = ()
    """Numbers of earlier calls of the conversation whose results it needs."""
    reread: bool = False
    """True if these earlier calls alone answer it, so that nothing is called."""
    queries: tuple[str, ...] = ()
    """Descriptions of calls that would serve it, in the language of tool documents; tools are searched by them."""

    def to_event(self, step_count: int) -> SubtaskStarted:
        """Build the event of its start; ``step_count`` is the number of prior steps that it builds on."""
        return SubtaskStarted(
            subtask=self.number,
            name=self.name,
            description=self.description,
            category=self.category,
            depends_on=self.depends_on,
            given=step_count,
            earlier=self.earlier,
            reread=self.reread,
            queries=self.queries,
        )


def subtask_from_event(event: SubtaskStarted) -> Subtask:
    """Rebuild a subtask from the event of its start."""
    return Subtask(
        event.subtask,
        event.name,
        event.description,
        event.category,
        event.depends_on,
        event.earlier,
        event.reread,
        event.queries,
    )


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The subtasks of a request, at least one; a request that is not split is its own subtask."""

    subtasks: tuple[Subtask, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class DecomposeQuestion(PolicyQuestion[Decomposition]):
    """Question for the subtasks of a request."""

    request: str
    earlier: tuple[EarlierRequest, ...] = ()
    """Earlier requests of the conversation, the oldest first."""
    categories: tuple[str, ...] = ()
    """Categories to choose from, if each subtask is to name one; else empty."""

    async def put_to(self, decider: Decider) -> Decomposition:
        return await decider.decompose(self)


def build_single_subtask(request: str, reason: str, queries: tuple[str, ...] = (), category: str = "") -> Decomposition:
    """Build the decomposition of a request that is not split."""
    return Decomposition((Subtask(1, clean(request, MAX_NAME_CHARS), request, category, queries=queries),), reason)
