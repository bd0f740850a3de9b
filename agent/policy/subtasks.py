"""What a request's split into subtasks is asked with and answered by."""

from dataclasses import dataclass

from agent.policy.question import Decider, Question
from agent.text import clean
from domain.event import SubtaskStarted
from domain.plan import StepResult
from domain.tool import ToolDoc

NAMED = 80
"""Characters of a subtask's name."""


@dataclass(frozen=True, slots=True)
class AskedEarlier:
    """An earlier question of the conversation, so that it stands alone. ``steps``: its calls that succeeded, with their numbers."""

    request: str
    steps: tuple[tuple[int, ToolDoc, StepResult], ...] = ()


@dataclass(frozen=True, slots=True)
class Subtask:
    """``number`` counts from 1. ``description`` stands alone: every value that it needs is in it, and no other than the request's.

    ``depends_on``: numbers of earlier subtasks whose results it needs. ``category``: of the tools that it calls for, where the planner asks for it and there is a model to name it.
    ``earlier``: numbers of earlier calls of the conversation whose results it needs; ``reread``: they alone answer it.
    ``queries``: what tools would do for it, as their documents would say it, whatever the request's language.
    """

    number: int
    name: str
    description: str
    category: str = ""
    depends_on: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()
    reread: bool = False
    queries: tuple[str, ...] = ()

    def started(self, given: int) -> SubtaskStarted:
        """The event of its beginning. ``given``: the steps that it is given."""
        return SubtaskStarted(
            subtask=self.number,
            name=self.name,
            description=self.description,
            category=self.category,
            depends_on=self.depends_on,
            given=given,
            earlier=self.earlier,
            reread=self.reread,
            queries=self.queries,
        )


def begun(told: SubtaskStarted) -> Subtask:
    """The subtask of which an event tells."""
    return Subtask(
        told.subtask,
        told.name,
        told.description,
        told.category,
        told.depends_on,
        told.earlier,
        told.reread,
        told.queries,
    )


@dataclass(frozen=True, slots=True)
class Decomposition:
    """At least one subtask; a request that needs no split is its own, in its own words."""

    subtasks: tuple[Subtask, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class DecomposeQuestion(Question[Decomposition]):
    """What ``decompose`` sees: the request. ``earlier``: what was asked before, the oldest first. ``categories``: those of the tools nearest to
    the request, where each subtask is to name its own.
    """

    request: str
    earlier: tuple[AskedEarlier, ...] = ()
    categories: tuple[str, ...] = ()

    async def put_to(self, decider: Decider) -> Decomposition:
        return await decider.decompose(self)


def whole(request: str, reason: str, queries: tuple[str, ...] = (), category: str = "") -> Decomposition:
    """A request that is not split."""
    return Decomposition((Subtask(1, clean(request, NAMED), request, category, queries=queries),), reason)
