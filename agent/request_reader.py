"""What code tells of a request beside its policy: texts to look tools up by, inputs that are missing, what its words may mean.

The core reads no language. :class:`PlainReader` goes by documents, types and literal text, which is what a run with a language model
uses. Whoever puts a run together (``wiring``) may give a reader of one language instead, as the policy without a model needs.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic.types import JsonValue

from agent.parameters.kinds import UNTOUCHED
from agent.parameters.needs import need_of
from agent.policy.protocol import Results
from domain.event import Feed
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.coupling import best_field

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\s*\n+\s*")
_OPAQUE = frozenset({"identifier", "latitude", "longitude", "coordinates"})
"""Kinds of parameters that people seldom know by heart: an earlier call looks them up, unless the request has digits."""
_CALLS = 5


@dataclass(frozen=True, slots=True)
class Fillable:
    """What is known before any call. ``missing``: required parameters that nothing can fill yet. ``feeds``: parameters that the documented
    output of a step of the path fills.
    """

    missing: tuple[str, ...]
    feeds: tuple[Feed, ...]

    @property
    def feeds_from(self) -> tuple[int, ...]:
        """Positions in the path, from 0, of the steps that feed it."""
        return tuple(sorted({feed.step - 1 for feed in self.feeds}))


@dataclass(frozen=True, slots=True)
class Review:
    """What a request names and its calls do not. ``about_another``: what they were about instead, a sentence each. ``unused``: what no call
    took and no answer speaks of. ``beside_the_point``: the calls have to do with nothing that it names. ``not_sifted``: what it says of which
    things it means (the cheapest, those above a number) and nothing went by. ``none_there``: the tool that says there is nothing of what it asks for.
    """

    about_another: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    beside_the_point: bool = False
    not_sifted: tuple[str, ...] = ()
    none_there: str = ""


class RequestReader(Protocol):
    """Ranks, prepares and reviews; which tools are offered and which calls are made is never its decision."""

    def parts(self, request: str) -> tuple[str, ...]:
        """What a request asks, one thing each; at least one."""
        ...

    def wording(self, part: str) -> str:
        """A part as a tool's document would put it."""
        ...

    def relevance(self, similarity: float, part: str, tool: ToolDoc) -> float:
        """How relevant a tool is to a part, in [0, 1], from the similarity of their texts."""
        ...

    def fillable(self, tool: ToolDoc, request: str, path: Sequence[ToolDoc]) -> Fillable:
        """Which required parameters nothing could fill yet behind a path, and which steps of the path feed the tool."""
        ...

    def repetitions(self, request: str) -> int:
        """How often one path may call one tool: of how many things the request may ask the same."""
        ...

    def values(self, text: str, parameter: Parameter) -> Sequence[JsonValue]:
        """What a text may mean to a parameter in other words than the value's own: "tomorrow" for a day."""
        ...

    def known_values(self, request: str, tool: ToolDoc) -> JsonObject:
        """The values of a call that the request itself names, for a plan that its user reads before any call."""
        ...

    def review(self, request: str, steps: Results, given: Results = ()) -> Review:
        """What calls have made of a request. ``steps``: its own; ``given``: those that it builds on."""
        ...


class PlainReader:
    """Of no language: sentences by their marks, inputs by the documents' types and couplings, values letter by letter."""

    def parts(self, request: str) -> tuple[str, ...]:
        """Its sentences."""
        return tuple(part for part in _SENTENCE.split(request.strip()) if part) or (request,)

    def wording(self, part: str) -> str:
        """The part's own."""
        return part

    def relevance(self, similarity: float, part: str, tool: ToolDoc) -> float:  # noqa: ARG002  the protocol's
        """The similarity."""
        return similarity

    def fillable(self, tool: ToolDoc, request: str, path: Sequence[ToolDoc]) -> Fillable:
        """Missing is what no request tells and no step of the path gives: an identifier or a place on the map, where there is no digit."""
        missing: list[str] = []
        feeds: list[Feed] = []
        for parameter in tool.required:
            kind = need_of(parameter).kind
            feed = feed_of(parameter, tool, path)
            if feed is not None:
                feeds.append(feed)
            elif kind in _OPAQUE and not _has_default(parameter, tool) and not any(c.isdigit() for c in request):
                missing.append(parameter.name)
        return Fillable(tuple(missing), tuple(feeds))

    def repetitions(self, request: str) -> int:  # noqa: ARG002  the protocol's
        """A few: the policy decides how many there are."""
        return _CALLS

    def values(self, text: str, parameter: Parameter) -> Sequence[JsonValue]:  # noqa: ARG002  the protocol's
        """None in other words."""
        return ()

    def known_values(self, request: str, tool: ToolDoc) -> JsonObject:  # noqa: ARG002  the protocol's
        """None: the policy finds them when the call is made."""
        return {}

    def review(self, request: str, steps: Results, given: Results = ()) -> Review:  # noqa: ARG002  the protocol's
        """Nothing: the policy says what it leaves undone."""
        return Review()


def feed_of(
    parameter: Parameter, tool: ToolDoc, path: Sequence[ToolDoc], may_take: Callable[[str], bool] = lambda _: True
) -> Feed | None:
    """The last step of the path whose documented output fits best. ``may_take``: of a field's path, whether it may be taken at all."""
    if need_of(parameter).kind in UNTOUCHED:
        return None
    best: Feed | None = None
    for step, producer in enumerate(path, start=1):
        coupling = best_field(producer, parameter, tool)
        if coupling is None or not may_take(coupling.field.path):
            continue
        if best is None or coupling.score >= best.score:
            best = Feed(parameter=parameter.name, step=step, field=coupling.field.path, score=coupling.score)
    return best


def _has_default(parameter: Parameter, tool: ToolDoc) -> bool:
    return len(parameter.enum) == 1 or (tool.safe and parameter.default not in (None, ""))
