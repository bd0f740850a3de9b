"""What leaves Footpath holds no secret, ends where its words end, and is the same each time."""

import ast
from typing import Any

import pytest

from agent.exporting.exported_program import build_exported_program
from agent.exporting.program_files import EXPORT_FORMS, render_exported_file
from domain.errors import UsageError
from domain.program import Program, ProgramPlan
from domain.tool import Parameter, ToolDoc, make_tool_id

CITY = Parameter(name="city", required=True)
KEY = Parameter(name="api_key", description="API key of the caller.")
FIND = ToolDoc(
    id=make_tool_id("maps", "Maps", "find"), category="maps", toolset="Maps", api="find", function="find",
    url="https://maps.example/find", parameters=(CITY, KEY),
)  # fmt: skip
SEND = FIND.model_copy(update={"id": make_tool_id("maps", "Maps", "send"), "api": "send", "method": "POST"})
DOCS = {one.id: one for one in (FIND, SEND)}
TEXT = {"type": "string"}


def plan(text: str, values: dict[str, Any] | None = None, **inputs: dict[str, Any]) -> ProgramPlan:
    tools = {one.api: one.id for one in (FIND, SEND) if f"{one.api}(" in text}
    return ProgramPlan(program=Program(text=text, tools=tools), inputs=inputs, values=values or {})


@pytest.mark.parametrize("form", EXPORT_FORMS)
def test_a_secret_of_a_run_is_in_no_file(form: Any) -> None:
    text = "key = token\nfound = await find(city=city, api_key=key)\nfound['name']"
    schema = {**TEXT, "default": "sk-kept", "examples": ["sk-kept"]}
    made = render_exported_file(
        build_exported_program(
            plan(text, {"token": "sk-12345", "city": "Tarn"}, city=TEXT, token=schema), "In {city}", DOCS
        ),
        form,
    )
    assert "sk-" not in made.text
    assert "Tarn" in made.text


@pytest.mark.parametrize(
    "text",
    [
        "await find(city='Tarn', api_key='sk-12345')",
        "key = 'sk-12345'\nawait find(city='Tarn', api_key=key)",
        "await find(city='Tarn', api_key=f'Bearer sk-{1}')",
    ],
)
def test_a_program_that_holds_a_secret_is_not_exported(text: str) -> None:
    with pytest.raises(UsageError, match="api_key a value that may be a secret"):
        build_exported_program(plan(text), "In Tarn", DOCS)


def test_a_secret_that_an_answer_gives_stands_in_no_text() -> None:
    text = "one = await find(city='Tarn')\nawait find(city='Caldera', api_key=one['token'])"
    assert build_exported_program(plan(text), "Both", DOCS).inputs == {}


@pytest.mark.parametrize("form", ["python", "mcp", "langgraph"])
@pytest.mark.parametrize(
    "words",
    [
        '"""\nimport os\nos.abort()\n"""',
        "it's \\",
        'ends with "',
        "\\N{BULLET} \\x",
        "{city} of \u202e\x00",
        "def",
        "今日は",
    ],
)
def test_words_stay_words(form: Any, words: str) -> None:
    """A request, a description, a default and a text of somebody else's end no text of the file."""
    schema = {**TEXT, "description": words, "default": words}
    made = render_exported_file(
        build_exported_program(plan(f"found = await find(city=city)\n[found, {words!r}]", city=schema), words, DOCS),
        form,
    )
    tree = ast.parse(made.text)
    kinds = (
        ast.Import,
        ast.ImportFrom,
        ast.Assign,
        ast.AnnAssign,
        ast.AsyncFunctionDef,
        ast.FunctionDef,
        ast.ClassDef,
        ast.If,
    )
    assert [one for one in tree.body[1:] if not isinstance(one, kinds)] == []
    assert "os" not in {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    constants = {
        one.targets[0].id: one.value
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
    }
    assert ast.literal_eval(constants["PROGRAM"]).endswith(f"[found, {words!r}]")


@pytest.mark.parametrize("name", ["footpath", "answer", "server", "State", "given", "city_", "Any"])
@pytest.mark.parametrize("form", ["python", "mcp", "langgraph"])
def test_an_input_may_be_called_as_something_of_the_file_is(form: Any, name: str) -> None:
    made = render_exported_file(
        build_exported_program(plan(f"await find(city={name})", **{name: TEXT}), "One", DOCS), form
    )
    compile(made.text, "exported.py", "exec")
    assert f"'{name}'" in made.text


OR_NULL: list[Any] = [TEXT, {"type": "null"}]


@pytest.mark.parametrize("schema", [TEXT, {"anyOf": OR_NULL}, {"anyOf": [{"anyOf": OR_NULL}, {"type": "null"}]}])
def test_a_text_that_may_be_left_out_is_words_on_the_command_line_as_any_text(schema: dict[str, Any]) -> None:
    made = render_exported_file(
        build_exported_program(plan("await find(city=city)", city={**schema, "default": "Tarn"}), "One", DOCS), "python"
    )
    [option] = [line for line in made.text.splitlines() if "add_argument(" in line]
    assert ("'--city'" in option, "json.loads" in option) == (True, False)


def test_changes_are_denied_until_the_files_owner_says_otherwise() -> None:
    reads = render_exported_file(build_exported_program(plan("await find(city='Tarn')"), "One", DOCS), "mcp").text
    changes = render_exported_file(build_exported_program(plan("await send(city='Tarn')"), "One", DOCS), "mcp").text
    assert ("CHANGES" in reads, "readOnlyHint=True" in reads) == (False, True)
    assert ('= "deny"' in changes, "changes=CHANGES" in changes, "readOnlyHint=False" in changes) == (True, True, True)


@pytest.mark.parametrize(
    "text", ["await find(city=fill())", "await find(city=named(earlier)['name'])", "look(await find(city='a'))"]
)
def test_what_only_a_run_finds_is_not_exported(text: str) -> None:
    with pytest.raises(UsageError, match="leaves open"):
        build_exported_program(plan(text), "One", DOCS)


def test_tools_that_are_gone_are_named() -> None:
    with pytest.raises(UsageError, match="maps/Maps/find"):
        build_exported_program(plan("await find(city='Tarn')"), "One", {})
