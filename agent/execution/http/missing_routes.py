"""Tells a missing route from a missing thing after a 404, by how the host answers a path that cannot exist."""

import re
import string
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from secrets import choice
from urllib.parse import unquote, urlsplit, urlunsplit

from agent.execution.host_memory import HostAnswer, HostMemory
from agent.execution.http.answer_forms import Likeness, compare_answers, has_words, is_page, names_route
from agent.execution.http.attempt import Call, Try

Ask = Callable[[Call, str, str], Awaitable[HostAnswer | None]]
"""Probes the host of a call, by method and URL, without keys; None where it gave no answer."""

_PLACE = re.compile(r"\{[^{}]*\}")
_ROUTE_GONE = "the path does not exist: this host answers any path that cannot exist in the same words"
_PAGE = "the path does not exist: the answer is the page that this host gives for any path"
_UNDECIDED = "this host's 404 does not show whether the path or what the values name is missing"


@dataclass(frozen=True, slots=True)
class _Control:
    """URL that cannot exist, beside or below that of a call."""

    key: tuple[str, ...]
    """Key under which its answer is remembered."""
    url: str
    words: tuple[str, ...]
    """Random words in its path, which are masked in its answer."""


class MissingRoutes:
    """Judges answers of calls by the host's answers to paths that cannot exist (ADR 26)."""

    def __init__(self, memory: HostMemory, ask: Ask) -> None:
        self._memory = memory
        self._ask = ask

    async def judge(self, call: Call, last: Try) -> Try:
        """Decide the outcome of a 404, and of a page in place of an answer. Return any other attempt unchanged."""
        if last.outcome == "undecided":
            return await self._judge_404(call, last)
        if last.outcome == "ok" and call.tool.safe and is_page(last.body) and await self._is_page_for_all(call, last):
            return replace(last, outcome="gone", notes=(*last.notes, _PAGE))
        if last.outcome == "ok":
            self._memory.record_answer(call.tool)
        return last

    async def _judge_404(self, call: Call, last: Try) -> Try:
        own, beside = _own_answer(call, last), _beside(call)
        control = await self._control(call, beside) if beside else None
        likeness = _likeness(own, control)
        if likeness == "different" and _likeness(own, await self._control(call, _below(call))) == "different":
            return replace(last, outcome="absent")
        if beside and await self._route_exists(call, beside):
            return replace(last, outcome="absent")
        if control and likeness == "same" and names_route(own) and names_route(control):
            return replace(last, outcome="gone", notes=(*last.notes, _ROUTE_GONE))
        if self._memory.has_answered(call.tool):
            return replace(last, outcome="absent")
        return replace(last, notes=(*last.notes, _UNDECIDED))

    async def _is_page_for_all(self, call: Call, last: Try) -> bool:
        beside = _beside(call) if has_words(last.body) else None
        control = await self._control(call, beside) if beside else None
        if control is None or not 200 <= control.status < 300:
            return False
        return compare_answers(_own_answer(call, last), control) == "same"

    async def _control(self, call: Call, control: _Control) -> HostAnswer | None:
        method = _reading(call.tool.method)
        return await self._answer(call, method, control)

    async def _route_exists(self, call: Call, beside: _Control) -> bool:
        """Return whether OPTIONS, which has no effect, tells the call's path from one that cannot exist.

        Frameworks answer it with 200 or 405 by the route alone.
        """
        there = await self._answer(call, "OPTIONS", _Control(_key(call, "own"), _without_query(call), ()))
        if there is None or not (200 <= there.status < 300 or there.status == 405):
            return False
        allowed = {method.strip().upper() for method in there.allow.split(",") if method.strip()}
        if there.status < 300 and allowed and not {call.tool.method.upper(), "*"} & allowed:
            return False
        elsewhere = await self._answer(call, "OPTIONS", beside)
        return elsewhere is not None and elsewhere.status in (404, 410)

    async def _answer(self, call: Call, method: str, control: _Control) -> HostAnswer | None:
        async def ask() -> HostAnswer | None:
            found = await self._ask(call, method, control.url)
            return replace(found, words=control.words) if found else None

        return await self._memory.recall((method, *control.key), ask)


def _likeness(own: HostAnswer, control: HostAnswer | None) -> Likeness:
    """Compare a 404 with the answer to a path that cannot exist.

    A host that answers such paths with a page (2xx) uses 404 for something else; one that asks for a key first, or redirects, shows nothing.
    """
    if control is None or not (control.status == 404 or 200 <= control.status < 300):
        return "unclear"
    return compare_answers(own, control) if control.status == 404 else "different"


def _reading(method: str) -> str:
    return method.upper() if method.upper() in ("GET", "HEAD") else "GET"


def _own_answer(call: Call, last: Try) -> HostAnswer:
    """Return the call's answer. Its own words are the last fixed segment and the values in its path."""
    parts, template = urlsplit(call.keyed.request.url), urlsplit(call.tool.url).path.split("/")
    segments, last_fixed = parts.path.split("/"), _last_fixed(template)
    own = [
        segment
        for at, segment in enumerate(segments)
        if at == last_fixed or (at < len(template) and "{" in template[at])
    ]
    # The body was redacted, so a key in the query is looked for as it stands there.
    target = call.keyed.redactor.clean(parts.path + (f"?{parts.query}" if parts.query else ""))
    return HostAnswer(last.status or 0, last.body, call.keyed.request.method, target, tuple(map(unquote, own)))


def _beside(call: Call) -> _Control | None:
    """Build a path beside the call's, with random words as the last fixed segment and the values.

    Return None where the path has no fixed segment.
    """
    parts = urlsplit(call.tool.url)
    segments = parts.path.split("/")
    at = _last_fixed(segments)
    if at < 0:
        return None
    words: list[str] = []

    def word(_: object = None) -> str:
        words.append("".join(choice(string.ascii_lowercase) for _ in range(14)))
        return words[-1]

    shape = [*segments[:at], "*", *segments[at + 1 :]]
    filled = [_PLACE.sub(word, segment) for segment in segments]
    filled[at] = word() + PurePosixPath(segments[at]).suffix
    key = _key(call, "beside", _PLACE.sub("{}", "/".join(shape)))
    return _Control(key, urlunsplit((parts.scheme, parts.netloc, "/".join(filled), "", "")), tuple(words))


def _below(call: Call) -> _Control:
    """Build a path below the call's, with one more random segment.

    A service mounted there may word its 404 in its own way.
    """
    word = "".join(choice(string.ascii_lowercase) for _ in range(14))
    return _Control(_key(call, "below"), f"{_without_query(call).rstrip('/')}/{word}", (word,))


def _key(call: Call, kind: str, path: str = "") -> tuple[str, ...]:
    return (kind, call.place, path or _PLACE.sub("{}", call.tool.url.partition("?")[0]))


def _without_query(call: Call) -> str:
    return urlunsplit((*urlsplit(call.keyed.request.url)[:3], "", ""))


def _last_fixed(segments: list[str]) -> int:
    """Return the index of the last segment without a value; -1 where there is none."""
    return max((at for at, segment in enumerate(segments) if segment and "{" not in segment), default=-1)
