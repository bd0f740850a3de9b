"""Calibration of an encoder's cosines on bundled texts, and the map to the scale of the bundled encoder.

Encoders may rank pairs of texts alike and still differ in their cosines: one gives unrelated texts 0.1, another 0.7.
Thresholds, powers of similarities and the re-ranker's features were chosen with the bundled encoder. A linear map
through two medians, that of related and that of unrelated texts, brings another encoder's cosines to its scale.
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
"""Identity of the bundled encoder, on whose scale thresholds and features were chosen."""

_MIN_DIFFERENCE = 1e-4
"""Differences of cosines up to this are taken for rounding errors."""

_PAIR_DESCRIPTIONS = {
    "tools": "a request and a tool that serves it",
    "requests": "requests for the same",
    "documents": "tools for the same",
}
"""Descriptions of related texts, by kind of pair, for messages."""

_log = logging.getLogger(__name__)

Cosines = TypeVar("Cosines", float, NDArray[np.float32])


class PairCosines(Model):
    """Statistics of the cosines of one kind of pair, over all pairs of the bundled texts."""

    unrelated: float
    """Median over pairs of different topics."""
    upper: float
    """Upper quartile over pairs of different topics."""
    related: float
    """Median over pairs of one topic."""

    @property
    def is_separated(self) -> bool:
        """Return whether related texts stand out from unrelated ones, on any scale."""
        return self.related - self.unrelated > _MIN_DIFFERENCE and self.related > self.upper

    @property
    def is_flat(self) -> bool:
        """Return whether related and unrelated texts have the same cosine."""
        return abs(self.related - self.unrelated) <= _MIN_DIFFERENCE


class EncoderCalibration(Model):
    """Cosine statistics of an encoder for each kind of pair, since asymmetric encoders differ between them."""

    identity: str
    """Identity of the encoder."""
    tools: PairCosines
    """Cosines of a request with a tool's document."""
    requests: PairCosines
    """Cosines of two requests."""
    documents: PairCosines
    """Cosines of two documents."""

    @property
    def indistinct_kinds(self) -> dict[str, PairCosines]:
        """Return the kinds of pairs whose related texts do not stand out."""
        kinds = {"tools": self.tools, "requests": self.requests, "documents": self.documents}
        return {kind: pairs for kind, pairs in kinds.items() if not pairs.is_separated}

    @property
    def is_flat(self) -> bool:
        """Return whether a request has the same cosine with all tools."""
        return self.tools.is_flat


@dataclass(frozen=True, slots=True)
class LinearMap:
    """Linear map from an encoder's cosines to about those that the bundled encoder gives."""

    slope: float = 1.0
    offset: float = 0.0

    def map(self, cosines: Cosines) -> Cosines:
        """Map cosines, clipped to [-1, 1]; the identity map returns them unchanged."""
        if self == _IDENTITY_MAP:
            return cosines
        if isinstance(cosines, np.ndarray):
            return np.clip(cosines * np.float32(self.slope) + np.float32(self.offset), -1.0, 1.0)
        return min(1.0, max(-1.0, cosines * self.slope + self.offset))


@dataclass(frozen=True, slots=True)
class CosineScale:
    """Maps from an encoder's cosines to the bundled encoder's scale."""

    tools: LinearMap = LinearMap()
    """For cosines of a request with a tool's document."""
    requests: LinearMap = LinearMap()
    """For cosines of two requests, or of their patterns."""
    documents: LinearMap = LinearMap()
    """For cosines of two documents."""
    comparable: bool = True
    """True if mapped cosines are on the bundled encoder's scale, so that thresholds and re-ranking apply."""


_IDENTITY_MAP = LinearMap()
"""Map that changes nothing."""
REFERENCE_SCALE = CosineScale()
"""Scale of the bundled encoder itself."""

REFERENCE_CALIBRATION = EncoderCalibration(
    identity=REFERENCE_ENCODER,
    tools=PairCosines(unrelated=0.0046, upper=0.0530, related=0.4054),
    requests=PairCosines(unrelated=0.0712, upper=0.1251, related=0.8162),
    documents=PairCosines(unrelated=0.0497, upper=0.1017, related=0.5533),
)
"""Calibration of the bundled encoder; ``tests/unit/retriever/test_calibration.py`` measures it again."""


async def get_calibration(embedder: "Embedder") -> EncoderCalibration:
    """Return an encoder's calibration, measured on 96 short texts; the bundled encoder's is a constant.

    Raises:
        UnavailableError: the encoder cannot be reached.
    """
    return REFERENCE_CALIBRATION if embedder.identity == REFERENCE_ENCODER else await measure_calibration(embedder)


async def measure_calibration(embedder: "Embedder") -> EncoderCalibration:
    """Embed the bundled texts and compare them with each other. Raises ``UnavailableError``."""
    requests = await embedder.embed([text for pair, _ in TOPICS for text in pair], "query")
    documents = await embedder.embed([text for _, pair in TOPICS for text in pair], "document")
    return EncoderCalibration(
        identity=embedder.identity,
        tools=_compute_pair_cosines(requests, documents),
        requests=_compute_pair_cosines(requests, requests),
        documents=_compute_pair_cosines(documents, documents),
    )


def build_scale(calibration: EncoderCalibration) -> CosineScale:
    """Return the maps to the bundled encoder's scale.

    Cosines that do not separate related from unrelated texts are left unmapped, with a warning.
    """
    if calibration.identity == REFERENCE_ENCODER:
        return REFERENCE_SCALE
    if calibration.indistinct_kinds:
        _log.warning("%s", describe_indistinctness(calibration))
        return CosineScale(comparable=False)
    return CosineScale(
        _fit_linear_map(calibration.tools, REFERENCE_CALIBRATION.tools),
        _fit_linear_map(calibration.requests, REFERENCE_CALIBRATION.requests),
        _fit_linear_map(calibration.documents, REFERENCE_CALIBRATION.documents),
    )


def describe_indistinctness(calibration: EncoderCalibration) -> str:
    """Return a message about an encoder whose cosines do not separate related from unrelated texts."""
    figures = "; ".join(
        f"{_PAIR_DESCRIPTIONS[kind]} have a cosine of {pairs.related:.3f} at the median, unrelated ones {pairs.unrelated:.3f}"
        for kind, pairs in calibration.indistinct_kinds.items()
    )
    return (
        f"the encoder {calibration.identity} hardly tells texts apart: {figures}. Its cosines cannot be brought to a scale that thresholds "
        "know, so what is found by it means little. Check that FOOTPATH_EMBEDDING_NAME is an embedding model and that its prefixes are "
        "right, or use another encoder"
    )


def _fit_linear_map(own: PairCosines, reference: PairCosines) -> LinearMap:
    """Return the map that takes both medians to those of the reference."""
    slope = (reference.related - reference.unrelated) / (own.related - own.unrelated)
    return LinearMap(slope, reference.unrelated - slope * own.unrelated)


def _compute_pair_cosines(first: "Vectors", second: "Vectors") -> PairCosines:
    """Compute the statistics of the cosines between all rows of two arrays.

    Rows 2n and 2n + 1 belong to topic n. If ``second`` is ``first`` itself, no text is compared with itself.
    """
    cosines = first @ second.T
    topics = np.arange(len(first)) // 2
    same = topics[:, None] == topics[None, :]
    unrelated = cosines[~same]
    related = cosines[same & ~np.eye(len(first), dtype=np.bool_)] if first is second else cosines[same]
    return PairCosines(
        unrelated=float(np.median(unrelated)),
        upper=float(np.quantile(unrelated, 0.75)),
        related=float(np.median(related)),
    )
