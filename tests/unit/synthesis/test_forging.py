"""Combinations to solutions: what is kept gives what was found without it, by hand as well."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic.types import JsonValue

from agent.plans.plan_text_check import check_plan
from agent.programs.signatures import OfferText
from domain.model import JsonObject
from domain.solution import Solution
from domain.tool import Parameter
from graph.walks import FeedGraph
from synthesis import solution_builder
from synthesis.combinations import Combination, enumerate_combinations
from synthesis.input_values import InputValueFinder
from synthesis.intent_program import IntentProgram, write_program
from synthesis.intents import Intent, QueryPath, enumerate_intents
from synthesis.program_trial import ReadOnlyCaller, try_program
from synthesis.solution_builder import CombinationOutcome, SolutionBuilder
from synthesis.walk_execution import compute_gold_answer, follow_walk
from tests.unit.synthesis.library_service import SEARCH, TOOLS, ReadersService, sandbox


def every() -> list[Combination]:
    return [*enumerate_combinations(FeedGraph(TOOLS))]


def one(path: str, inputs: str, output: str) -> Combination:
    """The combination of these functions and inputs."""
    found = [
        each
        for each in every()
        if " ".join(tool.api for tool in each.walk.tools) == path
        and " ".join(said.name for said in each.inputs) == inputs
        and each.output is not None
        and each.output.path == output
    ]
    assert len(found) == 1
    return found[0]


def intent(combination: Combination, asked: str, taken: Sequence[str], by: str = "") -> Intent:
    found = [
        each
        for each in enumerate_intents(QueryPath(combination))
        if (each.kind, each.item_modes) == (asked, tuple(taken)) and (not by or each.compared_path == by)
    ]
    assert len(found) == 1
    return found[0]


async def forged(combination: Combination, service: ReadersService) -> CombinationOutcome:
    reading = ReadOnlyCaller(service)
    return await SolutionBuilder(sandbox(), reading, InputValueFinder(TOOLS, reading)).build_solutions(combination)


BY_HAND: list[tuple[str, str, str, str, list[str], str, JsonObject, JsonValue]] = [
    ("searchPerson", "name", "[].num_citation", "all", [], "", {}, 40),
    ("searchPerson getFriends", "name", "[].name", "all", ["one"], "", {}, ["Bea Kwon"]),
    ("searchPerson getPersonBooks", "name", "[].title", "count", ["one"], "", {}, 2),
    ("searchPerson getPersonBooks", "name", "[].year", "first", ["one"], "", {}, 1843),
    ("searchPerson getPersonBooks", "name", "[].pages", "most", ["one"], "", {}, "Letters"),
    ("searchPerson getPersonBooks", "name", "[].pages", "least", ["one"], "", {}, "Notes"),
    ("searchPerson getPersonBooks", "name", "[].title", "where", ["one"], "[].year", {"year": 1850}, ["Letters"]),
    ("searchPerson getFriends getPersonBooks", "name", "[].title", "all", ["one", "each"], "", {}, ["Looms"]),
    ("searchPerson getFriends getPersonInterest", "name", "[]", "all", ["one", "first"], "", {}, ["looms"]),
    ("searchPerson getFriends getPersonInterest", "name", "[]", "where", ["one", "each"], "", {"value": "looms"}, ["Bea Kwon"]),
    ("searchPerson", "city", "[].num_citation", "most", [], "", {"city": "Oslo"}, "Bea Kwon"),
    ("searchPerson getPersonBooks", "city", "[].title", "count", ["each"], "", {"city": "Oslo"}, 3),
    ("searchPerson getPersonBooks", "city", "[].title", "all", ["each"], "", {"city": "Oslo"}, ["Notes", "Letters", "Looms"]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "inputs", "output", "asked", "taken", "by", "given", "expected"), BY_HAND)
async def test_program_and_gold_are_what_is_worked_out_by_hand(
    path: str, inputs: str, output: str, asked: str, taken: list[str], by: str, given: JsonObject, expected: JsonValue
) -> None:
    wanted = intent(one(path, inputs, output), asked, taken, by)
    values: JsonObject = {"name": "Ada Byron"} if inputs == "name" else {}
    values |= given
    code, reading = write_program(wanted), ReadOnlyCaller(ReadersService())
    assert not code.complaints
    rows = await follow_walk(wanted.query_path, wanted.item_modes, values, reading.call)
    assert compute_gold_answer(wanted, rows, given.get(code.inputs[-1].name)) == expected
    docs = {tool.id: tool for tool in TOOLS}
    functions = {each.name: each.tool for each in code.offer.signatures}
    plan = await check_plan(code.text, code.schemas, functions, docs, sandbox())
    assert not plan.complaints
    trial = await try_program(
        plan.plan, values, {name: docs[tool] for name, tool in functions.items()}, sandbox(), reading
    )
    assert (trial.answer, trial.error) == (expected, "")


async def test_every_combination_makes_solutions_whose_patterns_name_their_inputs() -> None:
    service = ReadersService()
    reading = ReadOnlyCaller(service)
    forge = SolutionBuilder(sandbox(), reading, InputValueFinder(TOOLS, reading))
    found: list[Solution] = []
    for combination in every():
        made = await forge.build_solutions(combination)
        assert "its program gives something else" not in made.dropped
        found += made.solutions
    assert len(found) > 40
    patterns = [pattern for solution in found for pattern in solution.patterns]
    assert len(patterns) == len(set(patterns))
    for solution in found:
        assert (solution.origin, solution.suspended, solution.plan.values) == ("mined", "", {})
        assert all(f"{{{name}}}" in pattern for name in solution.plan.inputs for pattern in solution.patterns)


async def test_a_program_that_gives_something_else_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    combination = one("searchPerson getPersonBooks", "name", "[].pages")
    right = await forged(combination, ReadersService())

    def swapped(wanted: Intent, offer: OfferText) -> IntentProgram:
        other = replace(wanted, kind="least" if wanted.kind == "most" else "most") if wanted.compared_path else wanted
        return write_program(other, offer)

    monkeypatch.setattr(solution_builder, "write_program", swapped)
    made = await forged(combination, ReadersService())
    assert made.dropped["its program gives something else"] == 2
    assert len(made.solutions) == len(right.solutions) - 2


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"getPersonBooks": []}, "nothing was found"), ({"getPersonBooks": None}, "a call failed")],
)
async def test_what_finds_nothing_is_not_kept(wrong: dict[str, JsonValue], why: str) -> None:
    service = ReadersService(wrong)
    if None in wrong.values():
        service.wrong["searchPerson"] = [{"person_id": "nobody", "name": "Ada Byron"}]
        del service.wrong["getPersonBooks"]
    made = await forged(one("searchPerson getPersonBooks", "name", "[].title"), service)
    assert not made.solutions
    assert made.dropped[why] == made.intents


async def test_what_holds_for_one_value_alone_is_not_kept() -> None:
    """``Chad.languages`` of whoever asks for Chad is no answer for another country."""
    languages: JsonObject = {"type": "object", "properties": {"languages": {"type": "string"}}}
    by_country = SEARCH.model_copy(
        update={
            "parameters": (Parameter(name="city", required=True, example="Chad"),),
            "response_schema": json.dumps({"type": "object", "properties": {"Chad": languages, "world": languages}}),
        }
    )
    service = ReadersService({"searchPerson": {"Chad": {"languages": "French"}, "world": {"languages": "many"}}})
    reading = ReadOnlyCaller(service)
    forge = SolutionBuilder(sandbox(), reading, InputValueFinder((by_country,), reading))
    made = [await forge.build_solutions(each) for each in enumerate_combinations(FeedGraph([by_country]))]
    kept = [solution for each in made for solution in each.solutions]
    assert {one.outputs for one in kept} == {("world.languages",)}
    assert sum(each.dropped["it holds for one value alone"] for each in made) == 1


async def test_of_values_that_are_no_numbers_none_is_the_most() -> None:
    books: list[JsonValue] = [{"title": "Notes", "pages": "Not Available"}, {"title": "Letters", "pages": "nan"}]
    more: list[JsonValue] = [*books, {"title": "Looms", "pages": 80}]
    cases: list[tuple[JsonValue, JsonValue]] = [(books, None), (more, "Looms")]
    wanted = intent(one("searchPerson getPersonBooks", "name", "[].pages"), "most", ["one"])
    for some, expected in cases:
        reading = ReadOnlyCaller(ReadersService({"getPersonBooks": some}))
        rows = await follow_walk(wanted.query_path, wanted.item_modes, {"name": "Ada Byron"}, reading.call)
        assert compute_gold_answer(wanted, rows) == expected


async def test_nothing_is_called_that_changes_something() -> None:
    combination = one("searchPerson getPersonBooks", "name", "[].title")
    changing = TOOLS[2].model_copy(update={"method": "POST"})
    walk = combination.walk
    altered = Combination(
        type(walk)((walk.tools[0], changing), walk.feeds, walk.user_inputs, walk.repeated_inputs),
        combination.inputs,
        combination.output,
    )
    service = ReadersService()
    made = await forged(altered, service)
    assert (made.solutions, dict(made.dropped), service.calls) == ((), {"it changes something": 1}, [])


async def test_what_cannot_be_tried_is_kept_suspended_where_that_is_asked_for() -> None:
    combination = one("searchPerson getPersonBooks", "name", "[].title")
    untried = await SolutionBuilder(sandbox()).build_solutions(combination)
    assert (untried.solutions, dict(untried.dropped)) == ((), {"nothing may be called": untried.intents})
    kept = await SolutionBuilder(sandbox(), keep_unproven=True).build_solutions(combination)
    assert len(kept.solutions) == kept.intents
    assert all(solution.suspended for solution in kept.solutions)
    assert not kept.triplets


async def test_a_question_that_a_kept_solution_answers_is_left_to_it() -> None:
    combination = one("searchPerson getPersonBooks", "name", "[].title")
    first = await forged(combination, ReadersService())
    reading = ReadOnlyCaller(ReadersService())
    forge = SolutionBuilder(sandbox(), reading, InputValueFinder(TOOLS, reading))
    for solution in first.solutions:
        forge.reserve_patterns(solution.model_copy(update={"id": "another"}))
    made = await forge.build_solutions(combination)
    assert made.dropped["a shorter way answers the same question"] == made.intents


async def test_triplets_hold_code_that_runs_as_it_stands() -> None:
    made = await forged(one("searchPerson getPersonBooks", "name", "[].title"), ReadersService())
    told = next(each for each in made.triplets if each.query.startswith("How many"))
    assert told.solution == ("searchPerson", "getPersonBooks")
    assert told.query == "How many books of the person Ada Byron are there?"
    assert told.code.startswith("name = 'Ada Byron'\n")
    compile(told.code.replace("await ", ""), "triplet", "exec")
