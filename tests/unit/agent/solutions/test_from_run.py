"""What a run's program is as a solution, and which programs are of their own run alone."""

import pytest

from agent.solutions.extraction import extract_solutions, is_usable_pattern
from agent.solutions.plain_values import SHAPE_KEYWORD
from agent.transcript import RunTranscript
from domain.event import Event, ProgramLooked, QuestionAnswered
from domain.solution import Solution
from tests.support.program_events import TEXT, call, calls, ended, program, run_of


def kept(text: str, request: str = "", response: str = "") -> list[Solution]:
    events: list[Event] = [program(text), *calls(text=text), ended()]
    records = run_of(events)
    if request:
        first = records[0].model_copy(update={"event": records[0].event.model_copy(update={"request": request})})
        subtask = records[1].model_copy(update={"event": records[1].event.model_copy(update={"description": request})})
        records = [first, subtask, *records[2:]]
    return list(extract_solutions(records, RunTranscript.from_records(records), {}, "anna"))


def test_the_values_of_the_request_are_inputs_and_are_not_kept() -> None:
    (one,) = kept(TEXT)
    assert one.plan.program.text.startswith("people = await search(name=name)\n")
    assert one.plan.inputs["name"][SHAPE_KEYWORD] == "name"
    assert (one.plan.values, one.owner, one.origin) == ({}, "anna", "run")
    assert "Grimaldo" not in one.model_dump_json()
    assert "{name}" in one.patterns[0]


@pytest.mark.parametrize(
    "text",
    [
        TEXT + "# " + "x" * 4_000,
        "before = earlier\n" + TEXT,
        TEXT.replace("people = ", "day = '2026-11-24'\npeople = "),
        TEXT.replace("people = ", "limit = 4711\npeople = "),
        TEXT.replace("people = ", "place = 'Oslo'\npeople = "),
        TEXT.replace("people = ", "latitude = 59.91\npeople = "),
    ],
)
def test_one_that_is_long_or_holds_what_nobody_said_is_of_its_run_alone(text: str) -> None:
    assert kept(text) == []


LOWER = """people = await search(name="Henrik Grimaldo")
same = [one for one in people if one["name"].lower() == "henrik grimaldo"]
{"answered": "yes", "answer": f"{same}"}
"""


def kept_of_a_search(text: str) -> list[Solution]:
    records = run_of([program(text), *call(1, "search", {}, text=text), ended()])
    return list(extract_solutions(records, RunTranscript.from_records(records), {}, "anna"))


def test_a_value_compared_in_lower_case_is_the_same_input() -> None:
    (one,) = kept_of_a_search(LOWER)
    assert 'one["name"].lower() == name.lower()' in one.plan.program.text
    assert list(one.plan.inputs) == ["name"]


def test_words_that_are_an_input_and_something_else_are_kept_for_no_other_request() -> None:
    assert kept_of_a_search(LOWER.replace("henrik grimaldo", "Grimaldo")) == []


def test_a_mark_is_no_value() -> None:
    assert "?" in kept(TEXT)[0].patterns[0]
    (one,) = kept(TEXT.replace('"answer": ', '"missing": "?", "answer": '))
    assert list(one.plan.inputs) == ["name"]


NAMED = 'name="Henrik Grimaldo"'
SAYS = '{"answered": "yes", "answer": f"{people}"}'


@pytest.mark.parametrize(
    "call_of_it",
    [
        'search(name={"name": "Henrik Grimaldo", "country": "Norway"})',
        'search(name="Henrik Grimaldo", year={"from": 1987})',
        'search(name="Henrik Grimaldo", place="Norway" if today else "")',
        'search(name=who + ", Norway")',
        'search(name=f"{who}, Norway")',
        'search(name=asked)',
        'search(name="Henrik Grimaldo", country="no")',
        '[one for one in await search(name="Henrik Grimaldo") if one["place"].startswith("Nor")]',
    ],
)  # fmt: skip
def test_nothing_is_kept_that_a_call_takes_and_nobody_said(call_of_it: str) -> None:
    wait = "" if call_of_it.startswith("[") else "await "
    text = f'who = "Henrik Grimaldo"\nasked = f"{{who}}, Norway"\npeople = {wait}{call_of_it}\n{SAYS}\n'
    events: list[Event] = [program(text), *call(1, "search", {}, text=text), ended()]
    records = run_of(events)
    assert not list(extract_solutions(records, RunTranscript.from_records(records), {}, "anna"))


@pytest.mark.parametrize("then", ["await info(person_id=33)", 'await info(person_id=people[4]["id"])'])
def test_what_an_author_picked_out_of_what_it_saw_is_of_this_run_alone(then: str) -> None:
    first = f"people = await search({NAMED})\nlook(people)\n"
    second = f'one = {then}\n{{"answered": "yes", "answer": f"{{one}}"}}\n'
    events: list[Event] = [
        program(first),
        *call(1, "search", {}, text=first),
        ProgramLooked(number=1, shown='[{"id": 12}, {"id": 33}]'),
        program(second, 2, goes_on=True),
        *call(2, "info", {}, text=second, number=2),
        ended(number=2),
    ]
    records = run_of(events)
    assert not list(extract_solutions(records, RunTranscript.from_records(records), {}, "anna"))


@pytest.mark.parametrize("own_words", [True, False])
def test_what_was_written_after_a_users_answer_is_for_that_user_alone(own_words: bool) -> None:
    asks = 'kind = await ask("Which kind?", ["short", "long"])\n'
    calls_it = f"people = await search({NAMED}, kind=%s)\n{SAYS}\n"
    first, second = asks + calls_it % "kind", calls_it % '"short"'
    question = QuestionAnswered(question="Which kind?", answer="not long", site="1:13#0")
    events: list[Event] = [program(first), question]
    if own_words:
        events += [ProgramLooked(number=1, shown="Which kind? -> not long"), program(second, 2)]
        events += [*call(1, "search", {}, text=second, number=2), ended(number=2)]
    else:
        events += [*call(1, "search", {}, text=first), ended()]
    records = run_of(events)
    assert bool(list(extract_solutions(records, RunTranscript.from_records(records), {}, "anna"))) is not own_words


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("{What is|Tell me} the age of {name}?", True),
        ("{name}的同事有哪些", True),
        ("the age of somebody?", False),
        ("{name}", False),
        ("{|Please} {|tell me} {name}", False),
        ("Compare {name} with {name}", False),
        ("Compare {name} with {other}", False),
        ("Who is {name}" + "?" * 400, False),
    ],
)
def test_a_wording_names_each_input_once_and_says_enough(text: str, good: bool) -> None:
    assert is_usable_pattern(text, ["name"]) is good
