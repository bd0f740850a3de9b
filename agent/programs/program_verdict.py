"""Judge a finished program: what it claims of its answer, limited by what is known of its calls."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from agent.execution.call_cache import CONFIRMED_BY_USER_NOTE
from agent.execution.error_bodies import is_empty_response
from agent.policy.protocol import Results
from agent.programs.program_types import ProgramError
from agent.request_reader import RequestReview
from agent.text import clean_text, format_scalar
from agent.user_questions import describe_unanswered
from agent.wrong_answers import is_known_wrong
from domain.event import ProgramEnded, QuestionAnswered
from domain.plan import StepResult
from domain.program import Answered
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

# Order of verdicts, worst first.
_RANK: dict[Answered, int] = {"no": 0, "partly": 1, "yes": 2}
MAX_ANSWER_LENGTH = 16_000
"""Maximum number of characters of an answer that are reported."""
WRONG_ANSWER_REASON = "you said that this answer is wrong, and nothing else was found"
"""Reason to reject an answer that the user has marked as wrong."""
_MAX_NAMES = 3
_NONE_TYPE = "NoneType"
_EMPTY_TEXTS = frozenset({"", "none", "null", "nan", "undefined", "unknown", "n/a", "[]", "{}", "()", "''", '""'})
"""Texts that count as no answer."""
_EMPTY_WORD = re.compile(r"\b(?:None|nan|NaN)\b")
"""Matches a missing value that a program has formatted into its answer."""
_ANSWERED_WORDS: dict[JsonValue, Answered] = {
    "yes": "yes",
    "true": "yes",
    "partly": "partly",
    "no": "no",
    "false": "no",
}
"""Claims by the words for them; any other word counts as "partly"."""


@dataclass(frozen=True, slots=True)
class ProgramClaim:
    """Claim of a program at its end."""

    answered: Answered
    """How far it claims to have answered the request."""
    answer: str
    """Its answer as text."""
    missing: str = ""
    """Description of what it lacked for a full answer."""
    empty: bool = False
    """The answer holds no value."""


@dataclass(frozen=True, slots=True)
class FinishedProgram:
    """Facts about a finished program, by which its claim is judged."""

    text: str
    """Texts of all its cells, joined."""
    calls: Results = ()
    """Its calls, in order."""
    earlier_calls: Results = ()
    """Calls of earlier texts for the same request."""
    may_answer_without_calls: bool = False
    """It may answer without calls, from earlier results or files."""
    unreached: Sequence[str] = ()
    """Changing functions that its text uses but that were not called."""
    review: RequestReview = field(default_factory=RequestReview)
    """Comparison of its calls with the request."""
    request: str = ""
    """Request of the subtask."""
    wrong_answers: Collection[str] = ()
    """Answers to the request that the user has marked as wrong, as values or as they were shown."""


@dataclass(frozen=True, slots=True)
class ProgramVerdict:
    """Verdict on a claim."""

    claim: ProgramClaim
    answered: Answered
    """How far the request counts as answered."""
    veto: str = ""
    """Reason why that is less than the claim; empty if it is the same."""


def is_worse(end: ProgramEnded | None, earlier_end: ProgramEnded) -> bool:
    """Return True if a program achieved less than an earlier one, or did not end at all."""
    return end is None or _RANK[end.verdict] < _RANK[earlier_end.verdict]


def explain_cut_short(error: ProgramError, calls: Sequence[tuple[str, StepResult]]) -> str:
    """Return why a program must not be rewritten after its error; empty if it may be.

    There are two such cases. The program lacked the response of a change that took effect but whose response was lost:
    a new program would repeat the change. Or the user deselected some of its changes and approved others. ``calls``:
    its calls by function name.
    """
    left_out = [name for name, result in calls if result.left_out]
    if left_out and error.final and any(result.status == "ok" for _, result in calls):
        return f"you left out {_join_names(left_out)}, and it ended with that"
    lost_answers = [
        name for name, result in calls if result.status == "ok" and result.note.startswith(CONFIRMED_BY_USER_NOTE)
    ]
    if (
        not lost_answers
        or error.final
        or error.kind not in ("TypeError", "AttributeError")
        or _NONE_TYPE not in error.message
    ):
        return ""
    return f"the answer of {_join_names(lost_answers)} is lost (you said that it took effect), and what was to come after it needs that answer"


def judge_unanswered(question: QuestionAnswered, *, changed: bool) -> ProgramVerdict:
    """Return the verdict on a program that ended with an unanswered question: "partly" if it has changed something."""
    answered: Answered = "partly" if changed else "no"
    return ProgramVerdict(ProgramClaim(answered, ""), answered, describe_unanswered(question))


def build_ended_event(number: int, verdict: ProgramVerdict) -> ProgramEnded:
    """Build the event of a program's end."""
    claim = verdict.claim
    return ProgramEnded(
        number=number,
        answered=claim.answered,
        answer=claim.answer,
        missing=claim.missing,
        verdict=verdict.answered,
        veto=verdict.veto,
    )


def parse_claim(value: JsonValue) -> ProgramClaim:
    """Parse the value of a program's last expression.

    Without the fields of a claim, it is a full answer.
    """
    if not isinstance(value, dict) or not {"answered", "answer"} & set(value):
        return ProgramClaim("yes", render_answer_value(value), empty=is_empty_value(value))
    answer = value.get("answer")
    answered_word = value.get("answered", "yes")
    answered = _ANSWERED_WORDS.get(str(answered_word).strip().casefold(), "partly")
    return ProgramClaim(
        answered,
        render_answer_value(answer),
        clean_text(render_answer_value(value.get("missing")), 600),
        is_empty_value(answer),
    )


def render_answer_value(value: JsonValue) -> str:
    """Render a value as an answer: text unchanged, scalars on one line, records each on a line of their own."""
    match value:
        case None:
            return ""
        case str():
            return value.strip()[:MAX_ANSWER_LENGTH]
        case dict():
            return "\n".join(f"{name}: {_render_on_one_line(item)}" for name, item in value.items())[:MAX_ANSWER_LENGTH]
        case list() if any(isinstance(item, (dict, list)) for item in value):
            return "\n".join(_render_on_one_line(item) for item in value)[:MAX_ANSWER_LENGTH]
        case list():
            return ", ".join(_render_on_one_line(item) for item in value)[:MAX_ANSWER_LENGTH]
        case _:
            return format_scalar(value)


def _render_on_one_line(value: JsonValue) -> str:
    """Render a value on one line."""
    match value:
        case str():
            return clean_text(value, 2000)
        case dict():
            return ", ".join(f"{name}: {_render_on_one_line(item)}" for name, item in value.items())
        case list():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return format_scalar(value)


def is_empty_value(value: JsonValue) -> bool:
    """Return True if a value is None, empty, a word for that, or a container of nothing else."""
    match value:
        case None:
            return True
        case str():
            return value.strip().strip(".").casefold() in _EMPTY_TEXTS
        case list():
            return all(is_empty_value(item) for item in value)
        case dict():
            return all(is_empty_value(item) for item in value.values())
        case _:
            return False


def judge_claim(claim: ProgramClaim, program: FinishedProgram) -> ProgramVerdict:
    """Judge a claim by what is known of the program's calls; the verdict is never better than the claim."""
    if is_known_wrong(claim.answer, program.wrong_answers, program.request) and not _ends_in_change(program):
        return ProgramVerdict(claim, "no", WRONG_ANSWER_REASON)
    if claim.answered == "no":
        return ProgramVerdict(claim, "no")
    unsupported_reason = _explain_unsupported(claim, program)
    if unsupported_reason:
        return ProgramVerdict(claim, "no", unsupported_reason)
    lost_changes = _find_lost_changes(program.calls)
    if lost_changes:
        has_useful_result = any(
            result.status == "ok" and (claim.answered == "partly" or not tool.safe)
            for tool, result in (*program.earlier_calls, *program.calls)
        )
        if has_useful_result and claim.answered == "partly":
            return ProgramVerdict(claim, "partly")
        return ProgramVerdict(
            claim,
            "partly" if has_useful_result else "no",
            f"not all of its changes were made: {_join_names(lost_changes)}",
        )
    shortfall = _explain_shortfall(claim, program)
    return (
        ProgramVerdict(claim, "partly", shortfall)
        if shortfall and claim.answered == "yes"
        else ProgramVerdict(claim, claim.answered)
    )


def find_unreached_changes(text: str, docs: Mapping[str, ToolDoc], called: Collection[str]) -> list[str]:
    """Return the functions with side effects that a text uses but that were not called."""
    names = parse_source(text).read_names
    return [name for name, tool in docs.items() if not tool.safe and name in names and name not in called]


def judge_calls(calls: Results) -> ProgramVerdict:
    """Judge a plan that returns no value, by the results of its calls."""
    lost_changes = _find_lost_changes(calls)
    if not any(result.status == "ok" for _, result in calls):
        return ProgramVerdict(ProgramClaim("no", ""), "no", "none of its calls succeeded")
    if lost_changes:
        return ProgramVerdict(
            ProgramClaim("partly", ""), "partly", f"not all of its changes were made: {_join_names(lost_changes)}"
        )
    tool, result = calls[-1]
    if tool.safe and is_empty_response(result.response):
        return ProgramVerdict(ProgramClaim("no", ""), "no", f"{clean_text(tool.api, 80)} found nothing")
    return ProgramVerdict(ProgramClaim("yes", ""), "yes")


def _explain_unsupported(claim: ProgramClaim, program: FinishedProgram) -> str:
    """Return the reason why no value or call supports a claim; empty if one does."""
    if claim.empty and not _ends_in_change(program):
        return "its answer is empty"
    if not program.may_answer_without_calls and not any(
        result.status == "ok" for _, result in (*program.calls, *program.earlier_calls)
    ):
        return "no call that succeeded stands behind its answer"
    return ""


def _ends_in_change(program: FinishedProgram) -> bool:
    """Return True if the last call was a change and all changes were made.

    Many changes have an empty response, so an empty answer is acceptable then.
    """
    return any(
        not tool.safe and result.status == "ok" for tool, result in program.calls[-1:]
    ) and not _find_lost_changes(program.calls)


def _find_lost_changes(calls: Results) -> list[str]:
    """Return the APIs of changes that failed or whose outcome is unknown.

    Of equal calls, the last result counts. If a tool succeeded exactly once, and last, its failed calls before count
    as attempts at that change.
    """
    last = {(tool.id, repr(result.arguments)): (tool, result) for tool, result in calls if not tool.safe}
    statuses: dict[ToolId, list[str]] = {}
    for tool, result in calls:
        statuses.setdefault(tool.id, []).append(result.status)
    recovered_tools = {
        tool for tool, tool_statuses in statuses.items() if tool_statuses[-1] == "ok" and tool_statuses.count("ok") == 1
    }
    unsuccessful = [(tool, result.status) for tool, result in last.values() if result.status != "ok"]
    return [tool.api for tool, status in unsuccessful if status == "unknown" or tool.id not in recovered_tools]


def _explain_shortfall(claim: ProgramClaim, program: FinishedProgram) -> str:
    """Return why a request is only partly answered although the program claims more.

    The result is empty if it may be right.
    """
    if program.unreached and any(result.status != "ok" for _, result in program.calls):
        return f"a call failed before it came to change anything: {_join_names(program.unreached)}"
    if mismatches := program.review.mismatches:
        return clean_text(mismatches[0], 300)
    if program.review.is_unrelated:
        return "its calls have to do with nothing that the request names"
    unused = [value for value in program.review.unused_values if value.casefold() not in program.text.casefold()]
    if unused:
        return f"no call took {_join_names(unused)}"
    if _EMPTY_WORD.search(claim.answer) and not _EMPTY_WORD.search(" ".join(_collect_answer_sources(program))):
        return "its answer has a value in it that is not there"
    return ""


def _join_names(names: Sequence[str]) -> str:
    """Return the first few names, without repeats."""
    return ", ".join(clean_text(name, 80) for name in list(dict.fromkeys(names))[:_MAX_NAMES])


def _collect_answer_sources(program: FinishedProgram) -> Iterator[str]:
    """Yield the possible sources of an answer's words: string literals of the program and responses of its calls."""
    yield from parse_source(program.text).string_constants
    for _, result in (*program.earlier_calls, *program.calls):
        yield result.response
