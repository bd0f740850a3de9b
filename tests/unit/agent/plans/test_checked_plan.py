"""What a person has edited: a plan, or what is wrong with it and where."""

from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from pydantic.types import JsonValue

from agent.plans.plan_text_check import MAX_INPUTS, MAX_PLAN_LENGTH, CheckedPlan, check_plan
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.model import JsonObject
from domain.tool import ToolId
from tests.support.program_events import SEARCH, TOOLS
from tests.unit.agent.plans.test_compiling import DOCS

LOOP = """# all of them
found = await search(name=who)
for one in found["people"]:
    if one["year"] > 2010:  # the later half of …
        await info(person_id=one["id"])
"""
WHO: dict[str, JsonObject] = {"who": {"type": "string"}}


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=1))
    yield made
    await made.close()


async def said(
    sandbox: MontySandbox,
    text: str,
    inputs: dict[str, JsonObject] | None = None,
    given: Sequence[ToolId] = (),
    values: dict[str, JsonValue] | None = None,
) -> CheckedPlan:
    return await check_plan(text, inputs or {}, TOOLS, DOCS, sandbox, given, values=values)


def cases(
    *cases: tuple[dict[str, JsonObject], dict[str, JsonValue], str, str],
) -> Sequence[tuple[dict[str, JsonObject], dict[str, JsonValue], str, str]]:
    return cases


async def test_a_text_that_is_right_is_a_plan_as_it_was_written(sandbox: MontySandbox) -> None:
    made = await said(sandbox, LOOP, WHO, values={"who": "Henrik"})
    assert made.complaints == ()
    assert made.plan.program.text == LOOP.strip("\n")
    assert made.plan.program.tools == {name: TOOLS[name] for name in ("search", "info")}
    assert made.plan.program.arguments["search"] == {"name": "name", "limit": "limit"}
    assert "async def colleagues" not in made.plan.program.stubs
    assert made.plan.inputs == WHO
    assert made.plan.values == {"who": "Henrik"}


async def test_what_every_plan_finds_is_known(sandbox: MontySandbox) -> None:
    text = (
        'who = await ask("Which one?", choices=[one["name"] for one in earlier[0]["people"]])\n'
        "found = await search(name=who, limit=fill())\n"
        'await info(person_id=named(found["people"])["id"])\n'
        "await info(person_id=first(earlier)['id'])\nlook(found, today)"
    )
    assert (await said(sandbox, text, given=(SEARCH,))).complaints == ()


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ("found = await search(name='é', nam=1)", 1, 15, "`search` has no parameter `nam`"),
        ("x = 1\nfound = await serch(name='a')", 2, 15, "did you mean `search`"),
        ("é = 'é' + whom\nawait search(name=é)", 1, 11, "The name `whom` has no value"),
        ("await search(name='a'", 1, 13, "is no Python"),
        ("await search(name={'a': 1})", 1, 14, "takes str"),
        ("await search(name=fill() + 'a')", 1, 19, "stands alone"),
        ("x = fill()\nawait search(name=x)", 1, 5, "stands alone"),
        ("await search(name=earlier[2]['name'])", 1, 19, "has 1 results"),
        ("await search(name=named('a', 'b'))", 1, 19, "takes one list"),
        ("a = ask('who?')\nsearch(name='a')\nx = [1\n]\nawait info(person=1)", 5, 7, "no parameter `person`"),
        ("\n\r\nx = 1 +\n", 3, 8, "is no Python"),
        ("\n\nawait search(nom='a')", 3, 7, "no parameter `nom`"),
        ("earlier = 7\nawait search(name='a')", 0, 0, "`earlier` means something"),
        ("import os\nawait search(name='a')", 1, 1, "cannot be imported"),
        ("x = 1 if asyncio else 2\nawait search(name='a')", 1, 10, "write `import asyncio` first"),
    ],
)
async def test_what_is_wrong_is_told_with_its_place(
    sandbox: MontySandbox, text: str, line: int, column: int, what: str
) -> None:
    complaints = (await said(sandbox, text, given=(SEARCH,))).complaints
    assert [one for one in complaints if what in one.message], complaints
    found = next(one for one in complaints if what in one.message)
    assert (found.line, found.column) == (line, column)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\x1b", "\ufeff", "\U000e0041"])
async def test_signs_that_are_not_seen_are_told_with_their_place(sandbox: MontySandbox, sign: str) -> None:
    text = f'await search(name="a")\nx = "é{sign}b"  # {sign}'
    told = (await said(sandbox, text)).complaints
    assert [(one.line, one.column) for one in told] == [(2, 7), (2, 14)], told
    assert all(f"U+{ord(sign):04X}" in one.message for one in told)
    escaped = sign.encode("unicode_escape").decode()
    joined = f'await search(name="{escaped}", limit=len("می\u200cخواهم 👨\u200d👩"))'
    assert (await said(sandbox, joined)).complaints == ()


async def test_what_is_put_right_is_told_where_it_was_written(sandbox: MontySandbox) -> None:
    text = (
        "found = (\n    1\n)\n\nmore = await asyncio.gather(info(person_id=1))\nawait info(person_id=found,\n  more=1)"
    )
    made = await said(sandbox, text)
    assert made.plan.program.text.startswith("import asyncio\nfound = 1\nmore = await asyncio.gather(")
    assert [(one.line, one.column) for one in made.complaints] == [(6, 7)]


@pytest.mark.parametrize(
    ("inputs", "values", "about", "what"),
    cases(
        ({"who": {"type": "string"}, "more": {}}, {}, "more", "does not use the input more"),
        ({"who": {"type": "string"}, "class": {}}, {}, "class", "no name that a text can have"),
        ({"who": {"type": "string"}, "search": {}}, {}, "search", "the name of something else"),
        ({"who": {"type": "string"}, "today": {}}, {}, "today", "the name of something else"),
        (
            {"who": {"type": "string", "maxLength": 3, "default": "Henrik"}},
            {},
            "who",
            "The default of who does not fit",
        ),
        ({"who": {"type": "string"}}, {"who": ["a"]}, "who", "The value of who does not fit"),
        ({"who": {"type": "bogus"}}, {}, "who", "The JSON Schema of who cannot be used: type: 'bogus'"),
        ({"who": {"$ref": "http://example.org/a"}}, {}, "who", "references are not followed (http://example.org/a)"),
        ({"who": {"type": "string"}}, {"whom": "a"}, "whom", "There is no input whom"),
        ({f"i{n}": {} for n in range(MAX_INPUTS)} | {"who": {}}, {}, "", "at most 50 inputs"),
    ),
)
async def test_what_is_wrong_with_inputs_is_told_by_their_names(
    sandbox: MontySandbox, inputs: dict[str, JsonObject], values: dict[str, JsonValue], about: str, what: str
) -> None:
    complaints = (await said(sandbox, "await search(name=who)", inputs, values=values)).complaints
    assert [(one.input, what in one.message) for one in complaints] == [(about, True)], complaints


async def test_types_of_inputs_count(sandbox: MontySandbox) -> None:
    inputs: dict[str, JsonObject] = {
        "who": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    }
    complaints = (await said(sandbox, "await search(name=who)", inputs)).complaints
    assert [one.line for one in complaints] == [1]
    assert "takes str" in complaints[0].message


async def test_a_tool_that_is_gone_is_told(sandbox: MontySandbox) -> None:
    docs = {tool: doc for tool, doc in DOCS.items() if tool != SEARCH}
    made = await check_plan("await search(name='a')", {}, TOOLS, docs, sandbox)
    assert [one.message.partition(":")[0] for one in made.complaints] == ["The tool of `search` is not there"]


async def test_too_much_is_not_read(sandbox: MontySandbox) -> None:
    made = await said(sandbox, "x = 1\n" * MAX_PLAN_LENGTH)
    assert "longer than" in made.complaints[0].message
    deep = await said(sandbox, f"x = {'(' * 90}1{')' * 90}\n" + "x = [" * 80 + "]" * 80)
    assert len(deep.complaints) == 1
