"""Who gives what to whom among the tools at hand: what a tool lacks leads to its producers, what it gives to its consumers."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.offer.offer import Signal
from agent.offer.surroundings import Surroundings
from domain.tool import ToolId
from graph.links import Feed

_OPTIONAL = 0.5
"""What a consumer's optional input counts beside one that it must have."""
_READS_WORDS, _AT_ONCE = 1.0, 0.4
"""How ready a producer is that looks things up by a user's words, and one that needs nothing; others need a call before them."""
_SAME_NEED = 0.2
"""What a producer counts that needs itself what it is to give."""
_FOUND_FOR_IT = 0.5
_DEEPER = 0.7
"""What a field counts for each object that it lies deeper in: what a response mentions by the way is seldom what it is for."""
_LEAST = 0.02


@dataclass(frozen=True, slots=True)
class _Way:
    """``feed`` fills an input that counts ``weight`` to the consumer, and fits it so far."""

    feed: Feed
    weight: float
    fit: float


class Supply:
    """``near``: how near each tool is to the request by itself, in [0, 1]."""

    def __init__(self, around: Surroundings, near: Mapping[ToolId, float]) -> None:
        self._around = around
        self._near = near
        self._inputs = {tool: self._inputs_of(tool) for tool in around.known}

    def _inputs_of(self, tool: ToolId) -> dict[str, dict[ToolId, _Way]]:
        """For each input that another call has to give: the best feed of each tool at hand."""
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
        """What each tool is worth to those that need what it gives: of one input, its best producer is worth as much as the consumer,
        others in proportion. And the sum over all consumers.
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
        own = self._around.profiles[source]
        value = _FOUND_FOR_IT * self._near[source] + 0.01
        if not own.needs:
            value += _READS_WORDS if own.reads_words else _AT_ONCE
        return value * (_SAME_NEED if own.needs & self._around.profiles[consumer].needs else 1.0)

    def consumed(self) -> dict[ToolId, Signal]:
        """What each tool takes from tools that are near the request."""
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
        """Tools between: they take what a request can be turned into, and give it to a tool that is near in other form."""
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
        """How surely a request leads to what a tool gives."""
        own = self._around.profiles[source]
        return max(self._near[source], 0.0 if own.needs else _READS_WORDS if own.reads_words else _AT_ONCE)


_value: Callable[[Signal], float] = lambda signal: signal.value  # noqa: E731
