"""Distinction between a missing route and a missing object after a 404, by probing a path that cannot exist."""

import re
import string
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from secrets import choice
from urllib.parse import unquote, urlsplit, urlunsplit

from agent.execution.host_memory import HostAnswer, HostMemory
from agent.execution.http.answer_comparison import (
    Likeness,
    compare_answers,
    has_enough_words,
    is_html_page,
    names_requested_route,
)
from agent.execution.http.attempt import AttemptResult, CallInProgress

HostProbe = Callable[[CallInProgress, str, str], Awaitable[HostAnswer | None]]
"""Probes the host of a call by method and URL, without keys; returns None if it gave no answer."""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_ROUTE_GONE_NOTE = "the path does not exist: this host answers any path that cannot exist in the same words"
_PAGE_NOTE = "the path does not exist: the answer is the page that this host gives for any path"
_UNDECIDED_NOTE = "this host's 404 does not show whether the path or what the values name is missing"


@dataclass(frozen=True, slots=True)
class _ControlRequest:
    """Request to a URL that cannot exist, beside or below that of a call."""

    key: tuple[str, ...]
    """Key under which its answer is remembered."""
    url: str
    random_words: tuple[str, ...]
    """Random words in its path, which are masked in its answer."""


class MissingRouteDetector:
    """Judges answers of calls by the host's answers to paths that cannot exist (ADR 26)."""

    def __init__(self, memory: HostMemory, probe: HostProbe) -> None:
        self._memory = memory
        self._probe = probe

    async def judge(self, call: CallInProgress, attempt: AttemptResult) -> AttemptResult:
        """Decide the outcome of a 404, and of an HTML page in place of an answer; return others unchanged."""
        if attempt.outcome == "undecided":
            return await self._judge_404(call, attempt)
        if (
            attempt.outcome == "ok"
            and call.tool.safe
            and is_html_page(attempt.body)
            and await self._is_page_for_any_path(call, attempt)
        ):
            return replace(attempt, outcome="gone", notes=(*attempt.notes, _PAGE_NOTE))
        if attempt.outcome == "ok":
            self._memory.record_answer(call.tool)
        return attempt

    async def _judge_404(self, call: CallInProgress, attempt: AttemptResult) -> AttemptResult:
        own_answer, nearby_control = _build_own_answer(call, attempt), _build_nearby_control(call)
        control_answer = await self._fetch_control_answer(call, nearby_control) if nearby_control else None
        likeness = _compare_with_control(own_answer, control_answer)
        if (
            likeness == "different"
            and _compare_with_control(own_answer, await self._fetch_control_answer(call, _build_nested_control(call)))
            == "different"
        ):
            return replace(attempt, outcome="absent")
        if nearby_control and await self._has_route(call, nearby_control):
            return replace(attempt, outcome="absent")
        if (
            control_answer
            and likeness == "same"
            and names_requested_route(own_answer)
            and names_requested_route(control_answer)
        ):
            return replace(attempt, outcome="gone", notes=(*attempt.notes, _ROUTE_GONE_NOTE))
        if self._memory.has_answered(call.tool):
            return replace(attempt, outcome="absent")
        return replace(attempt, notes=(*attempt.notes, _UNDECIDED_NOTE))

    async def _is_page_for_any_path(self, call: CallInProgress, attempt: AttemptResult) -> bool:
        nearby = _build_nearby_control(call) if has_enough_words(attempt.body) else None
        control_answer = await self._fetch_control_answer(call, nearby) if nearby else None
        if control_answer is None or not 200 <= control_answer.status < 300:
            return False
        return compare_answers(_build_own_answer(call, attempt), control_answer) == "same"

    async def _fetch_control_answer(self, call: CallInProgress, control: _ControlRequest) -> HostAnswer | None:
        method = _to_safe_method(call.tool.method)
        return await self._fetch_answer(call, method, control)

    async def _has_route(self, call: CallInProgress, nearby: _ControlRequest) -> bool:
        """Return whether the host answers OPTIONS for the call's path but not for one that cannot exist.

        OPTIONS has no effect, and frameworks answer it with 200 or 405 if the route exists.
        """
        own_answer = await self._fetch_answer(
            call, "OPTIONS", _ControlRequest(_build_memory_key(call, "own"), _strip_query(call), ())
        )
        if own_answer is None or not (200 <= own_answer.status < 300 or own_answer.status == 405):
            return False
        allowed = {method.strip().upper() for method in own_answer.allow_header.split(",") if method.strip()}
        if own_answer.status < 300 and allowed and not {call.tool.method.upper(), "*"} & allowed:
            return False
        nearby_answer = await self._fetch_answer(call, "OPTIONS", nearby)
        return nearby_answer is not None and nearby_answer.status in (404, 410)

    async def _fetch_answer(self, call: CallInProgress, method: str, control: _ControlRequest) -> HostAnswer | None:
        async def fetch() -> HostAnswer | None:
            answer = await self._probe(call, method, control.url)
            return replace(answer, request_words=control.random_words) if answer else None

        return await self._memory.get_or_fetch_answer((method, *control.key), fetch)


def _compare_with_control(answer: HostAnswer, control: HostAnswer | None) -> Likeness:
    """Compare a 404 with the answer to a path that cannot exist.

    A host that answers such paths with a page (2xx) uses 404 for something else. The answer of one that asks for a key
    first, or redirects, shows nothing.
    """
    if control is None or not (control.status == 404 or 200 <= control.status < 300):
        return "unclear"
    return compare_answers(answer, control) if control.status == 404 else "different"


def _to_safe_method(method: str) -> str:
    return method.upper() if method.upper() in ("GET", "HEAD") else "GET"


def _build_own_answer(call: CallInProgress, attempt: AttemptResult) -> HostAnswer:
    """Return the call's answer; its own words are the last fixed segment and the values in its path."""
    parts, template = urlsplit(call.keyed_request.request.url), urlsplit(call.tool.url).path.split("/")
    segments, last_fixed = parts.path.split("/"), _find_last_fixed_segment(template)
    own_segments = [
        segment
        for position, segment in enumerate(segments)
        if position == last_fixed or (position < len(template) and "{" in template[position])
    ]
    # The body was redacted, so the target is redacted too: a key in the query must match what stands in the body.
    target = call.keyed_request.redactor.redact(parts.path + (f"?{parts.query}" if parts.query else ""))
    return HostAnswer(
        attempt.status or 0, attempt.body, call.keyed_request.request.method, target, tuple(map(unquote, own_segments))
    )


def _build_nearby_control(call: CallInProgress) -> _ControlRequest | None:
    """Build a path beside the call's, with random words for the last fixed segment and the values.

    Return None if the path has no fixed segment.
    """
    parts = urlsplit(call.tool.url)
    segments = parts.path.split("/")
    fixed_index = _find_last_fixed_segment(segments)
    if fixed_index < 0:
        return None
    words: list[str] = []

    def add_random_word(_: object = None) -> str:
        words.append("".join(choice(string.ascii_lowercase) for _ in range(14)))
        return words[-1]

    key_segments = [*segments[:fixed_index], "*", *segments[fixed_index + 1 :]]
    control_segments = [_PLACEHOLDER.sub(add_random_word, segment) for segment in segments]
    control_segments[fixed_index] = add_random_word() + PurePosixPath(segments[fixed_index]).suffix
    key = _build_memory_key(call, "beside", _PLACEHOLDER.sub("{}", "/".join(key_segments)))
    return _ControlRequest(
        key, urlunsplit((parts.scheme, parts.netloc, "/".join(control_segments), "", "")), tuple(words)
    )


def _build_nested_control(call: CallInProgress) -> _ControlRequest:
    """Build a path below the call's, with one more random segment.

    A service mounted there may word its 404 in its own way.
    """
    word = "".join(choice(string.ascii_lowercase) for _ in range(14))
    return _ControlRequest(_build_memory_key(call, "below"), f"{_strip_query(call).rstrip('/')}/{word}", (word,))


def _build_memory_key(call: CallInProgress, kind: str, path: str = "") -> tuple[str, ...]:
    return (kind, call.host_port, path or _PLACEHOLDER.sub("{}", call.tool.url.partition("?")[0]))


def _strip_query(call: CallInProgress) -> str:
    return urlunsplit((*urlsplit(call.keyed_request.request.url)[:3], "", ""))


def _find_last_fixed_segment(segments: list[str]) -> int:
    """Return the index of the last segment without a placeholder; -1 if there is none."""
    return max((position for position, segment in enumerate(segments) if segment and "{" not in segment), default=-1)
