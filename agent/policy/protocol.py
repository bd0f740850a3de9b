"""The policy of a run, and what it is asked of steps and calls: each question with the type of its answer (:mod:`agent.policy.question`)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, TypeVar

from agent.offer.candidates import Candidate, Follower, Kin
from agent.policy.question import Decider, Question
from agent.text import clean
from domain.event import PolicyFellBack
from domain.memory import Recalled
from domain.model import JsonObject
from domain.model_service import Purpose
from domain.plan import Binding, StepResult
from domain.tool import Parameter, ToolDoc, ToolId

T = TypeVar("T")

Results = Sequence[tuple[ToolDoc, StepResult]]
"""Tools that were called, each with what became of the call, in order."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A value without which there is no way on: of a parameter of a tool; with it, ``candidates[index]`` would be the next step."""

    tool: ToolDoc
    parameter: Parameter
    index: int


@dataclass(frozen=True, slots=True)
class Choice:
    """``advance`` to ``candidates[index]``, ``finish`` the path, ``backtrack`` one step, or ``give_up``.

    ``memory``: the id of the memory that was followed, if any. ``then``: tools that are to follow, named in the same decision; ``last``: the
    path is finished behind them. ``unserved``: what of the request the finished path leaves undone. ``lacking``: what its user would have to tell for
    there to be a way on.
    """

    action: Literal["advance", "finish", "backtrack", "give_up"]
    reason: str
    index: int | None = None
    memory: str = ""
    then: tuple[ToolId, ...] = ()
    last: bool = False
    unserved: str = ""
    lacking: Lacking | None = None


@dataclass(frozen=True, slots=True)
class Situation(Question[Choice]):
    """What ``choose`` sees: the request, its clauses, the path so far, the candidates, and the moves made before, with their reasons.

    ``path_relevance``: the relevance (one value per clause) of each tool in the path. ``best_relevance``: per clause, the best
    that any tool found for the request reached: what "covered" is measured against. ``recalled``: paths that served requests like this one, the most alike first. ``followers``: what may come next but one, where several
    steps may be named at once (``several``). ``results``: of the steps of the path, where they are called as they are chosen; None: only planned.
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
    several: bool = False
    kin: Mapping[ToolId, Kin] = field(default_factory=dict[ToolId, Kin])
    results: Results | None = None

    async def put_to(self, decider: Decider) -> Choice:
        return await decider.choose(self)


@dataclass(frozen=True, slots=True)
class WholePath:
    """The places in ``candidates`` of the tools to call, in order and each once; empty where none of them serves. ``unserved``: what of
    the request they leave undone.
    """

    steps: tuple[int, ...]
    reason: str
    unserved: str = ""


@dataclass(frozen=True, slots=True)
class PathQuestion(Question[WholePath]):
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

    async def put_to(self, decider: Decider) -> WholePath:
        return await decider.whole_path(self)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments for a call. ``missing``: required parameters for which no value was found; never invented. ``why``: in a sentence.

    ``settled``: parameters whose values a person has decided on.
    """

    values: JsonObject
    provenance: tuple[Binding, ...]
    missing: tuple[str, ...] = ()
    settled: frozenset[str] = frozenset()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentsQuestion(Question[Arguments]):
    """What ``arguments`` sees. ``earlier``: the executed steps with their tools; ``complaint``: why the last try was refused."""

    request: str
    tool: ToolDoc
    earlier: tuple[tuple[ToolDoc, StepResult], ...]
    later: tuple[ToolDoc, ...] = ()
    complaint: str = ""

    async def put_to(self, decider: Decider) -> Arguments:
        return await decider.arguments(self)


@dataclass(frozen=True, slots=True)
class PhraseQuestion(Question[str]):
    """What ``phrase`` sees: what a program computed, and the request that asks for it."""

    purpose: ClassVar[Purpose] = "answers"

    request: str
    answer: str

    async def put_to(self, decider: Decider) -> str:
        return await decider.phrase(self)


@dataclass(frozen=True, slots=True)
class FieldsQuestion(Question[tuple[str, ...]]):
    """What ``fields_to_keep`` sees. ``response``: an example of the tool's long responses; ``fields``: all its fields by path
    (``items[].name``), in order.
    """

    purpose: ClassVar[Purpose] = "responses"

    tool: ToolDoc
    response: str
    fields: tuple[str, ...]

    async def put_to(self, decider: Decider) -> tuple[str, ...]:
        return await decider.fields_to_keep(self)


@dataclass(frozen=True, slots=True)
class UnservedQuestion:
    """What ``unserved`` sees when a subtask is over: its clauses, and the tools that were at hand and those whose calls succeeded, each with
    its relevance to each clause.
    """

    clauses: tuple[str, ...]
    at_hand: tuple[tuple[ToolDoc, tuple[float, ...]], ...]
    done: tuple[tuple[ToolDoc, tuple[float, ...]], ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """What a run has to say of its policy besides its decisions: ``to`` decides from here on in place of ``policy``."""

    policy: str
    to: str
    reason: str


@dataclass(slots=True)
class Cost:
    """What a policy used so far in a run, added to by the policy. ``money``: in the currency of the prices, None where nothing had one."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    by_purpose: dict[str, int] = field(default_factory=dict[str, int])
    tokens_by_purpose: dict[str, int] = field(default_factory=dict[str, int])
    money: float | None = None


class Policy(Protocol):
    """One object per run; ``cost`` is what this run used. ``notices`` are taken out and told by the run after each decision.

    All that is decided goes through ``decide``. Two methods stand beside it: ``answer`` gives a stream, of which some may be out when it breaks off,
    and ``unserved`` is looked up without waiting, since no model is asked any more.
    """

    name: str
    cost: Cost
    notices: list[Notice]

    @property
    def writes(self) -> bool:
        """Whether it is worth asking for a program."""
        ...

    async def decide(self, question: Question[T]) -> T:
        """Answer a question."""
        ...

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """Changes that the request orders and no call made, where the policy can tell by itself: no model is asked any more."""
        ...

    def answer(self, request: str, steps: Results) -> AsyncIterator[str]:
        """The answer, streamed; it names the calls it rests on."""
        ...


def told_notices(policy: Policy) -> list[PolicyFellBack]:
    """What the policy has to say since it was asked last: taken out, told before what it decided then."""
    notices = policy.notices
    told = [PolicyFellBack(policy=n.policy, to=n.to, reason=clean(n.reason, 400)) for n in notices]
    notices.clear()
    return told
