"""Terms of a request that tools mention, each weighted by how few of the tools at hand do."""

import math
from collections import Counter
from collections.abc import Collection, Mapping

from agent.offer.profile import Profile
from domain.tool import ToolId
from graph.identifiers import words
from retriever.words import telling_words


class Said:
    """Terms of one request, weighted over the tools that may serve it.

    Terms that no tool mentions, names above all, count for nothing.
    """

    def __init__(self, request: str, profiles: Mapping[ToolId, Profile]) -> None:
        """Weight each term by its inverse document frequency.

        As in BM25, the weight is ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N tools mention the term.
        """
        asked = {form for word in telling_words(request) for form in words(word)}
        among = Counter(word for one in profiles.values() for word in sorted(asked & one.says))
        many = len(profiles)
        self._weights = {word: math.log1p((many - count + 0.5) / (count + 0.5)) for word, count in among.items()}
        self._total = math.fsum(self._weights.values()) or 1.0

    def share(self, spoken: Collection[str]) -> tuple[float, list[str]]:
        """Return the weighted share of the request that a tool's words cover, in [0, 1].

        The second value lists the words in common, rarest first.
        """
        common = sorted(
            (word for word in self._weights if word in spoken), key=lambda word: (-self._weights[word], word)
        )
        return sum(self._weights[word] for word in common) / self._total, common
