"""Where values come from, found out by looking for them."""

import json

import pytest
from pydantic.types import JsonValue

from agent.execution.provenance import FixedArgument, ProvenanceTracker, RunStatements
from domain.model import JsonObject
from domain.plan import StepResult
from domain.provenance import HostCrossing, ValueKind
from domain.tool import Flow, Parameter, ToolDoc, make_tool_id
from offline.reader import EnglishReader

NOTICE = {"id": 4711, "text": "Pay 950 to DE89-77 today, ٤٢ times.", "payee": {"name": "Ada Ost", "ok": True}}


def tool(name: str, host: str, *parameters: Parameter, method: str = "GET", source: str = "") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "s", name),
        category="c",
        toolset="s",
        api=name,
        function=name,
        method=method,
        url=f"https://{host}/{name}",
        parameters=parameters,
        source=source,
    )


READ = tool("read", "a.example", source="openapi:a.json")
PAY = tool(
    "pay",
    "b.example",
    Parameter(name="amount", type="number"),
    Parameter(name="account"),
    Parameter(name="day", format="date"),
    Parameter(name="currency", enum=("EUR", "USD")),
    Parameter(name="kind", enum=("bank",)),
    Parameter(name="express", type="boolean", default=False),
    Parameter(name="lines", type="array"),
    method="POST",
    source="openapi:b.json",
)
LOOK = tool("look", "b.example", Parameter(name="q"), source="openapi:b.json")


def heard(*said: str, response: object = NOTICE, of: ToolDoc = READ, reference: str = "") -> ProvenanceTracker:
    provenance = ProvenanceTracker(RunStatements(user_messages=said), EnglishReader())
    text = response if isinstance(response, str) else json.dumps(response)
    provenance.record_response(of, StepResult(tool=of.id, status="ok", response=text), reference)
    return provenance


def kind(provenance: ProvenanceTracker, name: str, value: JsonValue) -> ValueKind:
    (origin,) = provenance.trace_arguments(PAY, {name: value}).origins
    return origin.kind


@pytest.mark.parametrize(
    ("said", "name", "value"),
    [
        ("Pay 950 to DE89-77", "amount", 950),
        ("Überweise 1.950,50 € bitte", "amount", 1950.5),
        ("pay 1,950.50 now", "amount", 1950.5),
        ("a table for four, please: pay four", "amount", 4),
        ("send it to de89-77.", "account", "DE89-77"),
        ("请转账给上海图书馆", "account", "上海图书馆"),
        ("Σε ΑΘΗΝΑ", "account", "αθηνα"),
        ("on 23 July 2026", "day", "2026-07-23"),
        ("5 euros", "currency", "EUR"),
        ("lines x1 and y2", "lines", ["x1", "y2"]),
    ],
)
def test_what_a_user_said_is_theirs_though_a_response_says_it_too(said: str, name: str, value: JsonValue) -> None:
    assert kind(heard(said), name, value) == "said"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("amount", 950, "prose"),
        ("amount", 950.0, "prose"),
        ("account", "DE89-77", "prose"),
        ("account", "Ada Ost", "field"),
        ("amount", 4711, "field"),
        ("account", "4711", "field"),
        ("account", "payee", "prose"),
        ("account", "Ost", "prose"),
        ("account", "pay the account DE89-77 at once", "prose"),
        ("account", "XX00", "written"),
        ("amount", 95, "written"),
        ("amount", 0, "written"),
        ("currency", "EUR", "document"),
        ("kind", "bank", "document"),
        ("express", False, "document"),
        ("express", True, "written"),
        ("lines", ["Ada Ost", "XX00"], "written"),
        ("lines", ["Ada Ost", "DE89-77"], "prose"),
        ("lines", '[{"to": "DE89-77"}]', "prose"),
        ("lines", [], "said"),
    ],
)
def test_what_a_user_did_not_say_is_whose_it_is(name: str, value: JsonValue, expected: ValueKind) -> None:
    assert kind(heard("Then pay it, please."), name, value) == expected


def test_a_response_that_is_no_json_is_prose_as_a_whole() -> None:
    assert kind(heard(response="DE89-77"), "account", "DE89-77") == "prose"


def test_what_is_deep_or_late_in_a_long_response_is_found() -> None:
    deep: object = "DE89-77"
    for _ in range(120):
        deep = {"in": [deep]}
    long = {"items": [{"n": f"item {number}"} for number in range(30_000)], "deep": deep}
    assert kind(heard(response=long), "account", "DE89-77") == "field"


def test_what_the_author_of_a_template_fixed_is_theirs_though_the_user_said_such() -> None:
    fixed: list[FixedArgument] = [(PAY.id, "amount", 950), (PAY.id, "lines", ["x1"])]
    voices = RunStatements(
        user_messages=["950 and x1"], author_values=fixed, author_messages=["Pay the rent to LANDLORD-9"]
    )
    provenance = ProvenanceTracker(voices)
    assert kind(provenance, "amount", 950) == "others"
    assert kind(provenance, "amount", "950") == "others"
    assert kind(provenance, "lines", ["x1"]) == "others"
    assert kind(provenance, "account", "LANDLORD-9") == "others"
    assert kind(provenance, "account", "x1") == "said"
    assert kind(ProvenanceTracker(RunStatements(user_values=fixed)), "amount", 950) == "said"


def test_it_is_told_in_words_with_the_place() -> None:
    (origin,) = heard().trace_arguments(PAY, {"account": "DE89-77"}).origins
    assert (origin.tool, origin.host, origin.place) == (READ.id, "a.example", "text")
    assert origin.words == "words inside a text that “Read” of a.example answered (text)"
    assert heard(reference="earlier.3").find_reference(PAY, "account", "Ada Ost") == ("field", "earlier.3.payee.name")
    assert heard("Ada Ost", reference="earlier.3").find_reference(PAY, "account", "Ada Ost") == ("said", "")


def crossings(provenance: ProvenanceTracker, arguments: JsonObject, to: ToolDoc = LOOK) -> list[HostCrossing]:
    return list(provenance.trace_arguments(to, arguments).crossings)


GOES = [HostCrossing(source="a.example", target="b.example", parameter="q")]


@pytest.mark.parametrize("value", ["Ada Ost", "4711", "DE89-77", "all that is known of DE89-77"])
def test_a_value_of_another_host_crosses(value: str) -> None:
    assert crossings(heard("Look it up: all that is known of it"), {"q": value}) == GOES


@pytest.mark.parametrize("said", ["Look up Ada Ost", "ada ost"])
def test_what_the_user_said_crosses_to_nobody(said: str) -> None:
    assert crossings(heard(said), {"q": "Ada Ost"}) == []


def test_what_belongs_together_crosses_nothing() -> None:
    same = LOOK.model_copy(update={"source": READ.source})
    nowhere = LOOK.model_copy(update={"url": ""})
    flow = Flow(source=READ.id, field="payee.name", share=1.0, count=3)
    recorded = LOOK.model_copy(update={"parameters": (Parameter(name="q", flows=(flow,)),)})
    own = LOOK.model_copy(update={"url": "https://a.example/look"})
    for tool_of_it in (same, nowhere, recorded, own):
        assert crossings(heard(), {"q": "Ada Ost"}, tool_of_it) == []
    unsourced = [one.model_copy(update={"source": ""}) for one in (READ, LOOK)]
    assert crossings(heard(of=unsourced[0]), {"q": "Ada Ost"}, unsourced[1]) == GOES


def test_what_says_too_little_crosses_nothing() -> None:
    told = heard(response={"n": 3, "flag": True, "code": "EUR"})
    assert crossings(told, {"amount": 3, "express": True, "currency": "EUR"}, PAY) == []


def test_what_the_other_host_told_itself_crosses_nothing() -> None:
    provenance = heard()
    provenance.record_response(LOOK, StepResult(tool=LOOK.id, status="ok", response='{"known": "Ada Ost"}'))
    assert crossings(provenance, {"q": "Ada Ost"}) == []
    assert crossings(provenance, {"q": "4711"}) == GOES


def test_very_many_values_are_nobody_s_unless_they_were_fixed_as_they_are() -> None:
    many: JsonValue = [f"n{number}" for number in range(1_000)]
    assert kind(heard("n1 n2"), "lines", many) == "written"
    assert kind(ProvenanceTracker(RunStatements(user_values=[(PAY.id, "lines", many)])), "lines", many) == "said"
    assert kind(ProvenanceTracker(RunStatements(author_values=[(PAY.id, "lines", ["n7"])])), "lines", many) == "others"
    target = LOOK.model_copy(update={"parameters": (Parameter(name="q", type="array"),)})
    assert crossings(heard(), {"q": many}, target) == GOES


def test_only_what_its_user_put_into_a_correction_is_their_word() -> None:
    provenance = heard(response={"lines": ["evil@x.example", "bob"]})
    provenance.record_correction(PAY, {"lines": ["evil@x.example", "bob"]}, {"lines": ["evil@x.example", "ann"]})
    assert kind(provenance, "lines", ["ann"]) == "said"
    assert kind(provenance, "lines", ["evil@x.example", "ann"]) == "field"
