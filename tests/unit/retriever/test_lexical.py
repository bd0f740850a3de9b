import math
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolId, make_tool_id
from retriever import lexical
from retriever.lexical import LexicalIndex, LexicalMatch, LexicalParameters
from retriever.words import split_terms

TEXTS = {
    ToolId("w/s/forecast"): "weather forecast for a city, five days",
    ToolId("w/s/current"): "current weather weather in a city",
    ToolId("m/x/convert"): "convert money between currencies",
}


def plain_bm25(texts: dict[ToolId, str], request: str, k1: float, b: float) -> list[float]:
    """Lucene's BM25, term by term."""
    counts = [Counter(split_terms(text)) for text in texts.values()]
    average = sum(sum(count.values()) for count in counts) / len(counts)
    scores: list[float] = []
    for count in counts:
        score = 0.0
        for word in set(split_terms(request)):
            occurs = sum(word in other for other in counts)
            idf = math.log(1 + (len(counts) - occurs + 0.5) / (occurs + 0.5))
            length = 1 - b + b * sum(count.values()) / average
            score += idf * count[word] / (count[word] + k1 * length)
        scores.append(score)
    return scores


@pytest.fixture
async def index(tmp_path: Path) -> LexicalIndex:
    index = LexicalIndex(tmp_path / "lexical")
    assert await index.put(TEXTS)
    return index


async def test_scores_are_bm25_over_the_best(index: LexicalIndex) -> None:
    request = "weather in the city, city weather today"
    match = await index.match(request)
    parameters = LexicalParameters()
    in_order = dict(sorted(TEXTS.items()))
    expected = np.array(plain_bm25(in_order, request, parameters.k1, parameters.b))
    assert list(match.ids) == list(in_order)
    assert match.scores == pytest.approx(expected / expected.max(), abs=1e-5)
    assert match.select_best(5) == ["w/s/current", "w/s/forecast"]
    assert match.select_best(5, np.array([True, False, True])) == ["w/s/forecast"]
    assert match.select_scores([ToolId("m/x/convert"), ToolId("unknown")]).tolist() == [0, 0]


async def test_words_that_no_tool_has(index: LexicalIndex) -> None:
    match = await index.match("zzz, please! \ud800")
    assert not match.scores.any()
    assert match.select_best(5) == []


async def test_new_and_changed_texts_are_found(index: LexicalIndex, tmp_path: Path) -> None:
    reader = LexicalIndex(tmp_path / "lexical")
    assert (await reader.match("sunrise")).select_best(1) == []
    assert await index.put({ToolId("w/s/sun"): "sunrise and sunset", ToolId("m/x/convert"): "exchange"})
    assert (await reader.match("sunrise")).select_best(1) == ["w/s/sun"]
    assert (await reader.match("money")).select_best(1) == []
    assert await reader.count() == 4
    assert len([path for path in (tmp_path / "lexical").iterdir() if path.is_dir()]) == 1


async def test_unchanged_texts_write_nothing(index: LexicalIndex, tmp_path: Path) -> None:
    before = (tmp_path / "lexical" / "current").read_text()
    assert not await index.put(dict(list(TEXTS.items())[:2]))
    assert (tmp_path / "lexical" / "current").read_text() == before
    assert await LexicalIndex(tmp_path / "lexical", LexicalParameters(k1=0.9)).put({})


async def test_a_failed_write_keeps_the_former_index(
    index: LexicalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lexical.np, "save", full)
    with pytest.raises(UnavailableError, match="No space left on device; the former one is kept"):
        await index.put({ToolId("w/s/sun"): "sunrise"})
    monkeypatch.undo()
    assert (await LexicalIndex(tmp_path / "lexical").match("weather")).select_best(1)
    assert len([path for path in (tmp_path / "lexical").iterdir() if path.is_dir()]) == 1


async def test_before_the_first_put(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path / "none")
    assert await index.count() == 0
    with pytest.raises(UnavailableError, match="holds no word index"):
        await index.match("weather")


@pytest.mark.parametrize("name", ["ids.json", "vocabulary.json", "data.npy", "meta.json"])
async def test_damage_is_named(index: LexicalIndex, tmp_path: Path, name: str) -> None:
    generation = (tmp_path / "lexical" / "current").read_text()
    path = tmp_path / "lexical" / generation / name
    path.write_bytes(path.read_bytes()[:5])
    with pytest.raises(UnavailableError, match=r"cannot be read .*delete that folder"):
        await LexicalIndex(tmp_path / "lexical").match("weather")
    path.unlink()
    with pytest.raises(UnavailableError, match=r"cannot be read .*delete that folder"):
        await LexicalIndex(tmp_path / "lexical").match("weather")


@pytest.mark.parametrize("damage", ["current", "meta.json", "meta.json gone", "all gone"])
async def test_whatever_happened_to_the_files_they_are_made_anew(
    index: LexicalIndex, tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "lexical"
    generation = folder / (folder / "current").read_text()
    match damage:
        case "current":
            (folder / "current").write_text("elsewhere")
        case "meta.json":
            (generation / "meta.json").write_text("{")
        case "meta.json gone":
            (generation / "meta.json").unlink()
        case _:
            shutil.rmtree(folder)
    assert await index.read_fingerprint() == ""
    assert await index.replace(TEXTS)
    assert (await index.match("weather")).select_best(1)


async def test_another_format_is_refused_for_reading_and_made_anew(
    index: LexicalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_FORMAT", "later")
    later = LexicalIndex(tmp_path / "lexical")
    with pytest.raises(StoreVersionError, match="index the tools again"):
        await later.match("weather")
    assert await later.put(TEXTS)
    assert (await later.match("weather")).select_best(1)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30), st.integers(0, 40))
def test_best_is_a_sort(values: list[float], limit: int) -> None:
    ids = [ToolId(str(n)) for n in range(len(values))]
    match = LexicalMatch(ids, {tool: n for n, tool in enumerate(ids)}, np.array(values, np.float32))
    expected = sorted((n for n in range(len(values)) if values[n] > 0), key=lambda n: (-values[n], n))
    found = [values[int(tool)] for tool in match.select_best(limit)]
    assert found == [values[n] for n in expected[:limit]]


async def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    one, other = LexicalIndex(tmp_path / "one"), LexicalIndex(tmp_path / "other")
    await one.put(TEXTS)
    for tool in reversed(TEXTS):
        await other.put({tool: TEXTS[tool]})
    assert list((await one.match("city")).ids) == list((await other.match("city")).ids)
    assert await one.read_fingerprint() == await other.read_fingerprint() != ""


async def test_only_these_texts(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path)
    assert await index.read_fingerprint() == ""
    await index.put({ToolId("w/s/gone"): "weather of yesterday", **TEXTS})
    before = await index.read_fingerprint()
    assert await index.replace(TEXTS)
    assert not await index.replace(TEXTS)
    assert sorted((await index.match("weather")).ids) == sorted(TEXTS)
    assert await index.read_fingerprint() != before
    await index.replace({})
    assert await index.count() == 0


WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "weather",
    "forecast",
    "city",
    "country",
    "flag",
    "ship",
    "harbour",
    "berth",
    "pilot",
    "tide",
    "crane",
]


def some_texts(seed: int, count: int) -> dict[ToolId, str]:
    chance = Random(seed)
    return {
        make_tool_id("c", "s", f"{number:03}-{seed}"): " ".join(chance.choices(WORDS, k=chance.randint(1, 30)))
        for number in range(count)
    }


async def test_few_changes_give_exactly_what_a_whole_build_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts added, replaced and taken out, one after another: scores, ids and the fingerprint."""
    step_by_step, chance = LexicalIndex(tmp_path / "steps"), Random(7)
    texts = some_texts(1, 60)
    await step_by_step.put(texts)
    with monkeypatch.context() as patched:  # no whole build from here on
        patched.setattr(LexicalIndex, "_build", None)
        for step in range(6):
            new = some_texts(2 + step, 4) | {chance.choice(sorted(texts)): "tide pilot newword"}
            gone = chance.sample(sorted(texts), 3)
            texts = {tool: text for tool, text in (texts | new).items() if tool not in gone}
            await step_by_step.put(new)
            await step_by_step.remove(gone)
    at_once = LexicalIndex(tmp_path / "whole")
    await at_once.put(texts)
    assert await step_by_step.read_fingerprint() == await at_once.read_fingerprint()
    assert await step_by_step.list_ids() == await at_once.list_ids() == sorted(texts)
    for request in ("weather forecast of a city", "ship berth tide", "newword", "alpha alpha unknown"):
        one, other = await step_by_step.match(request), await at_once.match(request)
        np.testing.assert_array_equal(one.scores, other.scores)


async def test_many_changes_are_built_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = LexicalIndex(tmp_path)
    await index.put(some_texts(1, 8))
    monkeypatch.setattr(LexicalIndex, "_build", None)
    with pytest.raises(TypeError):
        await index.put(some_texts(2, 3))


@pytest.mark.parametrize("lost", ["counts.npy", "lengths.npy"])
async def test_counts_that_are_lost_are_made_anew(tmp_path: Path, lost: str) -> None:
    """As in an index of an earlier version."""
    index, texts = LexicalIndex(tmp_path / "one"), some_texts(1, 20)
    await index.put(texts)
    (folder,) = tmp_path.glob("one/*/")  # noqa: ASYNC240  # of this test alone
    (folder / lost).unlink()
    new = some_texts(2, 1)
    await index.put(new)
    other = LexicalIndex(tmp_path / "other")
    await other.put(texts | new)
    one, two = await index.match("city flag"), await other.match("city flag")
    np.testing.assert_array_equal(one.scores, two.scores)
    assert list(tmp_path.glob(f"one/*/{lost}"))  # noqa: ASYNC240
