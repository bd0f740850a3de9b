"""The protocol of policies, and the questions that they answer about subtasks, steps, paths and calls.

Each question is defined with the type of its answer (:mod:`agent.policy.decider`). Questions about programs and about
solutions are defined in :mod:`agent.programs.program_types` and :mod:`agent.solutions.protocol`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, TypeVar

from agent.offer.candidates import FollowingCandidate, ToolCandidate, ToolsetPrior
from agent.policy.decider import Decider, PolicyQuestion
from agent.text import clean_text
from domain.event import PolicyFellBack, SubtaskStarted
from domain.memory import RecalledMemory
from domain.model import JsonObject
from domain.model_service import Purpose
from domain.plan import Binding, StepResult
from domain.tool import Parameter, ToolDoc, ToolId

T = TypeVar("T")

Results = Sequence[tuple[ToolDoc, StepResult]]
"""Called tools with the results of their calls, in order."""


@dataclass(frozen=True, slots=True)
class MissingValue:
    """A value without which a candidate cannot be the next step."""

    tool: ToolDoc
    parameter: Parameter
    index: int
    """Index of the tool in ``candidates`` of the question."""


@dataclass(frozen=True, slots=True)
class NextMove:
    """The next move of a search: to a candidate, to the end of the path, one step back, or to give up."""

    action: Literal["advance", "finish", "backtrack", "give_up"]
    reason: str
    index: int | None = None
    """Index of the candidate to advance to; None for other actions."""
    memory: str = ""
    """Id of the memory that was followed, if any."""
    next_tools: tuple[ToolId, ...] = ()
    """Further tools of the path, named in the same decision."""
    completes_path: bool = False
    """True if the path is complete after these tools."""
    unserved: str = ""
    """Part of the request that the finished path does not serve."""
    missing_value: MissingValue | None = None
    """Value that the user would have to give for the path to continue."""


@dataclass(frozen=True, slots=True)
class MoveQuestion(PolicyQuestion[NextMove]):
    """Question for the next move of a search in the tool graph."""

    request: str
    clauses: tuple[str, ...]
    path: tuple[ToolDoc, ...]
    path_relevance: tuple[tuple[float, ...], ...]
    """Relevance of each tool in the path, one value per clause."""
    best_relevance: tuple[float, ...]
    """Best relevance of any tool found for the request, one value per clause; coverage is measured against it."""
    candidates: tuple[ToolCandidate, ...]
    finish_weight: float
    """Share of past paths that ended here."""
    memory: tuple[str, ...] = ()
    """Moves made before, with their reasons."""
    recalled: tuple[RecalledMemory, ...] = ()
    """Paths that served similar requests, the most similar first."""
    followers: tuple[FollowingCandidate, ...] = ()
    """Candidates for the step after the next one, if several steps may be named at once."""
    allows_several: bool = False
    """True if several steps may be named at once."""
    toolset_priors: Mapping[ToolId, ToolsetPrior] = field(default_factory=dict[ToolId, ToolsetPrior])
    """Prior of each found tool from the toolsets of past paths; empty if those went through too many tools to tell."""
    results: Results | None = None
    """Results of the path's steps if they are called as they are chosen; None if only planned."""

    async def put_to(self, decider: Decider) -> NextMove:
        return await decider.choose(self)


@dataclass(frozen=True, slots=True)
class WholePath:
    """A path that was chosen in one decision."""

    steps: tuple[int, ...]
    """Indices in ``candidates`` of the tools to call, in order and each once; empty if no tool serves."""
    reason: str
    unserved: str = ""
    """Part of the request that the path does not serve."""


@dataclass(frozen=True, slots=True)
class PathQuestion(PolicyQuestion[WholePath]):
    """Question for a whole path in one decision."""

    request: str
    clauses: tuple[str, ...]
    path: tuple[ToolDoc, ...]
    """Steps that are settled already; the answer continues them."""
    path_relevance: tuple[tuple[float, ...], ...]
    best_relevance: tuple[float, ...]
    candidates: tuple[ToolCandidate, ...]
    max_steps: int
    """Limit of tools that may be added."""
    with_reasons: bool = False
    """True if each step must be justified before it is named."""
    memory: tuple[str, ...] = ()
    """Moves made before, with their reasons."""

    async def put_to(self, decider: Decider) -> WholePath:
        return await decider.plan_path(self)


@dataclass(frozen=True, slots=True)
class CallArguments:
    """Arguments for a call."""

    values: JsonObject
    provenance: tuple[Binding, ...]
    missing: tuple[str, ...] = ()
    """Required parameters for which no value was found; values are never invented."""
    user_decided: frozenset[str] = frozenset()
    """Parameters whose values a person decided on, so that they are not corrected."""
    reason: str = ""
    """Reason, in a sentence."""


@dataclass(frozen=True, slots=True)
class ArgumentsQuestion(PolicyQuestion[CallArguments]):
    """Question for the arguments of a call."""

    request: str
    tool: ToolDoc
    earlier: tuple[tuple[ToolDoc, StepResult], ...]
    """Executed steps with their tools."""
    later: tuple[ToolDoc, ...] = ()
    """Tools of the steps that follow."""
    complaint: str = ""
    """Reason why the previous arguments were refused."""

    async def put_to(self, decider: Decider) -> CallArguments:
        return await decider.fill_arguments(self)


@dataclass(frozen=True, slots=True)
class PhraseQuestion(PolicyQuestion[str]):
    """Question for the answer of a program in the words that the request asks for."""

    purpose: ClassVar[Purpose] = "answers"

    request: str
    answer: str

    async def put_to(self, decider: Decider) -> str:
        return await decider.phrase(self)


@dataclass(frozen=True, slots=True)
class FieldsQuestion(PolicyQuestion[tuple[str, ...]]):
    """Question for the fields of a tool's long responses that are worth showing."""

    purpose: ClassVar[Purpose] = "responses"

    tool: ToolDoc
    response: str
    """An example of the tool's long responses."""
    fields: tuple[str, ...]
    """All its fields by path (``items[].name``), in order."""

    async def put_to(self, decider: Decider) -> tuple[str, ...]:
        return await decider.fields_to_keep(self)


@dataclass(frozen=True, slots=True)
class UnservedQuestion:
    """Question for unserved changes when a subtask has ended; tools come with their relevance to each clause.

    It is answered by code, without a model (:meth:`Policy.find_unserved`).
    """

    clauses: tuple[str, ...]
    """Parts of the request."""
    available: tuple[tuple[ToolDoc, tuple[float, ...]], ...]
    """Tools that could have been called."""
    done: tuple[tuple[ToolDoc, tuple[float, ...]], ...]
    """Tools whose calls succeeded."""


@dataclass(frozen=True, slots=True)
class PolicyNotice:
    """Notice that another policy decides from here on."""

    old_policy: str
    """Name of the policy that decided so far."""
    new_policy: str
    """Name of the policy that decides in place of ``old_policy``."""
    reason: str


@dataclass(slots=True)
class PolicyCost:
    """Resources that a policy has used so far in a run; the policy itself adds to them."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    by_purpose: dict[str, int] = field(default_factory=dict[str, int])
    """Calls of a model by their purpose."""
    tokens_by_purpose: dict[str, int] = field(default_factory=dict[str, int])
    """Prompt and completion tokens by purpose."""
    money: float | None = None
    """Cost in the currency of the configured prices; None if no model had a price."""


class Policy(Protocol):
    """The policy of one run.

    All decisions go through ``decide``, except for two: ``answer`` returns a stream, part of which may be out when it
    breaks off, and ``find_unserved`` does not wait, since no model is asked any more.
    """

    name: str
    cost: PolicyCost
    """Resources used in this run."""
    notices: list[PolicyNotice]
    """Notices since the last decision; the run emits and clears them (:func:`take_notices`)."""

    @property
    def can_write_programs(self) -> bool:
        """Return whether it can be asked for a program."""
        ...

    async def decide(self, question: PolicyQuestion[T]) -> T:
        """Answer a question."""
        ...

    def find_unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """Return parts of the request that ask for a change which no call made, as far as code can tell."""
        ...

    def answer(self, request: str, steps: Results) -> AsyncIterator[str]:
        """Stream the answer, which cites the calls that it is based on."""
        ...


def take_notices(policy: Policy) -> list[PolicyFellBack]:
    """Return and clear the notices of a policy, as events to emit before those of its last decision."""
    notices = policy.notices
    events = [
        PolicyFellBack(policy=notice.old_policy, to=notice.new_policy, reason=clean_text(notice.reason, 400))
        for notice in notices
    ]
    notices.clear()
    return events


@dataclass(frozen=True, slots=True)
class Reflection:
    """Judgement of the path on which a search ended."""

    verdict: Literal["success", "partial", "total"]
    """Consequence for the search.

    ``success``: the path is good. ``partial``: the steps before ``first_wrong`` are right, and the search resumes
    there. ``total``: the search starts anew without the start tools in ``noisy``; it ends if there are none.
    """
    reason: str
    first_wrong: int | None = None
    """Number of the first wrong step, from 1; one past the last step if all are right and something is missing."""
    noisy: tuple[ToolId, ...] = ()
    """Start tools that do not belong to the request."""


@dataclass(frozen=True, slots=True)
class ReflectionQuestion(PolicyQuestion[Reflection]):
    """Question for the judgement of a search that has ended (thesis 4.3.2.3)."""

    request: str
    clauses: tuple[str, ...]
    earlier_tools: tuple[ToolDoc, ...]
    """Tools of earlier subtasks whose results the path builds on."""
    path: tuple[ToolDoc, ...]
    """The path on which the search ended, or the best one that it saw; it may be empty."""
    relevance: tuple[tuple[float, ...], ...]
    """Relevance of each tool in ``path``, one value per clause."""
    starts: tuple[ToolCandidate, ...]
    """Candidates that were offered at the start."""
    ending: Literal["finished", "gave_up", "budget"]
    reason: str
    memory: tuple[str, ...] = ()
    """Moves of the search, in words."""

    async def put_to(self, decider: Decider) -> Reflection:
        return await decider.reflect(self)


@dataclass(frozen=True, slots=True)
class PathAdoption:
    """Decision whether a remembered path is used unchanged."""

    adopted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class AdoptionQuestion(PolicyQuestion[PathAdoption]):
    """Question whether to use the path of a nearly identical earlier request unchanged.

    The path is possible: every tool exists and works, and every required parameter can be filled in this order.
    """

    request: str
    recalled: RecalledMemory
    path: tuple[ToolDoc, ...]

    async def put_to(self, decider: Decider) -> PathAdoption:
        return await decider.adopt(self)


@dataclass(frozen=True, slots=True)
class ScoreQuestion(PolicyQuestion[tuple[float, ...]]):
    """Question for the worth of each step to a finished run.

    Steps that were not called are included, so that step numbers stay right.
    """

    request: str
    answer: str
    answered: bool
    steps: tuple[tuple[ToolDoc, StepResult], ...]
    """Steps of the last plan, in order."""
    failed: tuple[tuple[ToolDoc, StepResult], ...] = ()
    """Steps that were abandoned."""

    async def put_to(self, decider: Decider) -> tuple[float, ...]:
        return await decider.score(self)


MAX_SUBTASK_NAME_CHARS = 80
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
    needs_no_calls: bool = False
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
            reread=self.needs_no_calls,
            queries=self.queries,
        )


def rebuild_subtask(event: SubtaskStarted) -> Subtask:
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
    return Decomposition(
        (Subtask(1, clean_text(request, MAX_SUBTASK_NAME_CHARS), request, category, queries=queries),), reason
    )
