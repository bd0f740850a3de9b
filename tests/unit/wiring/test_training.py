"""What a retriever is trained on."""

from pathlib import Path

import orjson
import pytest

from domain.errors import BrokenInputError, UsageError
from evaluation.queries import RetrievalQuery, read_queries, write_queries
from evaluation.tuning import ONE, SEVERAL
from retriever.training.examples import TrainingExample
from tests.unit.evaluation.test_tuning import document, trajectory
from wiring.training_set import build_training_set, read_metatool, read_seal_tools, to_queries

DOCUMENTS = [document("sky", "rain"), document("sky", "wind"), document("bank", "rates")]


def seal(folder: Path, *requests: object) -> Path:
    about = {"field": "Culture/Books", "api_description": "Find a book", "parameters": {"title": "text"}}
    (folder / "tool.jsonl").write_bytes(orjson.dumps({"api_name": "findBook", **about}))
    (folder / "dev.jsonl").write_bytes(b"\n".join(map(orjson.dumps, requests)))
    return folder


def test_examples_are_the_requests_that_ended_in_an_answer(tmp_path: Path) -> None:
    measured = [RetrievalQuery("s", "how is the wind on the coast today", frozenset({("sky", "wind")}))]
    walked = [
        trajectory("will it rain", "rain_for_sky"),
        trajectory("how is the wind on the coast", "wind_for_sky"),  # near a measured one
        trajectory("rain and money", "rain_for_sky", "rates_for_bank"),
    ]
    other = read_seal_tools(seal(tmp_path, {"query": "Dune?", "calling": [{"api": "findBook"}, {"api": "unknown"}]}))
    corpus, examples = build_training_set(DOCUMENTS, walked, measured, [other])
    solved = {one.request: {corpus.ids[row].rpartition("/")[2] for row in one.positive_rows} for one in examples}
    assert solved == {"will it rain": {"rain"}, "rain and money": {"rain", "rates"}, "Dune?": {"findBook"}}
    assert [one.request for one in examples if one.out_of_domain] == ["Dune?"]
    found = to_queries(corpus, [one for one in examples if not one.out_of_domain])
    assert {one.query: one.split for one in found} == {"will it rain": ONE, "rain and money": SEVERAL}
    write_queries(found, tmp_path / "q.jsonl")
    assert read_queries(tmp_path / "q.jsonl") == (found, [])


def test_of_an_unlike_source_so_many_and_none_to_judge_by() -> None:
    walked = [trajectory(f"request number {n}", "rain_for_sky") for n in range(5)]
    _, examples = build_training_set(DOCUMENTS, walked, [], max_by_source={"source": 2})
    assert [one.out_of_domain for one in examples] == [True, True]
    assert all(isinstance(one, TrainingExample) for one in examples)


def test_of_a_plugin_three_requests(tmp_path: Path) -> None:
    (tmp_path / "plugin_des.json").write_bytes(orjson.dumps({"Weather": "tells the weather"}))
    rows = "".join(f"question {n},weather\n" for n in range(9))
    (tmp_path / "all_clean_data.csv").write_text(f"Query,Tool\n{rows},weather\nwho,nobody\n")
    found = read_metatool(tmp_path)
    assert [request for request, _ in found.requests] == ["question 0", "question 1", "question 2"]


def test_what_is_missing_or_broken_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tool\.jsonl"):
        read_seal_tools(tmp_path)
    seal(tmp_path)
    (tmp_path / "tool.jsonl").write_bytes(b"{broken")
    with pytest.raises(BrokenInputError):
        read_seal_tools(tmp_path)
    (tmp_path / "tool.jsonl").write_bytes(b'{"field": "Culture"}')
    with pytest.raises(BrokenInputError, match=r"tool\.jsonl:1: 'api_name'"):
        read_seal_tools(tmp_path)
    with pytest.raises(UsageError, match=r"plugin_des\.json"):
        read_metatool(tmp_path)
    (tmp_path / "plugin_des.json").write_bytes(b"[]")
    with pytest.raises(BrokenInputError, match=r"plugin_des\.json"):
        read_metatool(tmp_path)
