"""What the re-ranker is taught by: each request as an encoder finds its candidates that did not learn from it."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import numpy as np
import pytest

import retriever.embedders.onnx_embedder as bundled
from domain.errors import UsageError
from domain.trajectory import RecordedOutcome, Trajectory, TrajectoryCall
from evaluation.api_names import normalize_api_name
from evaluation.queries import RetrievalQuery, write_queries
from evaluation.tuning import ONE
from retriever.features import FEATURE_NAMES
from retriever.indexing import index_tools
from tests.support.small_catalogue import DOCUMENTS
from wiring.container import Container, open_container
from wiring.encoders import read_encoder_identity
from wiring.reranker_training import collect_ranked_requests

RAIN = RetrievalQuery(ONE, "Will it rain in Rome tomorrow?", frozenset({normalize_api_name("sky", "rain")}))
MONEY = RetrievalQuery(ONE, "How many dollars are twenty euros?", frozenset({normalize_api_name("bank", "convert")}))


def trajectory(request: str, function: str) -> Trajectory:
    calls = (TrajectoryCall(function, RecordedOutcome.OK),)
    return Trajectory("id", "source", request, "give_answer", calls, calls)


WALKED = [
    trajectory(RAIN.query, "rain_for_sky"),
    trajectory("Is there rain in Oslo on Monday, or snow?", "rain_for_sky"),
    trajectory(MONEY.query, "rates_for_bank"),
]


@pytest.fixture
async def container(tmp_path: Path) -> AsyncGenerator[Container]:
    async with open_container(store=tmp_path / "store", create=True) as opened:
        await opened.graph.put_tools(DOCUMENTS)
        await index_tools(opened.graph.stream_documents(), *await opened.get_retrieval())
        yield opened


class Told(list[tuple[str, int, int]]):
    """The progress that was told."""

    def __call__(self, what: str, done: int, total: int) -> None:
        self.append((what, done, total))


async def fold(folder: Path, *held_out: RetrievalQuery, own: bool = True) -> Path:
    """What a training leaves; not ``own``: of an encoder whose file is another."""
    return await asyncio.to_thread(_fold, folder, held_out, own)


def _fold(folder: Path, held_out: Sequence[RetrievalQuery], own: bool) -> Path:
    shutil.copytree(bundled.BUNDLED_FOLDER, folder / "encoder")
    if not own:
        tokens = folder / "encoder" / "tokenizer.json"
        tokens.write_text(tokens.read_text() + " ")
    write_queries(held_out, folder / "held_out.jsonl")
    return folder


def column(values: np.ndarray, name: str) -> np.ndarray:
    return values[:, FEATURE_NAMES.index(name)]


async def test_each_fold_asks_what_it_held_out(container: Container, tmp_path: Path) -> None:
    folds = [await fold(tmp_path / "0", RAIN), await fold(tmp_path / "1", MONEY, own=False)]
    told = Told()
    rain, money = await collect_ranked_requests(container, folds, WALKED, told)
    assert (rain.query, money.query) == (RAIN, MONEY)
    for asked, right in ((rain, "rain"), (money, "convert")):
        serves = asked.judged.serves
        assert [name for name, served in zip(asked.keys, serves, strict=True) if served] == list(
            asked.query.relevant
        ), right
        assert asked.judged.features.shape == (len(asked.keys), len(FEATURE_NAMES))
        assert column(asked.judged.features, "cosine whole")[serves][0] > 0.3
    assert ("requests", 1, 1) in told
    assert ("tools", len(DOCUMENTS), len(DOCUMENTS)) in told, "the other encoder has made vectors of its own"
    assert not (tmp_path / "0" / "vectors").exists(), "those of the store's encoder are the store's"


async def test_its_own_path_is_not_shown(container: Container, tmp_path: Path) -> None:
    rain, money = await collect_ranked_requests(container, [await fold(tmp_path / "0", RAIN, MONEY)], WALKED, Told())
    assert column(rain.judged.features, "most alike that it served")[rain.judged.serves][0] > 0.3, (
        "another asked for rain"
    )
    assert column(rain.judged.features, "walks")[rain.judged.serves][0] == pytest.approx(np.log1p(1)), (
        "walked by another"
    )
    assert not column(money.judged.features, "walked").all()
    rates = [name == normalize_api_name("bank", "rates") for name in money.keys]
    assert column(money.judged.features, "walks")[rates].tolist() == [0.0], "only the request itself walked there"


async def test_vectors_that_are_there_are_not_made_again(container: Container, tmp_path: Path) -> None:
    both = [await fold(tmp_path / "0", RAIN), await fold(tmp_path / "1", MONEY, own=False)]
    first = await collect_ranked_requests(container, both, WALKED, Told())
    told = Told()
    again = await collect_ranked_requests(container, both, WALKED, told)
    assert [what for what, _, _ in told] == ["requests", "tools", "requests"], "one look at all of them, none embedded"
    assert np.array_equal(first[1].judged.features, again[1].judged.features)
    tokens = both[1] / "encoder" / "tokenizer.json"
    await asyncio.to_thread(tokens.write_text, await asyncio.to_thread(tokens.read_text) + " ")
    read_encoder_identity.cache_clear()
    exported_anew = await collect_ranked_requests(container, both, WALKED, Told())
    assert np.array_equal(first[1].judged.features, exported_anew[1].judged.features), "their vectors are made anew"


async def test_the_stores_encoder_is_one_of_the_folds(container: Container, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no fold's encoder"):
        await collect_ranked_requests(container, [await fold(tmp_path / "1", MONEY, own=False)], WALKED, Told())


async def test_a_fold_without_an_encoder_is_told(container: Container, tmp_path: Path) -> None:
    bare = await fold(tmp_path / "2", RAIN)
    await asyncio.to_thread(shutil.rmtree, bare / "encoder")
    with pytest.raises(UsageError, match="export it with train_retriever"):
        await collect_ranked_requests(container, [bare], WALKED, Told())
