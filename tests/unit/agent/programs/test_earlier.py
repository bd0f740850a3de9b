"""What a program goes on from: results as values, whole; what its author is shown of them, bounded and in order."""

import json

import pytest

from agent.conversation import REUSED_NOTE, TRUNCATED_NOTE, ConversationHistory, EarlierRun
from agent.programs.analysis.slices import SliceContext, SlicedProgram
from agent.programs.program_request import EarlierResults, build_earlier_results
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId
from tests.support.small_world import BOOKS, GEOCODE, REMOVE

PLACES = json.dumps({"results": [{"city": "Oslo", "id": 3}, {"city": "Lima", "id": 5}]})


def step(tool: ToolDoc, response: str, note: str = REUSED_NOTE, **arguments: str) -> tuple[ToolDoc, StepResult]:
    return tool, StepResult(tool=tool.id, arguments=dict(arguments), status="ok", response=response, note=note)


def run_of(request: str, *steps: tuple[ToolDoc, StepResult], answer: str = "") -> EarlierRun:
    return EarlierRun("r", request, tuple((seq, result) for seq, (_, result) in enumerate(steps, start=1)), answer)


def found(*runs: EarlierRun, given: list[tuple[ToolDoc, StepResult]], whole: bool = True) -> EarlierResults:
    numbers = list(range(1, sum(len(run.steps) for run in runs) + 1))
    return build_earlier_results(ConversationHistory(runs), numbers, given, is_original=whole)


def test_results_are_values_and_each_request_stands_before_its_own() -> None:
    first, second = step(GEOCODE, PLACES, city="Oslo"), step(BOOKS, "no JSON", title="Dune")
    results = found(
        run_of("Where is Oslo?", first, answer="In Norway."),
        run_of("And the book?", second),
        run_of("Who are you?", answer="Nobody."),
        given=[first, second],
    )
    assert results.values == (json.loads(PLACES), "no JSON")
    assert results.text.splitlines() == [
        "request: Where is Oslo?",
        "answer: In Norway.",
        'earlier[0] = search_places(city="Oslo")',
        "{'results':list[{'city':str,'id':int}]}, 1 fields",
        "sample: {'results': [{'city': 'Oslo', 'id': 3}, {'city': 'Lima', 'id': 5}]}",
        "request: And the book?",
        'earlier[1] = search_books(title="Dune")',
        "str, 7 characters",
        "sample: 'no JSON'",
        "request: Who are you?",
        "answer: Nobody.",
    ]
    assert results.foreign


def test_a_change_that_answered_nothing_is_shown_with_its_arguments() -> None:
    made = step(REMOVE, "", title="A long title of a book, " * 5, note="n")
    results = found(run_of("Remove it", made, answer="Done."), given=[made])
    assert results.values == (None,)
    assert f'earlier[0] = {REMOVE.function}(title="{"A long title of a book, " * 5}"' in results.text


def test_nothing_before_is_nothing() -> None:
    assert found(given=[]) == EarlierResults()


def test_a_part_of_a_request_sees_what_it_builds_on_alone() -> None:
    one, other = step(GEOCODE, PLACES, city="Oslo"), step(BOOKS, "[]", title="Dune")
    results = found(run_of("Who are you?", answer="Nobody."), given=[one, other], whole=False)
    assert results.text.startswith("request: an earlier part of this request\nearlier[0] = search_places")
    assert "Nobody" not in results.text


def test_what_is_shown_is_bounded_and_the_newest_has_room_first() -> None:
    long = json.dumps([{f"field {n}": "x" * 300 for n in range(30)}])
    steps = [step(GEOCODE if n % 2 else BOOKS, long, city=str(n), text="y" * 999) for n in range(24)]
    results = found(
        *(run_of(f"{'?' * 500}{n}", *steps[8 * n : 8 * n + 8], answer="z" * 9_000) for n in range(3)), given=steps
    )
    assert len(results.text) <= 7_000
    assert [f"earlier[{n}] = " in results.text for n in range(24)] == [True] * 24
    assert "sample" in results.text.split("earlier[23] = ")[1]
    assert "sample" not in results.text.split("earlier[16] = ")[0]
    assert len(results.values) == 24


def test_what_was_cut_says_so_and_holds_what_is_complete() -> None:
    cut = step(GEOCODE, '[{"a": 1}, {"a": 2}, {"a": ', TRUNCATED_NOTE)
    results = found(run_of("?", cut), given=[cut])
    assert results.values == ([{"a": 1}, {"a": 2}, {}],)
    assert "only a part" in results.text


def test_texts_of_earlier_versions_find_their_names() -> None:
    one = step(GEOCODE, PLACES)
    results = found(run_of("?", one), given=[one])
    assert results.select_inputs(frozenset({"earlier_1", "x"})) == {"earlier_1": json.loads(PLACES)}
    assert results.select_inputs(frozenset({"earlier"})) == {"earlier": [json.loads(PLACES)]}
    assert results.select_inputs(frozenset()) == {}


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("earlier[1]['id']", {"earlier[1]"}),
        ("earlier[-1]['id']", {"earlier[0]", "earlier[1]"}),
        ("[one['id'] for one in earlier][0]", {"earlier[0]", "earlier[1]"}),
    ],
)
def test_a_slice_tells_which_result_a_value_is_of(value: str, names: set[str]) -> None:
    inputs = {"earlier[0]": ToolId("a/b/c"), "earlier[1]": ToolId("d/e/f")}
    text = f"await book(id={value})"
    sliced = SlicedProgram([text], SliceContext({"book": ToolId("x/y/z")}, inputs=inputs))
    (found,) = sliced.slice_arguments("book", 6, len(text))
    assert {one.name for one in found.sources} == names
    assert found.tools == {inputs[name] for name in names}
    assert found.is_foreign
    assert found.is_traced


def test_a_slice_tells_what_was_answered_and_what_was_proposed() -> None:
    text = "found = await search()\nx = await ask('Which?', choices=found)\nawait book(id=x)"
    sliced = SlicedProgram([text], SliceContext({"book": ToolId("x/y/z"), "search": ToolId("a/b/c")}))
    (found,) = sliced.slice_arguments("book", text.index("book"), len(text))
    assert {one.kind for one in found.sources} == {"answer", "call", "constant"}
    assert "what you answered" in found.words
