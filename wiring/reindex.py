"""All steps of a change of encoder at once: new vectors are made, compared with those in use, and switched to."""

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest
from pathlib import Path

from domain.errors import UsageError
from evaluation.api_names import ApiName
from evaluation.queries import RetrievalQuery
from evaluation.retrieval import RetrievalSearch, ScoredQuery, compute_measures, rank
from evaluation.retrieval_figures import find_documents
from graph.store import GraphStore
from retriever.index import Embedder
from retriever.search import ToolSearch
from retriever.words import truncate_words
from wiring.container import Container, open_container
from wiring.encoder_change import EncoderChange, VectorProgress, VectorUpdate, update_vectors
from wiring.encoder_state import EncoderVectors
from wiring.encoders import SETTINGS, create_embedder, get_settings_choice
from wiring.links import link_fully
from wiring.settings import Settings
from wiring.store_encoders import OpenVectors

COMPARED_DEPTH = 10
"""Number of tools of a ranking that are compared."""

SAMPLE_SIZE = 50
_MEASURES = ("ndcg@5", "recall@10")


@dataclass(frozen=True, slots=True)
class ComparisonRequests:
    """Requests to compare on; without relevant APIs, nothing is judged."""

    requests: Sequence[RetrievalQuery]
    relevant: int = 0
    """Number of relevant APIs of the requests."""
    missing: int = 0
    """Number of relevant APIs without a document."""


@dataclass(frozen=True, slots=True)
class RankingComparison:
    """Result of a comparison. All figures lie in [0, 1]."""

    former: str
    new: str
    requests: int
    overlap: float
    """Share of the first ten tools that both find."""
    figures: dict[str, tuple[float, float]]
    """Means of each measure with the former and the new encoder, where relevant APIs are known."""
    relevant: int = 0
    missing: int = 0
    """Number of ``relevant`` APIs without a document."""

    def compute_loss(self) -> float:
        """Return how much the new encoder loses in its worst measure; 0 where it loses nothing."""
        return max([0.0, *(former - new for former, new in self.figures.values())])


async def compare_encoder_rankings(
    former: tuple[str, RetrievalSearch], new: tuple[str, RetrievalSearch], comparison_requests: ComparisonRequests
) -> RankingComparison:
    """Rank tools for every request with both searches, each given with its name."""
    rankings = [await rank(comparison_requests.requests, search, COMPARED_DEPTH) for _, search in (former, new)]
    pairs = list(zip(*rankings, strict=True))
    figures = {
        name: (_compute_mean(rankings[0], name), _compute_mean(rankings[1], name))
        for name in (_MEASURES if comparison_requests.relevant else ())
    }
    overlap = sum(_compute_overlap(*pair) for pair in pairs) / len(pairs) if pairs else 1.0
    return RankingComparison(
        former[0], new[0], len(pairs), overlap, figures, comparison_requests.relevant, comparison_requests.missing
    )


async def build_labelled_comparison(queries: Sequence[RetrievalQuery], graph: GraphStore) -> ComparisonRequests:
    """Return labelled requests for a comparison. ``UsageError`` where none has a relevant API in ``graph``.

    Without one, both encoders would look alike.
    """
    relevant = frozenset[ApiName]().union(*(query.relevant for query in queries))
    documented = await find_documents(graph, relevant)
    if not documented:
        raise UsageError(
            f"none of the {len(relevant):,} relevant APIs of the queries has a document in this store, so that they cannot tell "
            "a good encoder from a poor one: name queries of its own tools with --queries, or leave them out"
        )
    return ComparisonRequests(queries, len(relevant), len(relevant) - len(documented))


async def sample_comparison_requests(graph: GraphStore) -> ComparisonRequests:
    """Return beginnings of tools' descriptions as requests, the same ones each time.

    They show similarity, not quality.
    """
    texts = [truncate_words(tool.description[:1_000], 12) async for tool in graph.stream_documents()]
    sampled_texts = nsmallest(
        SAMPLE_SIZE, {text for text in texts if text}, key=lambda text: blake2b(text.encode()).digest()
    )
    return ComparisonRequests([RetrievalQuery("sample", text, frozenset()) for text in sampled_texts])


def _compute_mean(scored: Sequence[ScoredQuery], name: str) -> float:
    return sum(
        compute_measures(scored_query.ranking, scored_query.query.relevant)[name] for scored_query in scored
    ) / len(scored)


def _compute_overlap(former: ScoredQuery, new: ScoredQuery) -> float:
    first, second = set(former.ranking[:COMPARED_DEPTH]), set(new.ranking[:COMPARED_DEPTH])
    return len(first & second) / max(len(first), len(second), 1)


@dataclass(frozen=True, slots=True)
class ReindexTrial:
    """Conditions for a switch to the new vectors."""

    queries: Sequence[RetrievalQuery] | None = None
    """Requests with their relevant APIs; None for a sample, which refuses nothing."""
    tolerance: float = 0.01
    """Largest accepted loss of NDCG@5 and Recall@10."""
    former: Settings | None = None
    """Settings of the encoder used so far, where it is neither the bundled one nor that of the settings."""


@dataclass(frozen=True, slots=True)
class ReindexResult:
    """Result of a change of encoder."""

    tools: int
    embedded: int
    dropped: tuple[str, ...]
    """Names of deleted vectors, which the same encoder's new ones replaced."""
    seconds: float
    compared: RankingComparison | None = None
    """None where there was nothing in use, or its encoder is not available."""
    refused: str = ""
    """Why the new vectors were not switched to; they are kept beside those in use."""
    kept: str = ""
    """The encoder whose vectors were in use and are kept, so that one can switch back."""


async def reindex(
    progress: Callable[[int], None] | None = None,
    settings: Settings | None = None,
    *,
    store: Path | None = None,
    trial: ReindexTrial | None = None,
) -> ReindexResult:
    """Take all steps of a change to the encoder of the settings: prepare, compare, switch.

    Interrupted, a second run goes on.

    The former vectors are kept, since running servers may search by them; to an encoder whose vectors are kept, this
    switches back.

    Raises:
        UsageError: the settings name no usable encoder, no request of the trial has a relevant API in the store, or the
            former encoder of the trial did not make the vectors in use.
        ConflictError: the vectors of a third encoder are still kept from the change before.
        UnavailableError: a store or service cannot be used.
    """
    trial, began = trial or ReindexTrial(), time.perf_counter()
    async with open_container(settings, store) as container, AsyncExitStack() as stack:
        requests = None if trial.queries is None else await build_labelled_comparison(trial.queries, container.graph)
        former_encoder = await _open_former_encoder(trial, stack)
        change, new = EncoderChange(container), await container.encoders.get_embedder(SETTINGS)
        current_vectors = await change.find_vectors_in_use(former_encoder.identity if former_encoder else "")
        # They may be the new encoder's: the same command has switched before, and was perhaps interrupted after that.
        if (
            former_encoder
            and current_vectors
            and current_vectors.identity not in (former_encoder.identity, new.identity)
        ):
            raise UsageError(
                f"--former names {former_encoder.identity}, and the vectors in use were made by {current_vectors.identity}: name the "
                "settings of that encoder, or leave --former out"
            )
        former = (await change.get_state()).former
        former_target = (
            former
            if former and current_vectors and former.identity == new.identity != current_vectors.identity
            else None
        )
        update, prepared = await _prepare_vectors(container, change, former_target, _adapt_progress(progress))
        comparison = await _compare_encoders(container, current_vectors, former_encoder, requests, prepared)
        objection = _find_objection(current_vectors, comparison, trial)
        if not objection:
            await (change.switch_back() if former_target else change.switch())
        dropped, kept_encoder = (
            await _clean_up(container, change, current_vectors, new.identity) if not objection else ([], "")
        )
        seconds = time.perf_counter() - began
        return ReindexResult(
            update.tools, update.embedded, tuple(dropped), seconds, comparison, objection, kept_encoder
        )


async def _prepare_vectors(
    container: Container, change: EncoderChange, former_target: EncoderVectors | None, progress: VectorProgress
) -> tuple[VectorUpdate, OpenVectors]:
    """Prepare the vectors to switch to. ``former_target``: the former vectors, which lack only what changed since."""
    encoders = container.encoders
    if former_target is not None:
        opened = await encoders.open(former_target)
        return await update_vectors(container, opened.embedder, opened.index, progress), opened
    update = await change.prepare(get_settings_choice(container.settings), progress, threads=None, again=True)
    new_vectors = (await change.get_state()).beside
    assert new_vectors is not None  # noqa: S101 (prepared just now)
    return update, await encoders.open(new_vectors, staged=True)


async def _clean_up(
    container: Container, change: EncoderChange, current_vectors: EncoderVectors | None, new: str
) -> tuple[list[str], str]:
    """Delete what nobody needs; return what was deleted, and the encoder whose vectors are kept.

    Nobody searches by older vectors of the same encoder once it was switched.
    """
    if current_vectors is None:
        return [], ""
    if current_vectors.identity == new:
        return await change.drop_older(current_vectors), ""
    await link_fully(container)
    return [], current_vectors.identity


def _adapt_progress(progress: Callable[[int], None] | None) -> VectorProgress:
    return lambda done, _: progress(done) if progress else None


async def _open_former_encoder(trial: ReindexTrial, stack: AsyncExitStack) -> Embedder | None:
    """Open the former encoder of the trial, where it names one."""
    if trial.former is None:
        return None
    embedder, close = create_embedder(trial.former)
    stack.push_async_callback(close)
    return embedder


async def _compare_encoders(
    container: Container,
    current_vectors: EncoderVectors | None,
    former_encoder: Embedder | None,
    requests: ComparisonRequests | None,
    new: OpenVectors,
) -> RankingComparison | None:
    """Compare the new vectors with those in use; None where there are none, or their encoder is not available."""
    if current_vectors is None:
        return None
    encoders, lexical = container.encoders, container.words
    if former_encoder is None or former_encoder.identity != current_vectors.identity:
        former_encoder = await encoders.get_embedder(current_vectors.encoder)
    if former_encoder.identity != current_vectors.identity:
        return None
    former_index = await encoders.open_index(current_vectors)
    return await compare_encoder_rankings(
        (former_encoder.identity, ToolSearch(former_encoder, former_index, lexical)),
        (new.embedder.identity, ToolSearch(new.embedder, new.index, lexical)),
        requests or await sample_comparison_requests(container.graph),
    )


def _find_objection(
    current_vectors: EncoderVectors | None, comparison: RankingComparison | None, trial: ReindexTrial
) -> str:
    """Return why not to switch; empty where nothing speaks against it."""
    if trial.queries is None or current_vectors is None:
        return ""
    if comparison is None:
        return (
            f"the vectors in use were made by {current_vectors.identity}, which is not at hand to be compared with: give its settings "
            "with --former FILE, or switch without with --step switch"
        )
    if (lost := comparison.compute_loss()) > trial.tolerance:
        return (
            f"the new vectors lose {100 * lost:.1f} points, more than the {100 * trial.tolerance:.1f} they may: stay with "
            f"{comparison.former} (--step discard deletes the new ones), or switch all the same with --step switch"
        )
    return ""
