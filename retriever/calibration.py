"""The scale of an encoder's cosines, measured on texts that come along and mapped to that of the bundled encoder.

Encoders put the same pairs of texts in the same order at other cosines: one gives unrelated texts 0.1, another 0.7. Thresholds, powers of
similarities and the re-ranker's features were chosen with the bundled encoder. A linear map by two medians, of related and of unrelated
texts, brings another encoder's cosines there.
"""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from domain.model import Model
from retriever.calibration_texts import TOPICS

if TYPE_CHECKING:
    from retriever.index import Embedder, Vectors

REFERENCE_ENCODER = "footpath-minilm-3:652114fbc9579b78:text1:384"
"""The identity of the bundled encoder, whose scale everything else was chosen on."""

_FLAT = 1e-4
"""A difference of cosines below which nothing but rounding is seen."""

_RELATED = {
    "tools": "a request and a tool that serves it",
    "requests": "requests for the same",
    "documents": "tools for the same",
}

_log = logging.getLogger(__name__)

Cosines = TypeVar("Cosines", float, NDArray[np.float32])


class PairCosines(Model):
    """Cosines of one kind of pair of texts, over all pairs of the texts that come along."""

    unrelated: float
    """The median of pairs of different topics."""
    upper: float
    """The upper quartile of pairs of different topics."""
    related: float
    """The median of pairs of one topic."""

    @property
    def separates(self) -> bool:
        """Whether related texts stand out from unrelated ones, whatever the scale is."""
        return self.related - self.unrelated > _FLAT and self.related > self.upper

    @property
    def flat(self) -> bool:
        """Whether all texts look the same."""
        return abs(self.related - self.unrelated) <= _FLAT


class Calibration(Model):
    """An encoder's cosines of pairs of texts. Asymmetric encoders have another scale for each kind of pair."""

    identity: str
    tools: PairCosines
    """Of a request with a tool's document."""
    requests: PairCosines
    """Of two requests."""
    documents: PairCosines
    """Of two documents."""

    @property
    def indistinct(self) -> dict[str, PairCosines]:
        """The kinds of pairs whose related texts do not stand out."""
        kinds = {"tools": self.tools, "requests": self.requests, "documents": self.documents}
        return {kind: pairs for kind, pairs in kinds.items() if not pairs.separates}

    @property
    def flat(self) -> bool:
        """Whether a request has the same cosine with all tools."""
        return self.tools.flat


@dataclass(frozen=True, slots=True)
class LinearMap:
    """Maps an encoder's cosine to the one that the bundled encoder would have given, about."""

    slope: float = 1.0
    offset: float = 0.0

    def map(self, cosines: Cosines) -> Cosines:
        """Within [-1, 1]. The bundled encoder's cosines come back as they are."""
        if self == _UNCHANGED:
            return cosines
        if isinstance(cosines, np.ndarray):
            return np.clip(cosines * np.float32(self.slope) + np.float32(self.offset), -1.0, 1.0)
        return min(1.0, max(-1.0, cosines * self.slope + self.offset))


@dataclass(frozen=True, slots=True)
class CosineScale:
    """How an encoder's cosines are read."""

    tools: LinearMap = LinearMap()
    """Those of a request with a tool's document."""
    requests: LinearMap = LinearMap()
    """Those of two requests, or of their patterns."""
    documents: LinearMap = LinearMap()
    """Those of two documents."""
    comparable: bool = True
    """Whether they are on the bundled encoder's scale now. Where not, thresholds and re-ranking say little."""


_UNCHANGED = LinearMap()
UNSCALED = CosineScale()
"""The bundled encoder's own."""

REFERENCE = Calibration(
    identity=REFERENCE_ENCODER,
    tools=PairCosines(unrelated=0.0046, upper=0.0530, related=0.4054),
    requests=PairCosines(unrelated=0.0712, upper=0.1251, related=0.8162),
    documents=PairCosines(unrelated=0.0497, upper=0.1017, related=0.5533),
)
"""Of the bundled encoder (``tests/unit/retriever/test_calibration.py`` measures it anew)."""


async def calibrate(embedder: "Embedder") -> Calibration:
    """Return the cosines of an encoder, from 96 short texts. That of the bundled one is known.

    Raises:
        UnavailableError: the encoder cannot be asked.
    """
    return REFERENCE if embedder.identity == REFERENCE_ENCODER else await measure(embedder)


async def measure(embedder: "Embedder") -> Calibration:
    """Embed the texts that come along, and compare them with each other. Raises ``UnavailableError``."""
    requests = await embedder.embed([text for pair, _ in TOPICS for text in pair], "query")
    documents = await embedder.embed([text for _, pair in TOPICS for text in pair], "document")
    return Calibration(
        identity=embedder.identity,
        tools=_compared(requests, documents),
        requests=_compared(requests, requests),
        documents=_compared(documents, documents),
    )


def scale_of(found: Calibration) -> CosineScale:
    """Return the maps to the bundled encoder's scale; cosines that do not tell texts apart are left as they are, with a warning."""
    if found.identity == REFERENCE_ENCODER:
        return UNSCALED
    if found.indistinct:
        _log.warning("%s", describe_indistinctness(found))
        return CosineScale(comparable=False)
    return CosineScale(
        _linear_map(found.tools, REFERENCE.tools),
        _linear_map(found.requests, REFERENCE.requests),
        _linear_map(found.documents, REFERENCE.documents),
    )


def describe_indistinctness(found: Calibration) -> str:
    """Say what is wrong with an encoder whose cosines do not tell related texts from unrelated ones."""
    figures = "; ".join(
        f"{_RELATED[kind]} have a cosine of {pairs.related:.3f} at the median, unrelated ones {pairs.unrelated:.3f}"
        for kind, pairs in found.indistinct.items()
    )
    return (
        f"the encoder {found.identity} hardly tells texts apart: {figures}. Its cosines cannot be brought to a scale that thresholds "
        "know, so what is found by it means little. Check that FOOTPATH_EMBEDDING_NAME is an embedding model and that its prefixes are "
        "right, or use another encoder"
    )


def _linear_map(own: PairCosines, reference: PairCosines) -> LinearMap:
    """Take both medians to those of the reference."""
    slope = (reference.related - reference.unrelated) / (own.related - own.unrelated)
    return LinearMap(slope, reference.unrelated - slope * own.unrelated)


def _compared(ones: "Vectors", others: "Vectors") -> PairCosines:
    """Rows are two texts of each topic. A text is not compared with itself, nor a pair of texts counted differently from another."""
    cosines = ones @ others.T
    topics = np.arange(len(ones)) // 2
    same = topics[:, None] == topics[None, :]
    apart = cosines[~same]
    related = cosines[same & ~np.eye(len(ones), dtype=np.bool_)] if ones is others else cosines[same]
    return PairCosines(
        unrelated=float(np.median(apart)), upper=float(np.quantile(apart, 0.75)), related=float(np.median(related))
    )
