"""Index of producers and consumers among the tools at hand, by the feeds between them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.offer.neighbourhood import OfferNeighbourhood
from agent.offer.tool_offer import OfferSignal
from domain.tool import ToolId
from graph.links import FeedLink

_OPTIONAL_WEIGHT = 0.5
"""Weight of a consumer's optional input, relative to a required one."""
_READS_WORDS, _NEEDS_NOTHING = 1.0, 0.4
"""Readiness of a producer that looks things up by a user's words, and of one that needs nothing.

Others need a call before them.
"""
_SAME_NEED_FACTOR = 0.2
"""Factor for a producer that itself needs what it is to give."""
_NEARNESS_FACTOR = 0.5
"""Readiness of a producer that is itself the nearest to the request."""
_DEPTH_FACTOR = 0.7
"""Factor per level that a field lies deeper in a response: what it mentions in passing is rarely its purpose."""
_MIN_WORTH = 0.02
"""Worth of a consumer below which nothing is sought for it."""


@dataclass(frozen=True, slots=True)
class _WeightedFeed:
    """A feed into an input of a consumer."""

    feed: FeedLink
    weight: float
    """Weight of the input for the consumer."""
    fit: float
    """How well the feed fits the input."""


class ProducerConsumerIndex:
    """Feeds among the tools near a request, with the scores that follow from them.

    ``near``: each tool's own nearness to the request, in [0, 1].
    """

    def __init__(self, around: OfferNeighbourhood, near: Mapping[ToolId, float]) -> None:
        self._around = around
        self._near = near
        self._inputs = {tool: self._collect_inputs(tool) for tool in around.neighbourhoods}

    def _collect_inputs(self, tool: ToolId) -> dict[str, dict[ToolId, _WeightedFeed]]:
        """Return the best feed from each known tool, for each input that another call has to supply."""
        own, inputs = self._around.profiles[tool], dict[str, dict[ToolId, _WeightedFeed]]()
        for feed in self._around.neighbourhoods[tool].feeds:
            weight = (
                1.0
                if feed.parameter in own.required_inputs
                else _OPTIONAL_WEIGHT
                if feed.parameter in own.optional_inputs
                else 0.0
            )
            if weight and feed.source != tool and feed.source in self._around.neighbourhoods:
                feeds_by_source = inputs.setdefault(feed.parameter, {})
                weighted_feed = _WeightedFeed(feed, weight, feed.score * _DEPTH_FACTOR ** feed.field.count("."))
                if feed.source not in feeds_by_source or weighted_feed.fit > feeds_by_source[feed.source].fit:
                    feeds_by_source[feed.source] = weighted_feed
        return inputs

    def compute_demand(self, worth: Mapping[ToolId, float]) -> tuple[dict[ToolId, OfferSignal], dict[ToolId, float]]:
        """Return each tool's worth to the consumers of its output: the best consumer, and the sum over all.

        The best producer of an input is worth as much as the consumer, others in proportion to their fit. ``worth``:
        each consumer's.
        """
        best: dict[ToolId, OfferSignal] = {}
        total: dict[ToolId, float] = {}  # over all consumers: a lookup that many need is worth more than its best use
        for consumer, inputs in self._inputs.items():
            if worth[consumer] <= _MIN_WORTH:
                continue
            for feeds_by_source in inputs.values():
                fit = {
                    source: way.fit * self._estimate_readiness(source, consumer)
                    for source, way in feeds_by_source.items()
                }
                top = max(fit.values()) or 1.0
                for source, way in feeds_by_source.items():
                    value = way.weight * worth[consumer] * fit[source] / top
                    total[source] = total.get(source, 0.0) + value
                    if source not in best or value > best[source].value:
                        best[source] = OfferSignal(
                            value, consumer, f"{way.feed.parameter} from {way.feed.field or 'it'}"
                        )
        return best, total

    def _estimate_readiness(self, source: ToolId, consumer: ToolId) -> float:
        """Return how ready a producer is to serve a consumer."""
        own = self._around.profiles[source]
        value = _NEARNESS_FACTOR * self._near[source] + 0.01
        if not own.required_inputs:
            value += _READS_WORDS if own.accepts_text else _NEEDS_NOTHING
        return value * (
            _SAME_NEED_FACTOR if own.required_inputs & self._around.profiles[consumer].required_inputs else 1.0
        )

    def score_consumers(self) -> dict[ToolId, OfferSignal]:
        """Return the best that each tool takes from tools near the request."""
        return {
            tool: max(
                (
                    OfferSignal(
                        way.weight * way.fit * self._near[source],
                        source,
                        f"{way.feed.parameter} from {way.feed.field or 'it'}",
                    )
                    for feeds_by_source in inputs.values()
                    for source, way in feeds_by_source.items()
                ),
                key=_get_value,
            )
            for tool, inputs in self._inputs.items()
            if inputs
        }

    def score_connectors(self) -> dict[ToolId, OfferSignal]:
        """Return the connecting tools.

        They take what the request can be turned into, and give it in another form to a tool that is near. The value
        is the geometric mean of both sides.
        """
        gives: dict[ToolId, OfferSignal] = {}
        for consumer, inputs in self._inputs.items():
            for feeds_by_source in inputs.values():
                for source, way in feeds_by_source.items():
                    value = way.fit * self._near[consumer]
                    if source not in gives or value > gives[source].value:
                        gives[source] = OfferSignal(value, consumer)
        joined: dict[ToolId, OfferSignal] = {}
        for tool, inputs in self._inputs.items():
            if inputs and tool in gives:
                input_value = max(
                    (
                        way.weight * way.fit * self._estimate_reach(source)
                        for feeds_by_source in inputs.values()
                        for source, way in feeds_by_source.items()
                    )
                )
                joined[tool] = OfferSignal(math.sqrt(input_value * gives[tool].value), gives[tool].by)
        return joined

    def _estimate_reach(self, source: ToolId) -> float:
        """Return how surely a request leads to the output of a tool."""
        own = self._around.profiles[source]
        return max(
            self._near[source], 0.0 if own.required_inputs else _READS_WORDS if own.accepts_text else _NEEDS_NOTHING
        )


_get_value: Callable[[OfferSignal], float] = lambda signal: signal.value  # noqa: E731
