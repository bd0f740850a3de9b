"""Analysis of a request by code: texts to search tools with, missing inputs, meanings of words.

This package knows no natural language. :class:`PlainReader` uses documents, types and literal text, which is enough
for a run with a language model. ``wiring`` may pass a reader for one language instead, which the policy without a
model needs.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic.types import JsonValue

from agent.parameter_needs import UNFILLED_KINDS, derive_need
from agent.policy.protocol import Results
from domain.event import Feed
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.coupling import find_best_field

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\s*\n+\s*")
_OPAQUE_KINDS = frozenset({"identifier", "latitude", "longitude", "coordinates"})
"""Kinds of parameters whose values people seldom know.

An earlier call must look them up, unless the request has digits, which may be such a value.
"""
_MAX_CALLS_PER_TOOL = 5
"""Calls of one tool that a path may have."""


@dataclass(frozen=True, slots=True)
class InputCoverage:
    """Sources of a tool's inputs, as far as they are known before any call."""

    missing: tuple[str, ...]
    """Required parameters that nothing can fill yet."""
    feeds: tuple[Feed, ...]
    """Parameters that the documented output of a step of the path fills."""

    @property
    def feeds_from(self) -> tuple[int, ...]:
        """Positions in the path, from 0, of the steps that feed the tool."""
        return tuple(sorted({feed.step - 1 for feed in self.feeds}))


@dataclass(frozen=True, slots=True)
class RequestReview:
    """Comparison of a request with the calls that were made for it."""

    mismatches: tuple[str, ...] = ()
    """A sentence for each call that is about something else than the request asks for."""
    unused_values: tuple[str, ...] = ()
    """Values of the request that no call used and no answer mentions."""
    is_unrelated: bool = False
    """True if the calls have nothing to do with anything that the request names."""
    unapplied_filters: tuple[str, ...] = ()
    """Filters of the request, such as "the cheapest" or "above 10", that nothing applied."""
    empty_tool: str = ""
    """Name of the tool whose empty result shows that nothing of the requested kind exists; empty if there is none."""


class RequestReader(Protocol):
    """Reads requests by code.

    It scores, prepares and reviews, but decides neither what is offered nor what is called.
    """

    def split_request(self, request: str) -> tuple[str, ...]:
        """Split a request into parts that ask one thing each; at least one."""
        ...

    def normalize_part(self, part: str) -> str:
        """Return a part as a tool's document would word it."""
        ...

    def score_relevance(self, similarity: float, part: str, tool: ToolDoc) -> float:
        """Return how relevant a tool is to a part, in [0, 1], from the similarity of their texts."""
        ...

    def check_inputs(self, tool: ToolDoc, request: str, path: Sequence[ToolDoc]) -> InputCoverage:
        """Return which required parameters nothing fills yet after a path, and which of its steps feed the tool."""
        ...

    def count_repetitions(self, request: str) -> int:
        """Return how often one path may call one tool, since a request may ask the same of several things."""
        ...

    def interpret_values(self, text: str, parameter: Parameter) -> Sequence[JsonValue]:
        """Return values that a text may mean for a parameter without naming them, such as "tomorrow" for a day."""
        ...

    def find_known_values(self, request: str, tool: ToolDoc) -> JsonObject:
        """Return the arguments of a call that the request itself names, for a plan that is shown before any call."""
        ...

    def review(self, request: str, steps: Results, prior_steps: Results = ()) -> RequestReview:
        """Compare a request with its own calls, ``steps``, and the earlier ones that it builds on, ``prior_steps``."""
        ...


class PlainReader:
    """Reader that knows no language.

    Punctuation splits sentences; types and documented fields show what fills inputs.
    """

    def split_request(self, request: str) -> tuple[str, ...]:
        """Return the sentences of a request."""
        return tuple(part for part in _SENTENCE_END.split(request.strip()) if part) or (request,)

    def normalize_part(self, part: str) -> str:
        """Return the part unchanged."""
        return part

    def score_relevance(self, similarity: float, part: str, tool: ToolDoc) -> float:  # noqa: ARG002  the protocol's
        """Return the similarity."""
        return similarity

    def check_inputs(self, tool: ToolDoc, request: str, path: Sequence[ToolDoc]) -> InputCoverage:
        """Find the steps that feed each required parameter.

        An identifier or a coordinate without a feeding step counts as missing if the request contains no digit.
        """
        missing: list[str] = []
        feeds: list[Feed] = []
        for parameter in tool.required:
            kind = derive_need(parameter).kind
            feed = find_feed(parameter, tool, path)
            if feed is not None:
                feeds.append(feed)
            elif kind in _OPAQUE_KINDS and not _has_default(parameter, tool) and not any(c.isdigit() for c in request):
                missing.append(parameter.name)
        return InputCoverage(tuple(missing), tuple(feeds))

    def count_repetitions(self, request: str) -> int:  # noqa: ARG002  the protocol's
        """Return a fixed small limit; within it the policy decides."""
        return _MAX_CALLS_PER_TOOL

    def interpret_values(self, text: str, parameter: Parameter) -> Sequence[JsonValue]:  # noqa: ARG002  the protocol's
        """Return nothing: only literal values are understood."""
        return ()

    def find_known_values(self, request: str, tool: ToolDoc) -> JsonObject:  # noqa: ARG002  the protocol's
        """Return nothing: the policy finds the values when the call is made."""
        return {}

    def review(self, request: str, steps: Results, prior_steps: Results = ()) -> RequestReview:  # noqa: ARG002  the protocol's
        """Return an empty review: the policy reports what it leaves undone."""
        return RequestReview()


def find_feed(
    parameter: Parameter, tool: ToolDoc, path: Sequence[ToolDoc], may_use_field: Callable[[str], bool] = lambda _: True
) -> Feed | None:
    """Return the feed from the step whose documented output fits a parameter best; of equally good steps, the last.

    ``may_use_field`` returns whether the output field at a path may be used.
    """
    if derive_need(parameter).kind in UNFILLED_KINDS:
        return None
    best: Feed | None = None
    for step, producer in enumerate(path, start=1):
        coupling = find_best_field(producer, parameter, tool)
        if coupling is None or not may_use_field(coupling.field.path):
            continue
        if best is None or coupling.score >= best.score:
            best = Feed(parameter=parameter.name, step=step, field=coupling.field.path, score=coupling.score)
    return best


def _has_default(parameter: Parameter, tool: ToolDoc) -> bool:
    """Return whether a parameter needs no source.

    It has only one value, or a default that a call without side effects may use.
    """
    return len(parameter.enum) == 1 or (tool.safe and parameter.default not in (None, ""))
