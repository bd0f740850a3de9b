"""Verdict on a finished program: what it claims, limited by what is known of its calls."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from agent.asking import still_open
from agent.execution.call_cache import HAPPENED
from agent.execution.error_bodies import is_empty
from agent.policy.protocol import Results
from agent.programs.protocol import Broken
from agent.request_reader import Review
from agent.text import clean, shown
from agent.wrong_answers import said_again
from domain.event import ProgramEnded, QuestionAnswered
from domain.plan import StepResult
from domain.program import Answered
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

_RANK: dict[Answered, int] = {"no": 0, "partly": 1, "yes": 2}
LONGEST = 16_000
"""Maximum number of characters of an answer that are reported."""
WRONG = "you said that this answer is wrong, and nothing else was found"
_NAMED = 3
_NONE = "NoneType"
_NOTHING = frozenset({"", "none", "null", "nan", "undefined", "unknown", "n/a", "[]", "{}", "()", "''", '""'})
_EMPTY_WORD = re.compile(r"\b(?:None|nan|NaN)\b")
_SAID: dict[JsonValue, Answered] = {"yes": "yes", "true": "yes", "partly": "partly", "no": "no", "false": "no"}


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of a program at its end."""

    answered: Answered
    answer: str
    missing: str = ""
    empty: bool = False
    """Its answer holds no value that anybody could use."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Facts about a program that has ended."""

    text: str
    """Texts of all its cells."""
    calls: Results = ()
    """Its calls, in order."""
    before: Results = ()
    """Calls of earlier texts for the same request."""
    given: bool = False
    """It uses results that it was given."""
    unreached: Sequence[str] = ()
    """Changing functions that its text uses but that were not called."""
    review: Review = field(default_factory=Review)
    """Review of its calls against the request."""
    request: str = ""
    wrong: Collection[str] = ()
    """Answers to the request that the user has rejected, as values or as they were shown."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Judgement of a claim."""

    claim: Claim
    answered: Answered
    veto: str = ""
    """Why it is less than the claim; empty if it is the same."""


def worse(end: ProgramEnded | None, than: ProgramEnded) -> bool:
    """Return True if a program achieved less than an earlier one, or did not end at all."""
    return end is None or _RANK[end.verdict] < _RANK[than.verdict]


def cut_short(broken: Broken, calls: Sequence[tuple[str, StepResult]]) -> str:
    """Return why a program must not be written anew after its error; empty if it may be.

    That is so if it failed for lack of a lost answer to a change that took effect, since a new text would make that change again. It is also
    so if the user left out some of its changes and let others be made. ``calls``: its own calls, by function.
    """
    left = [name for name, result in calls if result.left_out]
    if left and broken.final and any(result.status == "ok" for _, result in calls):
        return f"you left out {_named(left)}, and it ended with that"
    lost = [name for name, result in calls if result.status == "ok" and result.note.startswith(HAPPENED)]
    if not lost or broken.final or broken.kind not in ("TypeError", "AttributeError") or _NONE not in broken.message:
        return ""
    return f"the answer of {_named(lost)} is lost (you said that it took effect), and what was to come after it needs that answer"


def left_open(question: QuestionAnswered, *, changed: bool) -> Verdict:
    """Return the verdict for a program that ended with an unanswered question: no tool could find what it lacks."""
    served: Answered = "partly" if changed else "no"
    return Verdict(Claim(served, ""), served, still_open(question))


def ended(number: int, verdict: Verdict) -> ProgramEnded:
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


def claim_of(value: JsonValue) -> Claim:
    """Parse the last value of a program; a value without claim fields counts as an answer to the whole request."""
    if not isinstance(value, dict) or not {"answered", "answer"} & set(value):
        return Claim("yes", told(value), empty=is_nothing(value))
    answer = value.get("answer")
    said = value.get("answered", "yes")
    answered = _SAID.get(str(said).strip().casefold(), "partly")
    return Claim(answered, told(answer), clean(told(value.get("missing")), 600), is_nothing(answer))


def told(value: JsonValue) -> str:
    """Render a value as an answer: text as it is, scalars in a row, records one a line."""
    match value:
        case None:
            return ""
        case str():
            return value.strip()[:LONGEST]
        case dict():
            return "\n".join(f"{name}: {_in_line(one)}" for name, one in value.items())[:LONGEST]
        case list() if any(isinstance(one, (dict, list)) for one in value):
            return "\n".join(_in_line(one) for one in value)[:LONGEST]
        case list():
            return ", ".join(_in_line(one) for one in value)[:LONGEST]
        case _:
            return shown(value)


def _in_line(value: JsonValue) -> str:
    """Render a value on one line."""
    match value:
        case str():
            return clean(value, 2000)
        case dict():
            return ", ".join(f"{name}: {_in_line(one)}" for name, one in value.items())
        case list():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return shown(value)


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


def judged(claim: Claim, ran: Ran) -> Verdict:
    """Judge a claim by what is known of the program's calls.

    The verdict is never better than the claim.
    """
    if said_again(claim.answer, ran.wrong, ran.request) and not _ends_in_change(ran):
        return Verdict(claim, "no", WRONG)
    if claim.answered == "no":
        return Verdict(claim, "no")
    hollow = _hollow(claim, ran)
    if hollow:
        return Verdict(claim, "no", hollow)
    lost = _lost(ran.calls)
    if lost:
        of_use = any(
            result.status == "ok" and (claim.answered == "partly" or not tool.safe)
            for tool, result in (*ran.before, *ran.calls)
        )
        if of_use and claim.answered == "partly":
            return Verdict(claim, "partly")
        return Verdict(claim, "partly" if of_use else "no", f"not all of its changes were made: {_named(lost)}")
    lacking = _lacking(claim, ran)
    return Verdict(claim, "partly", lacking) if lacking and claim.answered == "yes" else Verdict(claim, claim.answered)


def unreached(text: str, docs: Mapping[str, ToolDoc], called: Collection[str]) -> list[str]:
    """Return the changing functions that a text uses but that were not called."""
    names = parse_source(text).uses
    return [name for name, tool in docs.items() if not tool.safe and name in names and name not in called]


def by_calls(calls: Results) -> Verdict:
    """Judge a plan that returns no value, by the results of its calls."""
    lost = _lost(calls)
    if not any(result.status == "ok" for _, result in calls):
        return Verdict(Claim("no", ""), "no", "none of its calls succeeded")
    if lost:
        return Verdict(Claim("partly", ""), "partly", f"not all of its changes were made: {_named(lost)}")
    tool, result = calls[-1]
    if tool.safe and is_empty(result.response):
        return Verdict(Claim("no", ""), "no", f"{clean(tool.api, 80)} found nothing")
    return Verdict(Claim("yes", ""), "yes")


def _hollow(claim: Claim, ran: Ran) -> str:
    """Return why nothing supports a claim; empty if something does."""
    if claim.empty and not _ends_in_change(ran):
        return "its answer is empty"
    if not ran.given and not any(result.status == "ok" for _, result in (*ran.calls, *ran.before)):
        return "no call that succeeded stands behind its answer"
    return ""


def _ends_in_change(ran: Ran) -> bool:
    """Return True if the last call was a change and all changes were made.

    Many changes answer nothing, so there may be nothing to say.
    """
    return any(not tool.safe and result.status == "ok" for tool, result in ran.calls[-1:]) and not _lost(ran.calls)


def _lost(calls: Results) -> list[str]:
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


def _lacking(claim: Claim, ran: Ran) -> str:
    """Return why a request is only partly served although its program claims more; empty if nothing suggests so."""
    if ran.unreached and any(result.status != "ok" for _, result in ran.calls):
        return f"a call failed before it came to change anything: {_named(ran.unreached)}"
    if said := ran.review.about_another:
        return clean(said[0], 300)
    if ran.review.beside_the_point:
        return "its calls have to do with nothing that the request names"
    unused = [one for one in ran.review.unused if one.casefold() not in ran.text.casefold()]
    if unused:
        return f"no call took {_named(unused)}"
    if _EMPTY_WORD.search(claim.answer) and not _EMPTY_WORD.search(" ".join(_words(ran))):
        return "its answer has a value in it that is not there"
    return ""


def _named(names: Sequence[str]) -> str:
    """Return the first few names, without repeats."""
    return ", ".join(clean(one, 80) for one in list(dict.fromkeys(names))[:_NAMED])


def _words(ran: Ran) -> Iterator[str]:
    """Yield the possible sources of an answer's words: texts in the program and responses of calls."""
    yield from parse_source(ran.text).texts
    for _, result in (*ran.before, *ran.calls):
        yield result.response
