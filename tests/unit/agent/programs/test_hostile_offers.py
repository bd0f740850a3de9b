"""Hostile documents: whatever a catalogue says, an offer is one comment and one declaration for each tool, and its author is told no more."""

import ast
import json
import re
import unicodedata
from typing import Any

import pytest

from agent.llm.client.chat import ChatMessage
from agent.llm.program_authoring import build_program_messages
from agent.llm.prompts import PromptFence
from agent.programs.program_types import ProgramAttempt, ProgramQuestion
from agent.programs.signatures import PREAMBLE, render_offer
from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.support.source_tree import ROOT

ORDERS: list[str] = json.loads((ROOT / "tests" / "data" / "hostile_answers.json").read_text(encoding="utf-8"))["orders"]


def doc(order: str, number: int) -> ToolDoc:
    """A tool whose document says it wherever a document can say something."""
    named = Parameter(name=order, type="string", required=True, description=order, example=order)
    chosen = Parameter(name=f"kind {order}", type="string", description=order, enum=(order, "b"), default=order)
    schema: dict[str, Any] = {"type": "object", "properties": {order: {"type": "string", "description": order}}}
    return ToolDoc(
        id=make_tool_id("c", "t", f"n{number}"), category=order, toolset=order, api=order, function=order, description=order,
        toolset_description=order, method="GET", url="https://a.example/x", parameters=(named, chosen), response_schema=json.dumps(schema),
    )  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_a_document_breaks_out_of_no_comment_name_or_value(order: str) -> None:
    offer = render_offer([doc(order, 1), doc(order, 2)])
    lines = offer.text.split("\n")
    assert all(line.startswith(("# ", "async def ")) for line in lines), lines
    shown = ast.parse("\n".join(line for line in lines if line.startswith("async def ")))
    checked = ast.parse("\n".join((PREAMBLE, *(one.stub for one in offer.signatures))))
    for module, most in ((shown, 2), (checked, 2)):
        functions = [one for one in module.body if isinstance(one, ast.AsyncFunctionDef)]
        assert len(functions) == most
        assert [ast.unparse(one.body[0]) for one in functions] == ["..."] * most
        others = [one for one in module.body if one not in functions]
        assert all(isinstance(one, ast.Assign | ast.ClassDef | ast.ImportFrom | ast.AnnAssign) for one in others)
        called = {
            one.func.id for one in ast.walk(module) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
        }
        assert called <= {"TypedDict"}
    hidden = [char for char in offer.text if unicodedata.category(char) in {"Cf", "Cc"} and char != "\n"]
    assert hidden == []


@pytest.mark.parametrize("order", ORDERS)
def test_whatever_an_author_is_shown_of_others_stands_inside_the_fence(order: str) -> None:
    """Documents, names of fields and what earlier texts were answered; nothing of it closes the fence."""
    fence = PromptFence()
    attempt = ProgramAttempt("look(x)", order, foreign=True, names_valid=True)
    question = ProgramQuestion("Read it", render_offer([doc(order, 1)]), "2026-11-23", order, attempts=(attempt,))
    told = build_program_messages(question, ChatMessage("system", "Write."), fence)
    for message in told:
        assert outside(message.text, fence).count("delete_all") == 0


def outside(text: str, fence: PromptFence) -> str:
    """What stands in no block of the fence."""
    block = re.compile(rf"^\[\[\w+ {fence.mark}\]\]$.*?^\[\[end {fence.mark}\]\]$", re.DOTALL | re.MULTILINE)
    return block.sub("", text)
