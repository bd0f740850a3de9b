"""Measure the compression of responses: lengths before and after, what is saved, and which expected values are lost."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent.compression.field_selection import FieldChoices
from agent.compression.response_compression import COMPRESSION_LIMIT, CompressedResponse, compress_response
from agent.policy.protocol import Policy
from domain.tool import ToolDoc, ToolId

Figures = dict[str, Any]

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
"""Quantiles of the lengths that are reported."""
EDGES = (0, 1, 64, 128, 256, 512, 1_024, 2_048, 4_096, 16_384, 65_536, 1_048_576)
"""Upper edges of the histogram's bins, in characters."""
_CAPPED = 0.01
"""Share of responses of exactly the greatest length from which the source is taken to have cut them there."""


@dataclass(slots=True)
class CompressionTally:
    """Counts over the responses of one source.

    Memory grows with the number of tools and of distinct lengths, not of responses.
    """

    limit: int
    """Characters above which a response is compressed."""
    lengths: Counter[int] = field(default_factory=Counter[int])
    """Number of responses by length in characters."""
    kinds: Counter[str] = field(default_factory=Counter[str])
    """Number of compressed responses by how they were compressed."""
    tools: set[ToolId] = field(default_factory=set[ToolId])
    long_tools: set[ToolId] = field(default_factory=set[ToolId])
    """Tools with a response above the limit."""
    filtered: int = 0
    """Responses still above the limit after the selection of fields."""
    cut: int = 0
    """Responses that were cut."""
    too_long: int = 0
    """Responses still above the limit in the end."""
    characters: Counter[str] = field(default_factory=Counter[str])
    """Characters of all responses, and of the long ones before, after the selection of fields, and after the cut."""
    seconds: float = 0.0
    """Time spent on compression."""

    def add_short(self, tool: ToolId, size: int) -> None:
        """Count a response that is shown whole."""
        self.lengths[size] += 1
        self.tools.add(tool)
        self.characters["all"] += size

    def add_compressed(self, tool: ToolId, compressed: CompressedResponse) -> None:
        """Count a response that was compressed."""
        self.add_short(tool, compressed.before)
        self.long_tools.add(tool)
        self.kinds["fields chosen" if compressed.fields else "only rewritten or cut"] += 1
        self.filtered += compressed.filtered > self.limit
        self.cut += compressed.cut
        self.too_long += len(compressed.text) > self.limit
        self.characters.update(
            {"before": compressed.before, "filtered": compressed.filtered, "after": len(compressed.text)}
        )

    def to_figures(self) -> Figures:
        """Return the figures.

        ``over_limit``: shares of all responses. ``characters``: of the long ones, before, after field selection alone, after the cut.
        """
        n, sizes = self.lengths.total(), sorted(self.lengths)
        long_count = sum(count for size, count in self.lengths.items() if size > self.limit)
        saved = self.characters["before"] - self.characters["after"]
        top = sizes[-1] if sizes else 0
        capped = self.lengths[top] if n and self.lengths[top] >= _CAPPED * n else 0
        return {
            "n": n,
            "limit": self.limit,
            "apis": len(self.tools),
            "apis_over_limit": len(self.long_tools),
            "mean": self.characters["all"] / n if n else 0.0,
            "quantiles": dict(zip(map(str, QUANTILES), _compute_quantiles(self.lengths), strict=True)),
            "histogram": _build_histogram(self.lengths),
            "cut_by_source": {"at": top, "n": capped, "share": _compute_share(capped, n)} if capped else None,
            "over_limit": {
                "before": {"n": long_count, "share": _compute_share(long_count, n)},
                "after_fields": {"n": self.filtered, "share": _compute_share(self.filtered, n)},
                "after_cut": {"n": self.too_long, "share": _compute_share(self.too_long, n)},
                "cut": self.cut,
            },
            "how": dict(self.kinds),
            "characters": {name: self.characters[name] for name in ("before", "filtered", "after")},
            "saved": {
                "characters": saved,
                "per_long_response": saved / long_count if long_count else 0.0,
                "share": _compute_share(saved, self.characters["before"]),
                "by_fields": self.characters["before"] - self.characters["filtered"],
            },
            "seconds": self.seconds,
        }


async def evaluate_compression(
    responses: Iterable[tuple[ToolDoc, str]], policy: Policy, choices: FieldChoices, limit: int = COMPRESSION_LIMIT
) -> CompressionTally:
    """Compress every response as a run does, and count the results."""
    tally = CompressionTally(limit)
    for tool, response in responses:
        began = time.perf_counter()
        compressed = await compress_response(tool, response, policy, choices, limit)
        tally.seconds += time.perf_counter() - began
        if compressed is None:
            tally.add_short(tool.id, len(response))
        else:
            tally.add_compressed(tool.id, compressed)
    return tally


def _compute_quantiles(lengths: Counter[int]) -> list[int]:
    """Return for each quantile the smallest length that this share of the responses does not exceed; zeros for none."""
    total, seen, quantiles = lengths.total(), 0, list[int]()
    for size in sorted(lengths):
        seen += lengths[size]
        while len(quantiles) < len(QUANTILES) and seen >= QUANTILES[len(quantiles)] * total:
            quantiles.append(size)
    return quantiles or [0] * len(QUANTILES)


def _build_histogram(lengths: Counter[int]) -> list[Figures]:
    """Return counts by length, from ``over`` + 1 to ``to`` characters, without the empty bins at the end."""
    bins = [
        {"over": low, "to": high, "n": sum(n for size, n in lengths.items() if low < size <= high)}
        for low, high in zip((-1, *EDGES), (*EDGES, 1 << 62), strict=True)
    ]
    while len(bins) > 1 and not bins[-1]["n"]:
        bins.pop()
    return bins


def _compute_share(part: int, total: int) -> float:
    return part / total if total else 0.0
