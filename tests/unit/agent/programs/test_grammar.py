"""Sentences of the grammar as programs that run: each kind of step, and what becomes of what is not there."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from pydantic.types import JsonValue

from agent.programs.grammar.sentence import Sentence
from agent.programs.grammar.sentence_compiler import compile_sentence
from agent.programs.program_checks import check_program
from agent.programs.program_types import (
    CallFailure,
    LookRequest,
    ProgramError,
    ReturnedValue,
    SandboxCall,
    SandboxLimits,
)
from agent.programs.sandbox import MontySandbox
from tests.support.people_tools import DOCS, OFFER, answered
from tests.support.scripted_host import driven

Step = dict[str, Any]


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=1))
    yield made
    await made.close()


def call(name: str, function: str, /, **arguments: JsonValue) -> Step:
    return {"do": "call", "name": name, "function": function, "arguments": given(**arguments)}


def each(name: str, of: str, function: str, /, **arguments: JsonValue) -> Step:
    return {"do": "for_each", "name": name, "of": of, "function": function, "arguments": given(**arguments)}


def given(**arguments: JsonValue) -> list[dict[str, JsonValue]]:
    return [{"parameter": name.replace("__", "."), "value": value} for name, value in arguments.items()]


def step(do: str, name: str, of: str, **fields: JsonValue) -> Step:
    return {"do": do, "name": name, "of": of, **fields}


def sentence(*steps: Step, answer: JsonValue = "", answered: str = "yes", missing: str = "nobody is there") -> Sentence:
    return Sentence.model_validate({"steps": steps, "answered": answered, "answer": answer, "missing": missing})


async def outcome(sandbox: MontySandbox, *steps: Step, calls: list[SandboxCall] | None = None, **end: Any) -> Any:
    """What a sentence comes to when it is run; it compiles, and the type check has nothing against it."""
    made = compile_sentence(sentence(*steps, **end), OFFER)
    assert made.complaints == ()
    checked = await check_program(made.text, OFFER, DOCS, sandbox, {})
    assert checked.complaints == (), made.text

    def host(pending: SandboxCall) -> JsonValue | CallFailure:
        if calls is not None:
            calls.append(pending)
        return answered(pending)

    async with sandbox.open_session() as session:
        stop = await driven(session, checked.text, host, {"today": "2026-11-23"})
    assert isinstance(stop, (ReturnedValue, LookRequest)), (stop, made.text)
    return stop.value if isinstance(stop, ReturnedValue) else stop


ALL = call("found", "findPeople", name="")
FIRST = step("first", "person", "found.people")


async def test_a_lookup(sandbox: MontySandbox) -> None:
    end = await outcome(sandbox, call("p", "getPerson", id="p1"), answer="{p.name} is cited {p.cited} times ({today}).")
    assert end == {"answered": "yes", "answer": "Henrik Grimaldo is cited 30 times (2026-11-23).", "missing": ""}


async def test_a_chain_by_what_the_first_call_found(sandbox: MontySandbox) -> None:
    steps = (call("found", "findPeople", name="zoë", limit="3"), FIRST, call("others", "coauthors", id="{person.id}"))
    end = await outcome(sandbox, *steps, answer="{others[].name}")
    assert end["answer"] == ["Henrik Grimaldo", "Ada Brandt"]


async def test_where_nothing_is_found_the_answer_is_no(sandbox: MontySandbox) -> None:
    calls: list[SandboxCall] = []
    steps = (call("found", "findPeople", name="Nobody"), FIRST, call("others", "coauthors", id="{person.id}"))
    end = await outcome(sandbox, *steps, answer="{others[].name}", missing="Niemand heißt so.", calls=calls)
    assert end == {"answered": "no", "answer": "", "missing": "Niemand heißt so."}
    assert [one.function for one in calls] == ["findPeople"]


@pytest.mark.parametrize(
    ("cited", "says"), [(30, True), (0, True), (0.0, True), (False, True), ("", False), (None, False), ([], False)]
)
async def test_where_it_is_uncertain_an_empty_answer_breaks_off_and_nought_is_one(
    sandbox: MontySandbox, cited: JsonValue, says: bool
) -> None:
    made = compile_sentence(sentence(call("p", "getPerson", id="p1"), answer="{p.cited}"), OFFER, certain=False)
    async with sandbox.open_session() as session:
        stop = await driven(session, made.text, lambda pending: {"id": "p1", "cited": cited}, {})
    if says:
        assert isinstance(stop, ReturnedValue)
        assert stop.value == {"answered": "yes", "answer": cited, "missing": "nobody is there"}
    else:
        assert isinstance(stop, ProgramError)
        assert "nobody is there" in str(stop)


async def test_for_each_keeps_the_item_beside_what_came_of_it(sandbox: MontySandbox) -> None:
    steps = (
        ALL,
        each("papers", "found.people", "papers", id="{item.id}"),
        step("join", "text", "papers", text="{item.name}: {result.titles}", by="; "),
    )
    end = await outcome(sandbox, *steps, answer="{text}")
    assert end["answer"].startswith("Henrik Grimaldo: ['On p1', 'More']; Zoë Lindqvist: ")


async def test_the_most_and_the_least_leave_out_what_has_no_value(sandbox: MontySandbox) -> None:
    steps = (
        ALL,
        each("infos", "found.people[]", "getPerson", id="{item.id}"),
        step("most", "best", "infos", field="result.cited", how_many=1),
        step("least", "least", "found.people", field="cited", how_many=1),
        step("most", "top", "found.people", field="cited", how_many=5),
    )
    end = await outcome(sandbox, *steps, answer="{best.item.name} {best.result.cited}, {least.name}, {top[].id}")
    assert end["answer"] == "Zoë Lindqvist 45, Henrik Grimaldo, p2, p1"


@pytest.mark.parametrize(
    ("field", "test", "value", "found"),
    [
        ("cited", ">", 30, ["p2"]), ("cited", ">=", "30", ["p1", "p2"]), ("name", "contains", "GRIM", ["p1"]), ("tags", "contains", "tools", ["p1", "p3"]),
        ("home.rent", "<", 11, ["p1"]), ("born", ">", "1980-01-01", ["p2", "p3"]), ("name", "!=", "Ada Brandt", ["p1", "p2"]), ("item.id", "=", "{person.id}", ["p1"]),
    ],
)  # fmt: skip
async def test_only_those_that_pass(
    sandbox: MontySandbox, field: str, test: str, value: JsonValue, found: list[str]
) -> None:
    steps = (ALL, FIRST, step("where", "those", "found.people", field=field, test=test, value=value))
    assert (await outcome(sandbox, *steps, answer="{those[].id}"))["answer"] == found


async def test_figures(sandbox: MontySandbox) -> None:
    steps = (
        ALL,
        step("count", "many", "found.people"),
        step("sum", "total", "found.people[].cited"),
        step("average", "mean", "found.people[].cited"),
        step("sum", "rent", "found.people[].home.rent"),
        {"do": "calculate", "name": "more", "left": "{total}", "operator": "-", "right": 5},
        {"do": "calculate", "name": "share", "left": "{many}", "operator": "/", "right": "{total}"},
    )
    end = await outcome(sandbox, *steps, answer="{many} {total} {mean} {rent} {more} {share}")
    assert end["answer"] == "3 75 37.5 10.5 70 0.04"


async def test_the_average_of_nothing_is_no_answer(sandbox: MontySandbox) -> None:
    steps = (call("found", "findPeople", name="Nobody"), step("average", "mean", "found.people[].cited"))
    assert (await outcome(sandbox, *steps, answer="{mean}"))["answered"] == "no"


async def test_two_are_compared(sandbox: MontySandbox) -> None:
    compare = {
        "do": "compare", "name": "told", "left": "{a.cited}", "right": "{b.cited}",
        "more": "{a.name} leads", "less": "{b.name} leads", "equal": "both have {a.cited}",
    }  # fmt: skip
    steps = (call("a", "getPerson", id="p1"), call("b", "getPerson", id="p2"), compare)
    assert (await outcome(sandbox, *steps, answer="{told}."))["answer"] == "Zoë Lindqvist leads."


async def test_a_field_that_is_null_is_a_dash_in_a_text_and_ends_what_needs_it(sandbox: MontySandbox) -> None:
    ada = call("ada", "getPerson", id="p3")
    assert (await outcome(sandbox, ada, answer="{ada.name}: {ada.cited}, {ada.home}"))["answer"] == "Ada Brandt: –, –"
    city = await outcome(sandbox, ada, step("field", "city", "ada.home.city"), answer="{city}", missing="no home")
    assert city == {"answered": "no", "answer": "", "missing": "no home"}


async def test_the_one_that_a_name_means(sandbox: MontySandbox) -> None:
    picked = step("pick", "one", "found.people", field="name", like="grimaldo, henrik")
    assert (await outcome(sandbox, ALL, picked, answer="{one.id}"))["answer"] == "p1"
    nobody = step("pick", "one", "found.people", field="name", like="Wilhelmina")
    assert (await outcome(sandbox, ALL, nobody, answer="{one.id}"))["answered"] == "no"


async def test_a_change_by_what_was_found_with_fields_of_a_body(sandbox: MontySandbox) -> None:
    calls: list[SandboxCall] = []
    sent = call(
        "sent", "sendLetter", letter__to="{ada.id}", letter__copies="{ada.name}", letter__urgent="true", kind="grand"
    )
    end = await outcome(sandbox, call("ada", "getPerson", id="p3"), sent, answer="Sent: {sent.sent}", calls=calls)
    assert calls[-1].arguments == {"letter": {"to": "p3", "copies": ["Ada Brandt"], "urgent": True}, "kind": "grand"}
    assert end["answer"] == "Sent: True"


async def test_no_with_what_is_missing(sandbox: MontySandbox) -> None:
    end = await outcome(sandbox, answered="no", missing="Il n'y a pas de service pour cela.")
    assert end == {"answered": "no", "answer": "", "missing": "Il n'y a pas de service pour cela."}


async def test_a_look_ends_a_cell(sandbox: MontySandbox) -> None:
    stop = await outcome(sandbox, call("p", "papers", id="p1"), step("look", "l", "p"))
    assert stop == LookRequest(({"titles": ["On p1", "More"]},))


async def test_what_others_have_named_stays_text(sandbox: MontySandbox) -> None:
    ada = call("class", "getPerson", id="p3")
    told = "{class[\"odd 'key'\"]} \"'\\ {{x}} {not a path} \n\u2028"
    assert (await outcome(sandbox, ada, answer=told))["answer"] == "2.5 \"'\\ {x} {not a path} \n\u2028"


@pytest.mark.parametrize(("test", "says"), [("contains", False), (">", True)])
async def test_a_count_of_nothing_is_an_answer_above_a_bound_and_none_where_a_name_is_not_found(
    sandbox: MontySandbox, test: str, says: bool
) -> None:
    where = {"do": "where", "name": "fitting", "of": "found.people", "field": "name" if not says else "cited", "test": test, "value": "Zoe" if not says else 9}  # fmt: skip
    count = {"do": "count", "name": "number", "of": "fitting"}
    made = compile_sentence(sentence(ALL, where, count, answer="{number}"), OFFER, certain=False)
    assert made.text, made.complaints
    async with sandbox.open_session() as session:
        stop = await driven(
            session, made.text, lambda pending: {"people": [{"id": "p1", "name": "Ann", "cited": 3}]}, {}
        )
    assert isinstance(stop, ReturnedValue if says else ProgramError)
