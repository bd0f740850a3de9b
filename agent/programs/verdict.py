"""Verdict on a finished program: what it claims, limited by what is known of its calls."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from agent.execution.call_cache import VOUCHED_NOTE
from agent.execution.error_bodies import is_empty
from agent.policy.protocol import Results
from agent.programs.protocol import ProgramError
from agent.request_reader import RequestReview
from agent.text import clean, format_scalar
from agent.user_questions import describe_unanswered
from agent.wrong_answers import is_known_wrong
from domain.event import ProgramEnded, QuestionAnswered
from domain.plan import StepResult
from domain.program import Answered
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

_RANK: dict[Answered, int] = {"no": 0, "partly": 1, "yes": 2}
MAX_ANSWER = 16_000
"""Maximum number of characters of an answer that are reported."""
WRONG = "you said that this answer is wrong, and nothing else was found"
_NAMED = 3
_NONE = "NoneType"
_NOTHING = frozenset({"", "none", "null", "nan", "undefined", "unknown", "n/a", "[]", "{}", "()", "''", '""'})
_EMPTY_WORD = re.compile(r"\b(?:None|nan|NaN)\b")
_ANSWERED_WORDS: dict[JsonValue, Answered] = {
    "yes": "yes",
    "true": "yes",
    "partly": "partly",
    "no": "no",
    "false": "no",
}


@dataclass(frozen=True, slots=True)
class ProgramClaim:
    """Claim of a program at its end."""

    answered: Answered
    answer: str
    missing: str = ""
    empty: bool = False
    """Its answer holds no value that anybody could use."""


@dataclass(frozen=True, slots=True)
class FinishedProgram:
    """Facts about a program that has ended."""

    text: str
    """Texts of all its cells."""
    calls: Results = ()
    """Its calls, in order."""
    earlier_calls: Results = ()
    """Calls of earlier texts for the same request."""
    uses_given: bool = False
    """It uses results that it was given."""
    unreached: Sequence[str] = ()
    """Changing functions that its text uses but that were not called."""
    review: RequestReview = field(default_factory=RequestReview)
    """Review of its calls against the request."""
    request: str = ""
    wrong_answers: Collection[str] = ()
    """Answers to the request that the user has rejected, as values or as they were shown."""


@dataclass(frozen=True, slots=True)
class ProgramVerdict:
    """Judgement of a claim."""

    claim: ProgramClaim
    answered: Answered
    veto: str = ""
    """Why it is less than the claim; empty if it is the same."""


def is_worse(end: ProgramEnded | None, than: ProgramEnded) -> bool:
    """Return True if a program achieved less than an earlier one, or did not end at all."""
    return end is None or _RANK[end.verdict] < _RANK[than.verdict]


def explain_cut_short(broken: ProgramError, calls: Sequence[tuple[str, StepResult]]) -> str:
    """Return why a program must not be written anew after its error; empty if it may be.

    That is so if it failed for lack of a lost answer to a change that took effect, since a new text would make that change again. It is also
    so if the user left out some of its changes and let others be made. ``calls``: its own calls, by function.
    """
    left_out = [name for name, result in calls if result.left_out]
    if left_out and broken.final and any(result.status == "ok" for _, result in calls):
        return f"you left out {_join_names(left_out)}, and it ended with that"
    lost = [name for name, result in calls if result.status == "ok" and result.note.startswith(VOUCHED_NOTE)]
    if not lost or broken.final or broken.kind not in ("TypeError", "AttributeError") or _NONE not in broken.message:
        return ""
    return f"the answer of {_join_names(lost)} is lost (you said that it took effect), and what was to come after it needs that answer"


def judge_unanswered(question: QuestionAnswered, *, changed: bool) -> ProgramVerdict:
    """Return the verdict for a program that ended with an unanswered question: no tool could find what it lacks."""
    served: Answered = "partly" if changed else "no"
    return ProgramVerdict(ProgramClaim(served, ""), served, describe_unanswered(question))


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
    """Parse the last value of a program; a value without claim fields counts as an answer to the whole request."""
    if not isinstance(value, dict) or not {"answered", "answer"} & set(value):
        return ProgramClaim("yes", render_answer(value), empty=is_nothing(value))
    answer = value.get("answer")
    answered_word = value.get("answered", "yes")
    answered = _ANSWERED_WORDS.get(str(answered_word).strip().casefold(), "partly")
    return ProgramClaim(
        answered, render_answer(answer), clean(render_answer(value.get("missing")), 600), is_nothing(answer)
    )


def render_answer(value: JsonValue) -> str:
    """Render a value as an answer: text as it is, scalars in a row, records one a line."""
    match value:
        case None:
            return ""
        case str():
            return value.strip()[:MAX_ANSWER]
        case dict():
            return "\n".join(f"{name}: {_render_inline(one)}" for name, one in value.items())[:MAX_ANSWER]
        case list() if any(isinstance(one, (dict, list)) for one in value):
            return "\n".join(_render_inline(one) for one in value)[:MAX_ANSWER]
        case list():
            return ", ".join(_render_inline(one) for one in value)[:MAX_ANSWER]
        case _:
            return format_scalar(value)


def _render_inline(value: JsonValue) -> str:
    """Render a value on one line."""
    match value:
        case str():
            return clean(value, 2000)
        case dict():
            return ", ".join(f"{name}: {_render_inline(one)}" for name, one in value.items())
        case list():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return format_scalar(value)


def is_nothing(value: JsonValue) -> bool:
    """Return True if a value says nothing: None, empty, or a text that only means that."""
    match value:
        case None:
            return True
        case str():
            return value.strip().strip(".").casefold() in _NOTHING
        case list():
            return all(is_nothing(one) for one in value)
        case dict():
            return all(is_nothing(one) for one in value.values())
        case _:
            return False


def judge_claim(claim: ProgramClaim, ran: FinishedProgram) -> ProgramVerdict:
    """Judge a claim by what is known of the program's calls.

    The verdict is never better than the claim.
    """
    if is_known_wrong(claim.answer, ran.wrong_answers, ran.request) and not _is_change_last(ran):
        return ProgramVerdict(claim, "no", WRONG)
    if claim.answered == "no":
        return ProgramVerdict(claim, "no")
    hollow = _explain_hollow(claim, ran)
    if hollow:
        return ProgramVerdict(claim, "no", hollow)
    lost = _find_lost_changes(ran.calls)
    if lost:
        of_use = any(
            result.status == "ok" and (claim.answered == "partly" or not tool.safe)
            for tool, result in (*ran.earlier_calls, *ran.calls)
        )
        if of_use and claim.answered == "partly":
            return ProgramVerdict(claim, "partly")
        return ProgramVerdict(
            claim, "partly" if of_use else "no", f"not all of its changes were made: {_join_names(lost)}"
        )
    lacking = _explain_lacking(claim, ran)
    return (
        ProgramVerdict(claim, "partly", lacking)
        if lacking and claim.answered == "yes"
        else ProgramVerdict(claim, claim.answered)
    )


def find_unreached(text: str, docs: Mapping[str, ToolDoc], called: Collection[str]) -> list[str]:
    """Return the changing functions that a text uses but that were not called."""
    names = parse_source(text).uses
    return [name for name, tool in docs.items() if not tool.safe and name in names and name not in called]


def judge_calls(calls: Results) -> ProgramVerdict:
    """Judge a plan that returns no value, by the results of its calls."""
    lost = _find_lost_changes(calls)
    if not any(result.status == "ok" for _, result in calls):
        return ProgramVerdict(ProgramClaim("no", ""), "no", "none of its calls succeeded")
    if lost:
        return ProgramVerdict(
            ProgramClaim("partly", ""), "partly", f"not all of its changes were made: {_join_names(lost)}"
        )
    tool, result = calls[-1]
    if tool.safe and is_empty(result.response):
        return ProgramVerdict(ProgramClaim("no", ""), "no", f"{clean(tool.api, 80)} found nothing")
    return ProgramVerdict(ProgramClaim("yes", ""), "yes")


def _explain_hollow(claim: ProgramClaim, ran: FinishedProgram) -> str:
    """Return why nothing supports a claim; empty if something does."""
    if claim.empty and not _is_change_last(ran):
        return "its answer is empty"
    if not ran.uses_given and not any(result.status == "ok" for _, result in (*ran.calls, *ran.earlier_calls)):
        return "no call that succeeded stands behind its answer"
    return ""


def _is_change_last(ran: FinishedProgram) -> bool:
    """Return True if the last call was a change and all changes were made.

    Many changes answer nothing, so there may be nothing to say.
    """
    return any(not tool.safe and result.status == "ok" for tool, result in ran.calls[-1:]) and not _find_lost_changes(
        ran.calls
    )


def _find_lost_changes(calls: Results) -> list[str]:
    """Return the changes that failed or whose outcome is unknown; each call counts by its last result.

    A tool that was tried until it succeeded, once, has made its change: what failed before was a way to it.
    """
    last = {(tool.id, repr(result.arguments)): (tool, result) for tool, result in calls if not tool.safe}
    went: dict[ToolId, list[str]] = {}
    for tool, result in calls:
        went.setdefault(tool.id, []).append(result.status)
    tried = {tool for tool, each in went.items() if each[-1] == "ok" and each.count("ok") == 1}
    bad = [(tool, result.status) for tool, result in last.values() if result.status != "ok"]
    return [tool.api for tool, status in bad if status == "unknown" or tool.id not in tried]


def _explain_lacking(claim: ProgramClaim, ran: FinishedProgram) -> str:
    """Return why a request is only partly served although its program claims more; empty if nothing suggests so."""
    if ran.unreached and any(result.status != "ok" for _, result in ran.calls):
        return f"a call failed before it came to change anything: {_join_names(ran.unreached)}"
    if remarks := ran.review.mismatches:
        return clean(remarks[0], 300)
    if ran.review.is_unrelated:
        return "its calls have to do with nothing that the request names"
    unused = [one for one in ran.review.unused_values if one.casefold() not in ran.text.casefold()]
    if unused:
        return f"no call took {_join_names(unused)}"
    if _EMPTY_WORD.search(claim.answer) and not _EMPTY_WORD.search(" ".join(_collect_texts(ran))):
        return "its answer has a value in it that is not there"
    return ""


def _join_names(names: Sequence[str]) -> str:
    """Return the first few names, without repeats."""
    return ", ".join(clean(one, 80) for one in list(dict.fromkeys(names))[:_NAMED])


def _collect_texts(ran: FinishedProgram) -> Iterator[str]:
    """Yield the possible sources of an answer's words: texts in the program and responses of calls."""
    yield from parse_source(ran.text).texts
    for _, result in (*ran.earlier_calls, *ran.calls):
        yield result.response
