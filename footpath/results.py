"""Result types of the Python API: tools, offers, calls and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent.conversation import MAX_EARLIER_RUNS, EarlierRun, build_earlier_run
from agent.offer import tool_offer
from agent.programs.signatures import render_offer
from agent.transcript import RunTranscript
from domain.event import EventRecord, RunOutcome, WeightsLearned
from domain.given_file import GivenFile
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId

Verdict = Literal["right", "wrong"]
"""A user's judgement of an answer."""


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool found by a search."""

    id: str
    description: str
    score: float
    """Relevance, comparable within one search only."""
    alike: tuple[str, ...] = ()
    """Ids of copies of the same operation."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the store, with its document."""

    id: str
    description: str
    method: str
    url: str
    changes: bool
    """True if a call may have side effects."""
    signature: str
    """The tool as a typed function, as programs call it."""
    document: JsonObject
    """The stored document (``ToolDoc``) as JSON."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for offering a tool, or against it."""

    kind: str
    """Kind of the reason, as an identifier."""
    told: str
    """The reason in words."""
    share: float
    """Contribution to the score of the tool; negative where the reason speaks against it."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of an offer."""

    id: str
    name: str
    """Name of its function in programs over this offer."""
    description: str
    score: float
    """Sum of the shares of its reasons."""
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools to serve a request with, chosen by search and graph."""

    request: str
    tools: tuple[OfferedTool, ...]
    """Best first."""
    considered: int
    """Number of tools that were scored."""
    text: str
    """All tools as typed functions, for a prompt."""

    @classmethod
    def of(cls, made: tool_offer.ToolOffer, docs: Mapping[ToolId, ToolDoc]) -> "Offer":
        """Build the offer; ``docs`` are the documents of its tools. Tools without one are left out."""
        text = render_offer([docs[tool.id] for tool in made.tools if tool.id in docs])
        names = {signature.tool: signature.name for signature in text.signatures}
        tools = [_to_offered_tool(tool, names[tool.id], docs[tool.id]) for tool in made.tools if tool.id in names]
        return cls(made.request, tuple(tools), made.considered, text.text)


def _to_offered_tool(tool: tool_offer.OfferEntry, name: str, doc: ToolDoc) -> OfferedTool:
    reasons = tuple(Reason(reason.kind, reason.description, reason.share) for reason in tool.reasons)
    return OfferedTool(tool.id, name, doc.description, tool.score, reasons)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a run made."""

    tool: str
    """Id of the tool."""
    arguments: JsonObject
    status: str
    """``ok``, or how the call failed."""
    response: str
    """Body of the response as text."""
    note: str
    """Remark on the outcome, such as the reason of a failure."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a run."""

    run: str
    """Id of the run."""
    request: str
    text: str
    """The answer in words; it also says what is missing."""
    outcome: RunOutcome
    """``answered``, ``partly``, ``gave_up``, ``budget``, ``cancelled`` or ``failed``."""
    error: str
    """The error of a run that failed; else empty."""
    calls: tuple[Call, ...]
    """Calls in order, without those of abandoned paths."""
    program: str
    """Text of the programs that served the request; empty where none did."""
    details: JsonObject = field(repr=False)
    """The object that ``ask --json`` prints."""
    earlier: tuple[EarlierRun, ...] = field(default=(), repr=False)
    """This run and the runs that it followed, the oldest first, as a follow-up request needs them."""
    said: tuple[str, ...] = field(default=(), repr=False)
    """All requests of the conversation, this one included."""
    files: tuple[GivenFile, ...] = field(default=(), repr=False)
    """Files available to this run."""
    not_learnt: str = ""
    """Why nothing, or not everything, was learnt; empty if all was learnt, or nothing was to be."""

    @property
    def ok(self) -> bool:
        """Return whether the whole request was answered."""
        return self.outcome == "answered"

    @classmethod
    def of(
        cls, records: Sequence[EventRecord], after: "Answer | None" = None, files: Sequence[GivenFile] = ()
    ) -> "Answer":
        """Build the answer from all events of a run.

        ``after``: the answer that the run followed; ``files``: the files that it could use. ``ValueError`` where the
        last event, ``run.finished``, is missing.
        """
        transcript = RunTranscript.from_records(records)
        if transcript.end is None:
            raise ValueError("a run's answer is known by its last event, run.finished")
        calls = [
            Call(entry.tool, entry.arguments, entry.status, entry.response, entry.note)
            for entry in (transcript.steps[step] for step in sorted(transcript.steps))
        ]
        programs = [
            entry.programs.last.text for entry in transcript.ordered_subtasks if entry.programs.last is not None
        ]
        earlier_runs = after.earlier if after else ()
        earlier_texts = after.said if after else ()
        return cls(
            run=records[0].run,
            request=transcript.request,
            text=transcript.end.answer,
            outcome=transcript.end.outcome,
            error=transcript.end.error,
            calls=tuple(calls),
            program="\n\n".join(programs),
            details=transcript.to_json(),
            earlier=(*earlier_runs, build_earlier_run(records))[-MAX_EARLIER_RUNS:],
            said=(*earlier_texts, transcript.request),
            files=tuple(files),
            not_learnt=next((entry.event.error for entry in records if isinstance(entry.event, WeightsLearned)), ""),
        )
