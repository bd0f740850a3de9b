"""Check of an embedding service by calling it: does it work, what are its vectors like, and how fast is it?"""

import time
from typing import TYPE_CHECKING

from domain.errors import ModelUnavailableError
from domain.model import Model
from wiring.encoders import create_embedding_service, wrap_embedding_service
from wiring.settings import Settings

if TYPE_CHECKING:
    from agent.llm.client.embeddings import OpenaiEmbeddings
    from agent.llm.client.transport import AddressResolver

_QUERY = "What will the weather be like tomorrow in Oslo?"
_TOOL_TEXTS = (
    "weather: daily forecast. Temperature and rain of the next days at a place.",
    "currency: convert. Changes an amount of money from one currency to another.",
)
"""Texts of tools, the fitting one first."""

_MIN_SAME_COSINE = 0.98
"""Smallest cosine between one text's vectors, alone and in a batch; below it, rows are mixed up."""


class EmbeddingReport(Model):
    """Findings about an embedding service."""

    url: str
    model: str
    dimension: int | None = None
    """Numbers of a vector as it came."""
    ordered: bool = False
    """A batch's vectors are those of its texts, in order."""
    sensible: bool = False
    """A request is nearer to the tool that serves it than to another one."""
    seconds: float | None = None
    """Seconds for one text."""
    texts_a_second: float | None = None
    """Texts a second in batches."""
    identity: str = ""
    failure: str = ""
    error: str = ""
    advice: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Return whether its vectors can be searched by."""
        return not self.failure and self.ordered and self.sensible


async def check_embedding(settings: Settings, addresses: "AddressResolver | None" = None) -> EmbeddingReport:
    """Ask the service of the settings for a few vectors. Its failures are in the report.

    ``addresses``: where the service may be, None for anywhere.

    Raises:
        UsageError: the settings name none.
    """
    service = create_embedding_service(settings, addresses)
    report = EmbeddingReport(url=settings.embedding_url, model=settings.embedding_name)
    try:
        return await _measure(settings, service, report)
    except ModelUnavailableError as error:
        return report.model_copy(update={"failure": error.kind, "error": str(error)})
    finally:
        await service.close()


async def _measure(settings: Settings, service: "OpenaiEmbeddings", report: EmbeddingReport) -> EmbeddingReport:
    (row,) = await service.embed(["ready"])
    embedder = wrap_embedding_service(service, settings, row.size)
    began = time.perf_counter()
    query_vector = (await embedder.embed([_QUERY], "query"))[0]
    seconds = time.perf_counter() - began
    texts = [*_TOOL_TEXTS, *(f"tool {n}: number {n}" for n in range(2, settings.embedding_batch))]
    began = time.perf_counter()
    batch = await embedder.embed(texts, "document")
    speed = len(texts) / (time.perf_counter() - began)
    single_vectors = [(await embedder.embed([text], "document"))[0] for text in (texts[0], texts[-1])]
    measured = {
        "dimension": row.size,
        "ordered": all(
            float(vector @ batch[position]) > _MIN_SAME_COSINE
            for vector, position in zip(single_vectors, (0, -1), strict=True)
        ),
        "sensible": bool(query_vector @ batch[0] > query_vector @ batch[1]),
        "seconds": seconds,
        "texts_a_second": speed,
        "identity": embedder.identity,
    }
    report = report.model_copy(update=measured)
    return report.model_copy(update={"advice": _collect_advice(settings, report)})


def _collect_advice(settings: Settings, report: EmbeddingReport) -> tuple[str, ...]:
    advice: list[str] = []
    if settings.embedding_dimension != report.dimension:
        advice.append(f"set FOOTPATH_EMBEDDING_DIMENSION={report.dimension}")
    if settings.embedder != "service":
        advice.append("set FOOTPATH_EMBEDDER=service, then index the tools with scripts/reindex.py")
    if not report.ordered:
        advice.append("a text's vector in a batch is not the one it has alone: set FOOTPATH_EMBEDDING_BATCH=1")
    if not report.sensible:
        advice.append(
            "a question about the weather is nearer to a tool for money: is it an embedding model, are the prefixes right?"
        )
    return tuple(advice)
