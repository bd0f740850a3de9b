"""Index of producers and consumers among the tools at hand, by the feeds between them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.offer.offer import Signal
from agent.offer.surroundings import Surroundings
from domain.tool import ToolId
from graph.links import Feed

_OPTIONAL = 0.5
"""Weight of a consumer's optional input, relative to a required one."""
_READS_WORDS, _AT_ONCE = 1.0, 0.4
"""Readiness of a producer that looks things up by a user's words, and of one that needs nothing.

Others need a call before them.
"""
_SAME_NEED = 0.2
"""Factor for a producer that itself needs what it is to give."""
_FOUND_FOR_IT = 0.5
_DEEPER = 0.7
"""Factor per level that a field lies deeper in a response: what it mentions in passing is rarely its purpose."""
_LEAST = 0.02


@dataclass(frozen=True, slots=True)
class _Way:
    """A feed into an input of a consumer."""

    feed: Feed
    weight: float
    """Weight of the input for the consumer."""
    fit: float
    """How well the feed fits the input."""


class Supply:
    """Feeds among the tools near a request. ``near``: each tool's own nearness to the request, in [0, 1]."""

    def __init__(self, around: Surroundings, near: Mapping[ToolId, float]) -> None:
        self._around = around
        self._near = near
        self._inputs = {tool: self._inputs_of(tool) for tool in around.known}

    def _inputs_of(self, tool: ToolId) -> dict[str, dict[ToolId, _Way]]:
        """Return the best feed from each known tool, for each input that another call has to supply."""
        own, found = self._around.profiles[tool], dict[str, dict[ToolId, _Way]]()
        for feed in self._around.known[tool].feeds:
            weight = 1.0 if feed.parameter in own.needs else _OPTIONAL if feed.parameter in own.may_need else 0.0
            if weight and feed.source != tool and feed.source in self._around.known:
                ways = found.setdefault(feed.parameter, {})
                way = _Way(feed, weight, feed.score * _DEEPER ** feed.field.count("."))
                if feed.source not in ways or way.fit > ways[feed.source].fit:
                    ways[feed.source] = way
        return found

    def demand(self, worth: Mapping[ToolId, float]) -> tuple[dict[ToolId, Signal], dict[ToolId, float]]:
        """Return each tool's worth to the consumers of its output: the best consumer, and the sum over all.

        The best producer of an input is worth as much as the consumer, others in proportion to their fit. ``worth``:
        each consumer's.
        """
        best: dict[ToolId, Signal] = {}
        total: dict[ToolId, float] = {}
        for consumer, inputs in self._inputs.items():
            if worth[consumer] <= _LEAST:
                continue
            for ways in inputs.values():
                fit = {source: way.fit * self._ready(source, consumer) for source, way in ways.items()}
                top = max(fit.values()) or 1.0
                for source, way in ways.items():
                    value = way.weight * worth[consumer] * fit[source] / top
                    total[source] = total.get(source, 0.0) + value
                    if source not in best or value > best[source].value:
                        best[source] = Signal(value, consumer, f"{way.feed.parameter} from {way.feed.field or 'it'}")
        return best, total

    def _ready(self, source: ToolId, consumer: ToolId) -> float:
        """Return how ready a producer is to serve a consumer."""
        own = self._around.profiles[source]
        value = _FOUND_FOR_IT * self._near[source] + 0.01
        if not own.needs:
            value += _READS_WORDS if own.reads_words else _AT_ONCE
        return value * (_SAME_NEED if own.needs & self._around.profiles[consumer].needs else 1.0)

    def consumed(self) -> dict[ToolId, Signal]:
        """Return the best that each tool takes from tools near the request."""
        return {
            tool: max(
                (
                    Signal(
                        way.weight * way.fit * self._near[source],
                        source,
                        f"{way.feed.parameter} from {way.feed.field or 'it'}",
                    )
                    for ways in inputs.values()
                    for source, way in ways.items()
                ),
                key=_value,
            )
            for tool, inputs in self._inputs.items()
            if inputs
        }

    def joined(self) -> dict[ToolId, Signal]:
        """Return the connecting tools.

        They take what the request can be turned into, and give it in another form to a tool that is near. The value
        is the geometric mean of both sides.
        """
        gives: dict[ToolId, Signal] = {}
        for consumer, inputs in self._inputs.items():
            for ways in inputs.values():
                for source, way in ways.items():
                    value = way.fit * self._near[consumer]
                    if source not in gives or value > gives[source].value:
                        gives[source] = Signal(value, consumer)
        joined: dict[ToolId, Signal] = {}
        for tool, inputs in self._inputs.items():
            if inputs and tool in gives:
                taken = max(
                    (
                        way.weight * way.fit * self._reach(source)
                        for ways in inputs.values()
                        for source, way in ways.items()
                    )
                )
                joined[tool] = Signal(math.sqrt(taken * gives[tool].value), gives[tool].by)
        return joined

    def _reach(self, source: ToolId) -> float:
        """Return how surely a request leads to the output of a tool."""
        own = self._around.profiles[source]
        return max(self._near[source], 0.0 if own.needs else _READS_WORDS if own.reads_words else _AT_ONCE)


_value: Callable[[Signal], float] = lambda signal: signal.value  # noqa: E731
