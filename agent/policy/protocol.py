"""The protocol of policies, and the questions that they answer about subtasks, steps, paths and calls.

Each question is defined with the type of its answer (:mod:`agent.policy.question`). Questions about programs and about
solutions are defined in :mod:`agent.programs.protocol` and :mod:`agent.solutions.protocol`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, TypeVar

from agent.offer.candidates import Candidate, FollowingCandidate, ToolsetPrior
from agent.policy.question import Decider, PolicyQuestion
from agent.text import clean
from domain.event import PolicyFellBack
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
    then: tuple[ToolId, ...] = ()
    """Further tools of the path, named in the same decision."""
    last: bool = False
    """True if the path is complete after these tools."""
    unserved: str = ""
    """Part of the request that the finished path does not serve."""
    lacking: MissingValue | None = None
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
    candidates: tuple[Candidate, ...]
    finish_weight: float
    """Share of past paths that ended here."""
    memory: tuple[str, ...] = ()
    """Moves made before, with their reasons."""
    recalled: tuple[RecalledMemory, ...] = ()
    """Paths that served similar requests, the most similar first."""
    followers: tuple[FollowingCandidate, ...] = ()
    """Candidates for the step after the next one, if several steps may be named at once."""
    several: bool = False
    """True if several steps may be named at once."""
    kin: Mapping[ToolId, ToolsetPrior] = field(default_factory=dict[ToolId, ToolsetPrior])
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
    candidates: tuple[Candidate, ...]
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
    settled: frozenset[str] = frozenset()
    """Parameters whose values a person decided on, so that they are not corrected."""
    why: str = ""
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
    at_hand: tuple[tuple[ToolDoc, tuple[float, ...]], ...]
    """Tools that could have been called."""
    done: tuple[tuple[ToolDoc, tuple[float, ...]], ...]
    """Tools whose calls succeeded."""


@dataclass(frozen=True, slots=True)
class PolicyNotice:
    """Notice that another policy decides from here on."""

    policy: str
    """Name of the policy that decided so far."""
    to: str
    """Name of the policy that decides in place of ``policy``."""
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
    def writes(self) -> bool:
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
    events = [PolicyFellBack(policy=n.policy, to=n.to, reason=clean(n.reason, 400)) for n in notices]
    notices.clear()
    return events
