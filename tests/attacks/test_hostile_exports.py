"""Whatever names and words a catalogue or a request holds, an exported file is compiled and does nothing but what it is for."""

import argparse
import ast
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Self, get_type_hints

import pytest
from mcp.shared.memory import create_connected_server_and_client_session

from agent.exporting.exported_program import ExportedProgram, build_exported_program
from agent.exporting.program_files import EXPORT_FORMS, ExportForm, render_exported_file
from domain.errors import UsageError
from domain.program import Program, ProgramPlan
from domain.tool import Credential, Parameter, ToolDoc, make_tool_id
from footpath import AsyncFootpath

MARK = "was_here"
OPENS = f"__import__('pathlib').Path('{MARK}').touch()"
"""What would leave a file, were it run."""
HOSTILE = [
    f"'); {OPENS} #",
    f'"); {OPENS} #',
    f'"""\n{OPENS}\n"""',
    f"'''\n{OPENS}\n'''",
    f"\\\n{OPENS}\n\\",
    f"a\u2028{OPENS}\u2029\x85{OPENS}",
    f"={{{{ {OPENS} }}}}",
    f"{{{OPENS}}}",
    f"x: {OPENS} = 1, *",
    f"%(prog)s %s {OPENS}",
    "\U000e0041 \u202e \x00",
    'ends with "',
    "ends with \\",
    "class",
    "__import__",
    "__debug__",
]
NAMES = [
    "main",
    "print",
    "footpath",
    "server",
    "asyncio",
    "argparse",
    "str",
    "dict",
    "node",
    "State",
    "TypedDict",
    "vars",
]
INPUTS = [
    "help",
    "answer",
    "answer_of_program",
    "__city",
    "_city",
    "__class__",
    "self",
    "model_config",
    "print",
    "h",
    "None_",
    "_1",
    "_class",
]


def exported_program(hostile: str, *, request: str = "Find {city}") -> ExportedProgram:
    """A program whose tool has ``hostile`` in each position that a document fills."""
    parameter = Parameter(
        name=hostile,
        sent_as=hostile,
        description=hostile,
        required=True,
        default=hostile,
        example=hostile,
        enum=(hostile, "other"),
    )
    doc = ToolDoc(
        id=make_tool_id(hostile, hostile, hostile),
        category=hostile,
        toolset=hostile,
        api=hostile,
        function="find",
        description=hostile,
        method="GET",
        url=f"https://maps.example/{hostile}",
        body_media=hostile,
        credentials=(Credential(name=hostile, secret=hostile),),
        parameters=(parameter,),
    )
    schema: dict[str, Any] = {
        "type": "string",
        "description": hostile,
        "enum": [hostile, "other"],
        "examples": [hostile],
        "title": hostile,
        hostile: {hostile: [hostile]},
    }
    plan = ProgramPlan(
        program=Program(
            text=f"found = await find(city=city)\n[found, {hostile!r}]",
            tools={"find": doc.id},
            arguments={"find": {"city": hostile}},
        ),
        inputs={"city": schema},
        values={"city": hostile},
    )
    return build_exported_program(plan, request, {doc.id: doc})


def imported(text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a file that is imported, not run."""
    module = ModuleType("hostile_export")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(text.encode(), "hostile_export.py", "exec"), module.__dict__)
    return module.__dict__


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def run(
    names: dict[str, Any], form: ExportForm, inputs: list[str], monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """Run what an imported file offers with a value for each of these inputs, and return what its program would have run with."""
    ran: list[dict[str, Any]] = []

    class Recorder:
        async def run_program(self, text: str, values: dict[str, Any], **_: Any) -> Any:
            ast.parse(text)
            ran.append(values)
            return argparse.Namespace(ok=True, text="done", error="", outcome="answered")

        async def __aenter__(self) -> Self:
            return self

        async def __aexit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(AsyncFootpath, "open", staticmethod(Recorder))
    values = dict.fromkeys(inputs, "other")
    if form == "python":
        monkeypatch.setattr(sys, "argv", ["file", *(word for one in inputs for word in (f"--{one}", "other"))])
        await names["main"]()
    elif form == "mcp":
        async with create_connected_server_and_client_session(names["server"]._mcp_server) as client:
            (tool,) = (await client.list_tools()).tools
            given = tool.inputSchema["properties"] if inputs else ()
            told = await client.call_tool(tool.name, dict.fromkeys(given, "other"))
            assert not told.isError, told.content
    else:
        assert values.keys() <= get_type_hints(names["State"]).keys()
        await names["node"](Recorder())(values)
    return ran


@pytest.mark.parametrize("form", EXPORT_FORMS)
@pytest.mark.parametrize("hostile", HOSTILE)
async def test_names_and_words_of_a_document_stay_words(
    form: ExportForm, hostile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = exported_program(hostile, request=f"{hostile} in {{city}}")
    names = imported(render_exported_file(program, form).text, monkeypatch)
    assert names["INPUTS"]["city"]["description"] == hostile
    assert names["INPUTS"]["city"]["default"] == hostile
    assert names["PROGRAM"] == program.plan.program.text
    assert names["TOOLS"] == {"find": str(make_tool_id(hostile, hostile, hostile))}
    ran = await run(names, form, [], monkeypatch)
    assert ran == ([{}] if form == "langgraph" else [{"city": hostile}])
    assert not os.path.exists(MARK)  # noqa: ASYNC240, PTH110  # of one file


@pytest.mark.parametrize("form", EXPORT_FORMS)
@pytest.mark.parametrize("name", NAMES)
async def test_a_request_of_one_word_takes_no_name_that_the_file_needs(
    form: ExportForm, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = exported_program("other", request=name)
    names = imported(render_exported_file(program, form).text, monkeypatch)
    assert await run(names, form, ["city"], monkeypatch)


@pytest.mark.parametrize("form", EXPORT_FORMS)
@pytest.mark.parametrize("name", INPUTS)
async def test_an_input_takes_no_name_that_the_file_needs(
    form: ExportForm, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ProgramPlan(
        program=Program(text="1", tools={}), inputs={name: {"type": "string"}, "answer": {"type": "string"}}
    )
    program = ExportedProgram("Find", plan, plan.inputs, {})
    names = imported(render_exported_file(program, form).text, monkeypatch)
    (values,) = await run(names, form, [*plan.inputs], monkeypatch)
    assert values == dict.fromkeys(plan.inputs, "other")


@pytest.mark.parametrize("name", [one for one in HOSTILE if one != "__import__"] + ["", "a b", "1a", "ﬁ"])
def test_an_input_whose_name_is_none_of_python_is_not_exported(name: str) -> None:
    plan = ProgramPlan(
        program=Program(text="await find()", tools={"find": make_tool_id("a", "b", "find")}), inputs={name: {}}
    )
    doc = ToolDoc(
        id=make_tool_id("a", "b", "find"),
        category="a",
        toolset="b",
        api="find",
        function="find",
        description="",
        method="GET",
    )
    with pytest.raises(UsageError, match="input"):
        build_exported_program(plan, "Find", {doc.id: doc})
