"""What the library answers with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent.conversation import MAX_RUNS, EarlierRun, build_earlier_run
from agent.offer import offer
from agent.programs.signatures import render_offer
from agent.transcript import RunTranscript
from domain.event import EventRecord, RunOutcome
from domain.given_file import GivenFile
from domain.learning_events import WeightsLearned
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId

Verdict = Literal["right", "wrong"]
"""A user's word on an answer."""


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool that search finds. ``score``: to be compared within one answer. ``alike``: ids of copies of the same operation."""

    id: str
    description: str
    score: float
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's document. ``schema``: of its parameters, as JSON Schema has it. ``signature``: as a function of a program. ``changes``: calling
    it may change something.
    """

    id: str
    description: str
    method: str
    url: str
    changes: bool
    signature: str
    document: JsonObject


@dataclass(frozen=True, slots=True)
class Reason:
    """What speaks for a tool, or, where ``share`` is negative, against it. ``kind``: a word for programs; ``told``: in words."""

    kind: str
    told: str
    share: float


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """``name``: its function in a program over the offer. ``score``: the sum of its reasons' shares."""

    id: str
    name: str
    description: str
    score: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a request by search and graph, best first. ``text``: all of them as typed functions, for a prompt. ``considered``: how many
    tools were weighed.
    """

    request: str
    tools: tuple[OfferedTool, ...]
    considered: int
    text: str

    @classmethod
    def of(cls, made: offer.ToolOffer, docs: Mapping[ToolId, ToolDoc]) -> "Offer":
        """With the documents of its tools."""
        text = render_offer([docs[tool.id] for tool in made.tools if tool.id in docs])
        names = {one.tool: one.name for one in text.signatures}
        tools = [_offered(tool, names[tool.id], docs[tool.id]) for tool in made.tools if tool.id in names]
        return cls(made.request, tuple(tools), made.considered, text.text)


def _offered(tool: offer.OfferEntry, name: str, doc: ToolDoc) -> OfferedTool:
    reasons = tuple(Reason(one.kind, one.description, one.share) for one in tool.reasons)
    return OfferedTool(tool.id, name, doc.description, tool.score, reasons)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a run made. ``response``: what was answered, as text; ``note``: what to know of it."""

    tool: str
    arguments: JsonObject
    status: str
    response: str
    note: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run came to. ``program``: the text that served it, where one did; ``calls``: in order, without those that were gone around.

    ``outcome``: answered, partly, gave_up, budget, cancelled or failed. ``text`` says what is missing; ``error`` what broke a run that failed. ``details``: the object that ``ask --json`` prints.
    ``not_learnt``: why the run was not learnt from, or not as a whole; empty where it was, or was not to be.
    """

    run: str
    request: str
    text: str
    outcome: RunOutcome
    error: str
    calls: tuple[Call, ...]
    program: str
    details: JsonObject = field(repr=False)
    earlier: tuple[EarlierRun, ...] = field(default=(), repr=False)
    said: tuple[str, ...] = field(default=(), repr=False)
    files: tuple[GivenFile, ...] = field(default=(), repr=False)
    not_learnt: str = ""

    @property
    def ok(self) -> bool:
        """Whether all of the request was answered."""
        return self.outcome == "answered"

    @classmethod
    def of(
        cls, records: Sequence[EventRecord], after: "Answer | None" = None, files: Sequence[GivenFile] = ()
    ) -> "Answer":
        """Out of all events of a run. ``after``: the answer that it followed; ``files``: that it went over."""
        transcript = RunTranscript.from_records(records)
        if transcript.end is None:
            raise ValueError("a run's answer is known by its last event, run.finished")
        calls = [
            Call(one.tool, one.arguments, one.status, one.response, one.note)
            for one in (transcript.steps[step] for step in sorted(transcript.steps))
        ]
        programs = [one.programs.last.text for one in transcript.ordered_subtasks if one.programs.last is not None]
        before = after.earlier if after else ()
        said = after.said if after else ()
        return cls(
            run=records[0].run,
            request=transcript.request,
            text=transcript.end.answer,
            outcome=transcript.end.outcome,
            error=transcript.end.error,
            calls=tuple(calls),
            program="\n\n".join(programs),
            details=transcript.to_json(),
            earlier=(*before, build_earlier_run(records))[-MAX_RUNS:],
            said=(*said, transcript.request),
            files=tuple(files),
            not_learnt=next((one.event.error for one in records if isinstance(one.event, WeightsLearned)), ""),
        )
