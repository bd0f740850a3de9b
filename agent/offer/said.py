"""Which words of a request tools speak of, each word weighed by how few of the tools at hand do."""

import math
from collections import Counter
from collections.abc import Collection, Mapping

from agent.offer.profile import Profile
from domain.tool import ToolId
from graph.identifiers import words
from retriever.words import telling_words


class Said:
    """The words of one request over the tools that may serve it. Words that no tool speaks of, names above all, count for nothing."""

    def __init__(self, request: str, profiles: Mapping[ToolId, Profile]) -> None:
        asked = {form for word in telling_words(request) for form in words(word)}
        among = Counter(word for one in profiles.values() for word in sorted(asked & one.says))
        many = len(profiles)
        self._weights = {word: math.log1p((many - count + 0.5) / (count + 0.5)) for word, count in among.items()}
        self._total = math.fsum(self._weights.values()) or 1.0

    def share(self, spoken: Collection[str]) -> tuple[float, list[str]]:
        """How much of what is asked these words say, in [0, 1], and which words those are, the rarest first."""
        common = sorted(
            (word for word in self._weights if word in spoken), key=lambda word: (-self._weights[word], word)
        )
        return sum(self._weights[word] for word in common) / self._total, common
