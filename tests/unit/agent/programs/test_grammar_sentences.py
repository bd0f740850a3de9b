"""Sentences of all kinds: what is valid compiles into a text that parses and checks; what is not is told with what there is instead."""

import ast
import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.types import JsonValue

from agent.llm.structured_output import build_answer_form
from agent.programs.grammar.sentence import MAX_STEPS, Sentence
from agent.programs.grammar.sentence_compiler import compile_sentence
from agent.programs.program_checks import check_program
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from tests.support.people_tools import DOCS, OFFER
from tests.unit.agent.programs.test_grammar import ALL, FIRST, call, each, sentence, step

Fields = dict[str, Any]
NAMES = ("a", "b", "class", "print", "item one", "find")
ROOTS = ("a", "b", "class", "print", "find", "today", "item", "gone")
PARTS = (
    "", "", ".people", ".people[]", ".people[0]", ".people[].name", ".name", ".cited", "[].cited", "[0]", "[]", ".home.city", "[].home.rent",
    ".tags", "[].tags[]", ".result", ".item.id", "[].result.cited", '["odd \'key\'"]', ".count", ".people[].home.rent",
)  # fmt: skip
FIELDS = ("name", "cited", "home.city", "result.cited", "item.id", "tags", "born", "", "home.rent")
PATHS = st.builds(str.__add__, st.sampled_from(ROOTS), st.sampled_from(PARTS))
VALUES = st.one_of(
    PATHS.map(lambda path: f"{{{path}}}"), st.text(max_size=12), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False), st.booleans(),
    st.builds("{}{{{}}}".format, st.text(max_size=5), PATHS),
)  # fmt: skip
FUNCTIONS = {
    "findPeople": ("name", "limit"),
    "getPerson": ("id",),
    "coauthors": ("id",),
    "papers": ("id",),
    "sendLetter": ("letter.to", "letter.copies", "kind"),
}


def _arguments(name: str) -> st.SearchStrategy[Fields]:
    chosen = st.lists(st.sampled_from(FUNCTIONS[name]), min_size=1, unique=True)
    made = chosen.flatmap(
        lambda names: st.tuples(*(st.fixed_dictionaries({"parameter": st.just(one), "value": VALUES}) for one in names))
    )
    return st.fixed_dictionaries({"function": st.just(name), "arguments": made.map(list)})


CALLS = st.sampled_from(sorted(FUNCTIONS)).flatmap(_arguments)


def _of(do: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Fields]:
    return st.fixed_dictionaries({"do": st.just(do), "name": st.sampled_from(NAMES), **fields})


def _together(one: Fields, two: Fields) -> Fields:
    return {**one, **two}


TEXTS = VALUES.map(str)
FIELD = st.sampled_from(FIELDS)
STEPS = st.one_of(
    st.builds(_together, _of("call"), CALLS),
    st.builds(_together, _of("for_each", of=PATHS), CALLS),
    *(_of(do, of=PATHS) for do in ("field", "first", "count", "sum", "average", "look")),
    _of("pick", of=PATHS, field=FIELD, like=TEXTS),
    _of("where", of=PATHS, field=FIELD, test=st.sampled_from(["=", "!=", ">", "<=", "contains"]), value=VALUES),
    *(_of(do, of=PATHS, field=FIELD, how_many=st.integers(0, 3)) for do in ("most", "least")),
    _of("calculate", left=VALUES, operator=st.sampled_from("+-*/"), right=VALUES),
    _of("compare", left=VALUES, right=VALUES, more=TEXTS, less=TEXTS, equal=TEXTS),
    _of("join", of=PATHS, text=TEXTS, by=st.text(max_size=3)),
)  # fmt: skip
GOOD_START = st.sampled_from([
    [], [call("a", "findPeople", name="x")], [call("a", "findPeople", name="x"), step("first", "b", "a.people")],
    [call("a", "coauthors", id="x"), each("b", "a", "getPerson", id="{item.id}")],
    [call("a", "coauthors", id="x"), step("first", "b", "a"), call("class", "papers", id="{b.id}")],
])  # fmt: skip


def _sentence(start: list[Fields], more: list[Fields], said: str, answer: JsonValue) -> Sentence:
    return sentence(*start, *more, answered=said, answer=answer)


SENTENCES = st.builds(
    _sentence,
    GOOD_START, st.lists(STEPS, max_size=3), st.sampled_from(["yes", "partly", "no"]), VALUES,
)  # fmt: skip


def test_every_sentence_is_complained_about_or_compiles_into_a_text_that_parses_and_checks() -> None:
    texts: set[str] = set()

    @given(SENTENCES)
    @settings(max_examples=400, deadline=None)
    def compiles(made: Sentence) -> None:
        found = compile_sentence(made, OFFER)
        assert bool(found.text) != bool(found.complaints)
        assert all(len(one) < 1_500 for one in found.complaints)
        if found.text:
            ast.parse(found.text)
            texts.add(found.text)

    async def errors() -> list[tuple[str, tuple[str, ...]]]:
        sandbox = MontySandbox(SandboxLimits(workers=1))
        try:
            checked = [await check_program(text, OFFER, DOCS, sandbox, {}) for text in sorted(texts)]
            return [(one.text, one.complaints) for one in checked if one.complaints]
        finally:
            await sandbox.close()

    compiles()
    assert len(texts) > 10
    assert asyncio.run(errors()) == []


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([call("a", "findPerson", name="x")], "there is no function 'findPerson'; there are findPeople, getPerson"),
        ([call("a", "getPerson", ident="x")], "getPerson has no parameter 'ident'; it has id"),
        ([call("a", "getPerson")], "getPerson needs id as well"),
        ([call("a", "sendLetter", letter__copies="x")], "sendLetter needs letter.to as well"),
        ([call("a", "sendLetter", letter__to="x", kind="huge")], "'huge' is none of the values that are allowed: plain, grand"),
        ([call("a", "findPeople", name="x", limit="many")], "'many' is given where a number is wanted"),
        ([ALL, call("a", "getPerson", id="{found.people[0].ident}")], "found.people[0] has no field 'ident': it has id, name, cited"),
        ([ALL, call("a", "getPerson", id="{found.people.id}")], "found.people is a list: found.people[].id is that field of all items"),
        ([ALL, call("a", "getPerson", id="{found.people[].id}")], "found.people[].id is a list where one value is wanted: `for_each`"),
        ([ALL, FIRST, call("a", "getPerson", id="{person}")], "person is an object, and a text is wanted: name one of its fields, id, name"),
        ([ALL, call("a", "getPerson", id="{person.id}")], "there is no 'person' before this step; what there is: today, found"),
        ([ALL, step("first", "a", "found")], "found is an object, and a list is wanted"),
        ([ALL, step("sum", "a", "found.people")], "and a number or a text is wanted: name one of its fields, id"),
        ([ALL, ALL], "the name 'found' is taken"),
        ([ALL, step("look", "a", "found"), FIRST], "a look is the last step"),
        ([ALL, each("a", "found.people", "getPerson", id="{item.id}"), step("most", "b", "a", field="cited", how_many=1)], "say item.cited or result.cited"),
    ],
)  # fmt: skip
def test_a_complaint_says_what_there_is_instead(steps: list[dict[str, Any]], told: str) -> None:
    found = compile_sentence(sentence(*steps, answer="x"), OFFER)
    assert found.text == ""
    assert told in " ".join(found.complaints)


def test_what_builds_on_a_wrong_step_is_not_told_as_well() -> None:
    found = compile_sentence(
        sentence(call("a", "gone", id="1"), step("first", "b", "a.people"), answer="{b.name}"), OFFER
    )
    assert [one.split(":")[0] for one in found.complaints] == ["step 1 (a)"]


def test_an_empty_answer_is_no_answer() -> None:
    assert "`answered` is" in compile_sentence(sentence(ALL, answer=""), OFFER).complaints[0]


def test_names_that_hold_earlier_results_can_be_used() -> None:
    assert (
        "getPerson(id=earlier['id'])"
        in compile_sentence(
            sentence(call("a", "getPerson", id="{earlier.id}"), answer="{a.name}"), OFFER, {"earlier"}
        ).text
    )


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        held = cast("dict[str, Any]", node)
        yield held
        for inner in held.values():
            yield from _objects(inner)
    elif isinstance(node, list):
        for inner in cast("list[Any]", node):
            yield from _objects(inner)


def test_the_schema_is_in_the_strict_subset() -> None:
    schema = build_answer_form("program", Sentence).json_schema
    names = {key for node in _objects(schema) for key in node}
    assert not names & {
        "oneOf",
        "discriminator",
        "default",
        "minimum",
        "maxItems",
        "maxLength",
        "pattern",
        "prefixItems",
    }
    for node in _objects(schema):
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert sorted(node["required"]) == sorted(node["properties"])
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    inner = {
        name: {one["$ref"].rpartition("/")[2] for one in _objects(node) if "$ref" in one}
        for name, node in definitions.items()
    }
    assert {reference for references in inner.values() for reference in references} == {"Argument"}, "no recursion"


def test_a_sentence_has_bounds() -> None:
    with pytest.raises(ValidationError, match=f"{MAX_STEPS} steps at most"):
        sentence(*(call(f"s{n}", "getPerson", id="x") for n in range(MAX_STEPS + 1)))
    with pytest.raises(ValidationError, match="characters at most"):
        sentence(answer="x" * 20_000)
    with pytest.raises(ValidationError, match="1 to 60 characters"):
        sentence(call("", "getPerson", id="x"))
