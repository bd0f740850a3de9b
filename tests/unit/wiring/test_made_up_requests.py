"""Which APIs requests are made up for, which of the requests are fit to learn from, and the files they stand in."""

from pathlib import Path

import pytest

from domain.errors import BrokenInputError, UsageError
from retriever.training.examples import build_corpus
from retriever.training.recipe import TrainingRecipe
from retriever.training.synthetic_requests import SyntheticRequest
from retriever.training.written_negatives import WrittenNegative
from tests.support.small_catalogue import DOCUMENTS, document, example
from wiring.written_examples import make_offline_requests, read_written, sample_unsolved, select_learnable, write_lines

COPY = document("Sky", "Rain", "Get the rain forecast of a city", category="d")
CORPUS = build_corpus([*DOCUMENTS, COPY])
KNOWN = {one.id: one for one in [*DOCUMENTS, COPY]}


def test_apis_that_nobody_asked_for_each_once() -> None:
    rain = example(CORPUS, "will it rain", ("sky", "rain"))
    found = [one.id for one in sample_unsolved(CORPUS, [rain], KNOWN, 0, 7)]
    assert sorted(found) == sorted(one.id for one in DOCUMENTS if one.api != "rain"), "its copy is solved, too"
    names = [(one.toolset.lower(), one.api.lower()) for one in sample_unsolved(CORPUS, [], KNOWN, 0, 7)]
    assert len(names) == len(set(names)) == len(DOCUMENTS)
    assert len(sample_unsolved(CORPUS, [], KNOWN, 3, 7)) == 3
    assert sample_unsolved(CORPUS, [], KNOWN, 3, 7) == sample_unsolved(CORPUS, [], KNOWN, 3, 7)


async def test_requests_that_lead_elsewhere_or_near_a_measured_one_are_dropped() -> None:
    moon, rain = document("sky", "moon").id, document("sky", "rain").id
    requests = [
        SyntheticRequest(request="Which phase has the moon tonight?", tool=moon),
        SyntheticRequest(request="Convert an amount between two currencies", tool=moon),
        SyntheticRequest(request="I want the rain forecast of Oslo", tool=rain),
        SyntheticRequest(request="Take an umbrella with me to this city: is rain forecast?", tool=COPY.id),
    ]
    shown: list[tuple[int, int]] = []
    measured = ["i want the RAIN forecast of oslo now"]
    fit, dropped = await select_learnable(requests, CORPUS, measured, lambda at, of: shown.append((at, of)))
    assert fit == [requests[0], requests[3]]
    assert dropped == {"not_found": 1, "near_measured": 1}
    assert shown[-1] == (4, 4)


async def test_plain_requests_of_a_small_catalogue_lead_back() -> None:
    made = make_offline_requests(DOCUMENTS, TrainingRecipe(synthetic_per_api=3))
    assert len(made) == 3 * len(DOCUMENTS)
    assert {one.by for one in made} == {"offline"}
    fit, _ = await select_learnable(made, CORPUS, [], lambda at, of: None)
    assert fit == made


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    held = [WrittenNegative(request="a\nb", tool="c/sky/rain", api="x", description="é", parameters=("p",), by="m")]
    write_lines(tmp_path / "new" / "negatives.jsonl", held)
    assert read_written(tmp_path / "new" / "negatives.jsonl", WrittenNegative) == held
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["negatives.jsonl"]


def test_what_is_wrong_with_a_file_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="write_examples"):
        read_written(tmp_path / "none", SyntheticRequest)
    (tmp_path / "a").write_text('{"request": "x", "tool": "c/sky/rain"}\n{"request": "x"}\n')
    with pytest.raises(BrokenInputError, match="a:2: tool: Field required"):
        read_written(tmp_path / "a", SyntheticRequest)
    with pytest.raises(UsageError, match="cannot write"):
        write_lines(tmp_path / "a" / "b", [])
