"""Every decision that a model takes during a run, with typed inputs and outputs (DESIGN section 4)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent.tool_text import clean
from domain.event import Feed
from domain.memory import Recalled
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.tool import ToolDoc, ToolId

NAMED = 80
"""Characters of a subtask's name."""

Origin = Literal["start", "graph", "retriever", "memory", "substitute"]
"""Who brought a candidate: the retriever at the start, the graph's edges, the retriever later on, a memory's path, or a link to a
tool that does the same as one whose call has failed.
"""


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One thing that a request asks. ``found``: the tools nearest to it with their scores in [0, 1], best first."""

    text: str
    found: tuple[tuple[ToolId, float], ...]


@dataclass(frozen=True, slots=True)
class DecomposeQuestion:
    """What ``decompose`` sees: the request, and what it asks as far as rules can tell."""

    request: str
    parts: tuple[AskedPart, ...]


@dataclass(frozen=True, slots=True)
class Subtask:
    """``number`` counts from 1. ``description`` stands alone: every value that it needs is in it, and no other than the request's.

    ``depends_on``: numbers of earlier subtasks whose results it needs. ``category``: of the tools that it calls for, where known.
    """

    number: int
    name: str
    description: str
    category: str = ""
    depends_on: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Decomposition:
    """At least one subtask; a request that needs no split is its own, in its own words."""

    subtasks: tuple[Subtask, ...]
    reason: str


def whole(request: str, reason: str) -> Decomposition:
    """A request that is not split."""
    return Decomposition((Subtask(1, clean(request, NAMED), request),), reason)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that could come next, with the evidence for it.

    ``weight``: transition weight in [0, 1] (at the start, the retriever's normalised score). ``availability`` None:
    untested. ``relevance``: one value per clause of the request, each in [0, 1]. ``missing``: required parameters that
    neither the request nor earlier steps of the path seem able to fill. ``feeds``: those that a step of the path fills.
    ``returning``: it has failed of late, and it is its turn to be tried again.
    """

    tool: ToolDoc
    weight: float
    availability: float | None
    relevance: tuple[float, ...]
    origin: Origin
    missing: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()
    returning: bool = False

    @property
    def feeds_from(self) -> tuple[int, ...]:
        """Positions in the path, from 0, of the steps that feed it."""
        return tuple(sorted({feed.step - 1 for feed in self.feeds}))


@dataclass(frozen=True, slots=True)
class Kin:
    """What speaks for a tool that no path went through, each in [0, 1]. ``found``: the retriever's score. ``covers``: how much of the request
    the tools of its set cover together. ``set_named``, ``named``: the share of the words of its set's and its own name that are said.
    """

    found: float
    covers: float
    set_named: float
    named: float


@dataclass(frozen=True, slots=True)
class Follower:
    """A tool that may come right after a candidate. ``after``: that candidate's place; ``candidate``: judged as if it had been called."""

    after: int
    candidate: Candidate


Results = tuple[tuple[ToolDoc, StepResult], ...]
"""Tools that were called, each with what became of the call, in order."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What ``choose`` sees: the request, its clauses, the path so far, the candidates, and the moves made before, with their reasons.

    ``path_relevance``: the relevance (one value per clause) of each tool in the path. ``best_relevance``: per clause, the best
    that any tool found for the request reached: what "covered" is measured against. ``recalled``: paths that served requests like this one, the most alike first. ``followers``: what may come next but one, where several
    steps may be named at once. ``results``: of the steps of the path, where they are called as they are chosen; None: only planned.
    ``kin``: of the tools that were found, where paths went through few of them; empty otherwise.
    """

    request: str
    clauses: tuple[str, ...]
    path: tuple[ToolDoc, ...]
    path_relevance: tuple[tuple[float, ...], ...]
    best_relevance: tuple[float, ...]
    candidates: tuple[Candidate, ...]
    finish_weight: float
    memory: tuple[str, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    followers: tuple[Follower, ...] = ()
    kin: Mapping[ToolId, Kin] = field(default_factory=dict[ToolId, Kin])
    results: Results | None = None


@dataclass(frozen=True, slots=True)
class ReflectionQuestion:
    """What ``reflect`` sees: how a walk ended (thesis 4.3.2.3). ``path``: the one that it ended with, else the best it has seen, which may be
    empty; ``given``: the tools of earlier subtasks whose results it builds on. ``relevance``: of each tool in ``path``, one value per clause.
    ``starts``: the candidates that the start offered. ``memory``: the moves of the walk.
    """

    request: str
    clauses: tuple[str, ...]
    given: tuple[ToolDoc, ...]
    path: tuple[ToolDoc, ...]
    relevance: tuple[tuple[float, ...], ...]
    starts: tuple[Candidate, ...]
    how: Literal["finished", "gave_up", "budget"]
    reason: str
    memory: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflection:
    """``success``: go on with the path. ``partial``: right up to the step ``first_wrong`` (from 1; one more than there are steps: all are
    right, and something is left to do). ``total``: start anew without the start tools ``noisy``; without any, there is nothing to try.
    """

    verdict: Literal["success", "partial", "total"]
    reason: str
    first_wrong: int | None = None
    noisy: tuple[ToolId, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """``advance`` to ``candidates[index]``, ``finish`` the path, ``backtrack`` one step, or ``give_up``.

    ``memory``: the id of the memory that was followed, if any. ``then``: tools that are to follow, named in the same decision; ``last``: the
    path is finished behind them.
    """

    action: Literal["advance", "finish", "backtrack", "give_up"]
    reason: str
    index: int | None = None
    memory: str = ""
    then: tuple[ToolId, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class PathQuestion:
    """What ``whole_path`` sees: all tools at once. ``path``: what stands already and is gone on from; ``longest``: tools that may be
    added; ``reasoned``: each step is to be justified before it is named.
    """

    request: str
    clauses: tuple[str, ...]
    path: tuple[ToolDoc, ...]
    path_relevance: tuple[tuple[float, ...], ...]
    best_relevance: tuple[float, ...]
    candidates: tuple[Candidate, ...]
    longest: int
    reasoned: bool = False
    memory: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WholePath:
    """The places in ``candidates`` of the tools to call, in order and each once; empty where none of them serves."""

    steps: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What ``adopt`` sees: the whole path that served a request nearly identical to this one, and stands as it is.

    It was checked before: every tool is there and works, and every required parameter can be filled in this order.
    """

    request: str
    recalled: Recalled
    path: tuple[ToolDoc, ...]


@dataclass(frozen=True, slots=True)
class Adoption:
    """Whether a remembered path is taken as it is, and why."""

    adopted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreQuestion:
    """What ``score`` sees of a run that is over: the steps of the last plan in order, then those that were gone around.

    Steps that were not called are among them, so that step numbers hold.
    """

    request: str
    answer: str
    answered: bool
    steps: tuple[tuple[ToolDoc, StepResult], ...]
    failed: tuple[tuple[ToolDoc, StepResult], ...] = ()


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments for a call. ``missing``: required parameters for which no value was found; never invented."""

    values: JsonObject
    provenance: tuple[Binding, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArgumentsQuestion:
    """What ``arguments`` sees. ``earlier``: the executed steps with their tools; ``complaint``: why the last try was refused."""

    request: str
    tool: ToolDoc
    earlier: tuple[tuple[ToolDoc, StepResult], ...]
    later: tuple[ToolDoc, ...] = ()
    complaint: str = ""


@dataclass(frozen=True, slots=True)
class FieldsQuestion:
    """What ``fields_to_keep`` sees. ``response``: an example of the tool's long responses; ``fields``: all its fields by path
    (``items[].name``), in order.
    """

    tool: ToolDoc
    response: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """What a run has to say of its policy besides its decisions: ``to`` decides from here on in place of ``policy``."""

    policy: str
    to: str
    reason: str


@dataclass(slots=True)
class Cost:
    """What a policy used so far in a run, added to by the policy."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    by_purpose: dict[str, int] = field(default_factory=dict[str, int])
    tokens_by_purpose: dict[str, int] = field(default_factory=dict[str, int])


class Policy(Protocol):
    """One object per run; ``cost`` is what this run used. ``notices`` are taken out and told by the run after each decision."""

    name: str
    cost: Cost
    notices: list[Notice]

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """The subtasks of a request; once per run."""
        ...

    async def choose(self, situation: Situation) -> Choice:
        """The next move of the walk."""
        ...

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """What a walk that has ended is worth, and where to go on if it is not good enough."""
        ...

    async def whole_path(self, question: PathQuestion) -> WholePath:
        """All steps in one decision."""
        ...

    async def adopt(self, proposal: Proposal) -> Adoption:
        """Whether to take a remembered path whole, in one decision."""
        ...

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """Arguments for one call."""
        ...

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """The fields of a long response that are worth showing, out of ``question.fields``, the most telling first.

        It depends on the tool alone, not on the request, so that the answer can be kept per tool (thesis 4.3.3.3).
        """
        ...

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """The answer, streamed; it names the calls it rests on."""
        ...

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """What each step was worth to the run, in [-1, 1]: one number for each of ``steps``, then of ``failed`` (thesis 3.4.2)."""
        ...
