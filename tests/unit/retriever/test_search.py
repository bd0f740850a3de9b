from pathlib import Path

import pytest

from domain.errors import UsageError
from domain.tool import ToolId
from retriever.backends.exact import ExactIndex
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex
from retriever.search import SearchParameters, ToolSearch
from tests.support.tool_samples import BagEmbedder, document, stream

FORECAST = document("getForecast", "weather forecast for the next days of a city")
COPY = document("Get Forecast", "weather forecast for the next days of a city", category="Data")
SUN = document("sun", "sunrise and sunset times")
MONEY = document("convert", "convert money from one currency to another", "Exchange", "Finance")
REQUEST = "What is the weather forecast for Rome this week? Then convert 100 dollars to another currency."


@pytest.fixture
async def search(tmp_path: Path) -> tuple[ToolSearch, BagEmbedder]:
    embedder, index, lexical = BagEmbedder(), ExactIndex(), LexicalIndex(tmp_path)
    await index.setup(embedder.identity, embedder.dimension)
    await index_tools(stream([FORECAST, COPY, SUN, MONEY]), embedder, index, lexical)
    embedder.embedded.clear()
    return ToolSearch(embedder, index, lexical), embedder


async def test_best_first_in_bounds(search: tuple[ToolSearch, BagEmbedder]) -> None:
    hits = await search[0].find_tools(REQUEST, 10)
    assert {hits[0].id, hits[1].id} <= {FORECAST.id, COPY.id, MONEY.id}
    assert MONEY.id in {hit.id for hit in hits[:2]}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= value <= 1 for hit in hits for value in (hit.score, hit.dense, hit.lexical))


async def test_look_alikes_are_one_result(search: tuple[ToolSearch, BagEmbedder]) -> None:
    hits = await search[0].find_tools("weather forecast", 10)
    assert {hits[0].id, *hits[0].alike} == {FORECAST.id, COPY.id}
    assert len(hits) == 3


async def test_limit_and_category(search: tuple[ToolSearch, BagEmbedder]) -> None:
    assert len(await search[0].find_tools(REQUEST, 1)) == 1
    assert [hit.id for hit in await search[0].find_tools(REQUEST, 5, {"category": "Finance"})] == [MONEY.id]
    assert await search[0].find_tools(REQUEST, 5, {"category": "none"}) == []
    assert await search[0].find_tools(REQUEST, 5, {"category": "Finan"}) == []
    kept = await search[0].find_tools(REQUEST, 5, {"category": "Weather"})
    assert {hit.id for hit in kept} == {FORECAST.id, SUN.id}
    with pytest.raises(UsageError, match="method"):
        await search[0].find_tools(REQUEST, 5, {"method": "GET"})


async def test_nothing_asked(search: tuple[ToolSearch, BagEmbedder]) -> None:
    assert await search[0].find_tools("  ", 5) == []
    assert await search[0].find_tools(REQUEST, 0) == []
    assert await search[0].score_relevance([], [SUN.id]) == {SUN.id: ()}
    assert await search[0].score_relevance([REQUEST], []) == {}


async def test_relevance_is_on_the_scale_of_scores(search: tuple[ToolSearch, BagEmbedder]) -> None:
    hits = await search[0].find_tools(REQUEST, 10)
    ids = [hit.id for hit in hits]
    found = await search[0].score_relevance([REQUEST, "sunrise in Rome"], [*ids, ToolId("a/b/unknown")])
    for hit in hits:
        assert found[hit.id][0] == pytest.approx(hit.score, abs=1e-6)
    assert found[ToolId("a/b/unknown")] == (0.0, 0.0)
    assert found[SUN.id][1] > found[MONEY.id][1]


async def test_a_text_is_embedded_once(search: tuple[ToolSearch, BagEmbedder]) -> None:
    for _ in range(3):
        await search[0].find_tools(REQUEST, 5)
        await search[0].score_relevance([REQUEST, REQUEST], [SUN.id])
    assert len(search[1].embedded) == 3  # the whole request and its two sentences


async def test_more_texts_than_are_remembered(search: tuple[ToolSearch, BagEmbedder]) -> None:
    texts = [f"weather number {n}" for n in range(100)]
    assert len((await search[0].score_relevance(texts, [SUN.id]))[SUN.id]) == 100


@pytest.mark.parametrize("weight", [0.0, 1.0])
async def test_one_side_alone(tmp_path: Path, weight: float) -> None:
    embedder, index, lexical = BagEmbedder(), ExactIndex(), LexicalIndex(tmp_path)
    await index.setup(embedder.identity, embedder.dimension)
    await index_tools(stream([FORECAST, SUN, MONEY]), embedder, index, lexical)
    search = ToolSearch(embedder, index, lexical, SearchParameters(dense_weight=weight))
    hits = await search.find_tools("convert money", 5)
    assert hits[0].id == MONEY.id
    assert hits[0].score == pytest.approx(hits[0].dense if weight else hits[0].lexical)
