from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from domain.errors import UnavailableError
from domain.tool import ToolId
from retriever.backends.exact import ExactIndex
from retriever.experience import Precedent, TransitionCount
from retriever.features import FEATURE_NAMES, FEATURES_VERSION
from retriever.index import Vectors
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex
from retriever.reranker import Reranker, RerankerWeights, build_reranker, read_reranker
from retriever.search import SearchParameters, ToolSearch
from tests.support.tool_samples import BagEmbedder, document, stream

FORECAST = document("forecast", "weather forecast for a city")
SUN = document("sun", "sunrise and sunset times of a city", "Sky")
LOCATE = document("locate", "coordinates by name", "Places", "Maps")
MONEY = document("convert", "convert money from one currency to another", "Exchange", "Finance")


def learnt(**weights: float) -> RerankerWeights:
    count = len(FEATURE_NAMES)
    chosen = tuple(weights.get(name.replace(" ", "_"), 0.0) for name in FEATURE_NAMES)
    return RerankerWeights(
        version=FEATURES_VERSION,
        encoder="e",
        names=FEATURE_NAMES,
        mean=(1.0,) * count,
        spread=(2.0,) * count,
        weights=chosen,
        offset=0.5,
    )


class Walks:
    """Everything leads from the forecast to the place; what was asked before was served by what changes money."""

    async def find_transitions(self, tools: Iterable[ToolId]) -> Sequence[TransitionCount]:
        asked = set(tools)
        return [TransitionCount(FORECAST.id, LOCATE.id, 5)] if asked & {FORECAST.id, LOCATE.id} else []

    async def find_precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        return [Precedent((ToolId("gone/gone/gone"), MONEY.id), 0.9)]


async def search(
    tmp_path: Path, reranker: Reranker | None, experience: Walks | None, candidates: int = 60
) -> ToolSearch:
    embedder, index, lexical = BagEmbedder(), ExactIndex(), LexicalIndex(tmp_path)
    await index.setup(embedder.identity, embedder.dimension)
    await index_tools(stream([FORECAST, SUN, LOCATE, MONEY]), embedder, index, lexical)
    return ToolSearch(embedder, index, lexical, SearchParameters(candidates=candidates), reranker, experience)


def test_a_judgement_is_the_weighted_sum_of_standardised_features() -> None:
    values = np.full((1, len(FEATURE_NAMES)), 4.0, np.float32)
    judged = build_reranker(learnt(fused=2.0, walks=-1.0)).score(values)
    assert judged.tolist() == [pytest.approx(0.5 + (4 - 1) / 2 * 2.0 - (4 - 1) / 2)]


def test_one_of_other_features_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reranker.json"
    path.write_bytes(orjson.dumps({**learnt().model_dump(), "version": "0"}))
    with pytest.raises(UnavailableError, match="other features"):
        read_reranker(path)
    path.write_bytes(orjson.dumps({**learnt().model_dump(), "mean": [1.0]}))
    with pytest.raises(UnavailableError, match="one mean"):
        read_reranker(path)


def test_the_one_that_comes_along_can_be_read() -> None:
    assert read_reranker().weights.shape == (len(FEATURE_NAMES),)


async def test_the_order_is_the_re_rankers_and_the_scores_stay(tmp_path: Path) -> None:
    plain = await (await search(tmp_path / "a", None, None)).find_tools("weather forecast for a city", 4)
    turned = await (await search(tmp_path / "b", build_reranker(learnt(fused=-1.0)), None)).find_tools(
        "weather forecast for a city", 4
    )
    assert [hit.id for hit in turned] == [hit.id for hit in plain][::-1]
    assert {hit.id: hit.score for hit in turned} == {hit.id: hit.score for hit in plain}


async def test_what_was_walked_beside_a_strong_tool_is_found_too(tmp_path: Path) -> None:
    asked = "weather forecast"
    without = await (await search(tmp_path / "a", None, None, candidates=1)).find_tools(asked, 1)
    assert [hit.id for hit in without] == [FORECAST.id]
    linked = build_reranker(learnt(linked=1.0))
    found = await (await search(tmp_path / "b", linked, Walks(), candidates=1)).find_tools(asked, 2)
    assert LOCATE.id in {hit.id for hit in found}


async def test_without_a_re_ranker_no_walk_is_asked_for_and_no_tool_set_looked_through(tmp_path: Path) -> None:
    class Counted(ExactIndex):
        reads = 0

        async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
            self.reads += 1
            return await super().compute_cosines(queries, ids)

    class Unasked(Walks):
        async def find_transitions(self, tools: Iterable[ToolId]) -> Sequence[TransitionCount]:
            raise AssertionError(f"asked beside {list(tools)}")

        async def find_precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
            raise AssertionError("asked for precedents")

    embedder, index, lexical = BagEmbedder(), Counted(), LexicalIndex(tmp_path)
    await index.setup(embedder.identity, embedder.dimension)
    other = document("alerts", "floods and storms")
    await index_tools(
        stream([FORECAST, other, *(document(f"rain{n}", "weather") for n in range(5))]), embedder, index, lexical
    )
    plain = ToolSearch(embedder, index, lexical, SearchParameters(candidates=1), None, Unasked())
    assert other.id not in {hit.id for hit in await plain.find_tools("weather forecast", 2)}
    assert index.reads == 1
    await ToolSearch(embedder, index, lexical, SearchParameters(candidates=1), build_reranker(learnt())).find_tools(
        "weather forecast", 2
    )
    assert index.reads == 3


async def test_what_served_a_request_alike_is_found_too(tmp_path: Path) -> None:
    alike = build_reranker(learnt(most_alike_that_it_served=1.0))
    search_ = await search(tmp_path, alike, Walks(), candidates=1)
    assert (await search_.find_tools("weather forecast", 2))[0].id == MONEY.id
    of_category = await search_.find_tools("weather forecast", 4, {"category": FORECAST.category})
    assert of_category
    assert MONEY.id not in {hit.id for hit in of_category}, "of another category"
