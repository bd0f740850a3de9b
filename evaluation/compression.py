"""Effect of compression on recorded responses: lengths before and after, how many are too long, what is saved."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent.compression.compress import LIMIT, Compressed, compress
from agent.compression.field_selection import FieldChoices
from agent.policy.protocol import Policy
from domain.tool import ToolDoc, ToolId

Figures = dict[str, Any]

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
EDGES = (0, 1, 64, 128, 256, 512, 1_024, 2_048, 4_096, 16_384, 65_536, 1_048_576)
_CAPPED = 0.01
"""Share of responses of exactly the greatest length from which the source is taken to have truncated there."""


@dataclass(slots=True)
class Tally:
    """Counts over the responses of one source.

    Memory grows with the number of tools and of distinct lengths, not of responses.
    """

    limit: int
    """Characters above which a response is compressed."""
    lengths: Counter[int] = field(default_factory=Counter[int])
    kinds: Counter[str] = field(default_factory=Counter[str])
    tools: set[ToolId] = field(default_factory=set[ToolId])
    long_tools: set[ToolId] = field(default_factory=set[ToolId])
    filtered: int = 0
    cut: int = 0
    too_long: int = 0
    characters: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0

    def short(self, tool: ToolId, size: int) -> None:
        """Count a response that is shown whole."""
        self.lengths[size] += 1
        self.tools.add(tool)
        self.characters["all"] += size

    def long(self, tool: ToolId, found: Compressed) -> None:
        """Count a response that was compressed."""
        self.short(tool, found.before)
        self.long_tools.add(tool)
        self.kinds["fields chosen" if found.fields else "only rewritten or cut"] += 1
        self.filtered += found.filtered > self.limit
        self.cut += found.cut
        self.too_long += len(found.text) > self.limit
        self.characters.update({"before": found.before, "filtered": found.filtered, "after": len(found.text)})

    def figures(self) -> Figures:
        """Return the figures.

        ``over_limit``: shares of all responses. ``characters``: of the long ones, before, after field selection alone, after the cut.
        """
        n, sizes = self.lengths.total(), sorted(self.lengths)
        long = sum(count for size, count in self.lengths.items() if size > self.limit)
        saved = self.characters["before"] - self.characters["after"]
        top = sizes[-1] if sizes else 0
        capped = self.lengths[top] if n and self.lengths[top] >= _CAPPED * n else 0
        return {
            "n": n,
            "limit": self.limit,
            "apis": len(self.tools),
            "apis_over_limit": len(self.long_tools),
            "mean": self.characters["all"] / n if n else 0.0,
            "quantiles": dict(zip(map(str, QUANTILES), _quantiles(self.lengths), strict=True)),
            "histogram": _histogram(self.lengths),
            "cut_by_source": {"at": top, "n": capped, "share": _share(capped, n)} if capped else None,
            "over_limit": {
                "before": {"n": long, "share": _share(long, n)},
                "after_fields": {"n": self.filtered, "share": _share(self.filtered, n)},
                "after_cut": {"n": self.too_long, "share": _share(self.too_long, n)},
                "cut": self.cut,
            },
            "how": dict(self.kinds),
            "characters": {name: self.characters[name] for name in ("before", "filtered", "after")},
            "saved": {
                "characters": saved,
                "per_long_response": saved / long if long else 0.0,
                "share": _share(saved, self.characters["before"]),
                "by_fields": self.characters["before"] - self.characters["filtered"],
            },
            "seconds": self.seconds,
        }


async def evaluate_compression(
    responses: Iterable[tuple[ToolDoc, str]], policy: Policy, choices: FieldChoices, limit: int = LIMIT
) -> Tally:
    """Compress every response as a run does, and count the results."""
    tally = Tally(limit)
    for tool, response in responses:
        began = time.perf_counter()
        found = await compress(tool, response, policy, choices, limit)
        tally.seconds += time.perf_counter() - began
        if found is None:
            tally.short(tool.id, len(response))
        else:
            tally.long(tool.id, found)
    return tally


def _quantiles(lengths: Counter[int]) -> list[int]:
    """Return for each quantile the smallest length that this share of the responses does not exceed; zeros for none."""
    total, seen, found = lengths.total(), 0, list[int]()
    for size in sorted(lengths):
        seen += lengths[size]
        while len(found) < len(QUANTILES) and seen >= QUANTILES[len(found)] * total:
            found.append(size)
    return found or [0] * len(QUANTILES)


def _histogram(lengths: Counter[int]) -> list[Figures]:
    """Return counts by length, from ``over`` + 1 to ``to`` characters, without the empty bins at the end."""
    bins = [
        {"over": low, "to": high, "n": sum(n for size, n in lengths.items() if low < size <= high)}
        for low, high in zip((-1, *EDGES), (*EDGES, 1 << 62), strict=True)
    ]
    while len(bins) > 1 and not bins[-1]["n"]:
        bins.pop()
    return bins


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
