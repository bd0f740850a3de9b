"""A model with room for 8,000 tokens can be an author: prompts keep within it, whatever tools are offered."""

import json

import pytest

from agent.llm.client.chat import Message
from agent.llm.program_text import program_messages
from agent.llm.prompts import Fence, instructions
from agent.programs.offered import OFFERED, functions
from agent.programs.protocol import Attempt, ProgramQuestion
from agent.text import estimated_tokens
from domain.tool import Parameter, ToolDoc, tool_id
from tests.unit.agent.programs.tools_of_people import TOOLS
from wiring.settings import Settings

ROOM = 8_000
ANSWER = int(Settings.model_fields["model_max_tokens"].default)
OFFER = int(Settings.model_fields["offer_tokens"].default)
REPAIRS = (Attempt("x = 1\n" * 300, "- what is wrong\n" * 90), Attempt("x = 1\n" * 300, "- what is wrong\n" * 90))


def heavy(number: int, required: int) -> ToolDoc:
    """A tool with far more to tell than there is room for."""
    fields = {
        f"field_{at}": {
            "type": "array",
            "items": {"type": "object", "properties": {f"inner_{n}": {"type": "string"} for n in range(20)}},
        }
        for at in range(80)
    }
    parameters = [
        Parameter(name=f"parameter_{at}", description="What it is for. " * 30, required=at < required)
        for at in range(60)
    ]
    return ToolDoc(
        id=tool_id("c", f"set{number}", "api"), category="c", toolset=f"set{number}", api=f"api_{number}", function="api", description="Does a lot. " * 200,
        parameters=tuple(parameters), response_schema=json.dumps({"type": "object", "properties": fields}),
    )  # fmt: skip


def tokens(messages: list[Message]) -> int:
    return sum(estimated_tokens(message.text) for message in messages)


@pytest.mark.parametrize("prompt", ["program", "program_grammar"])
@pytest.mark.parametrize("required", [0, 8, 60])
async def test_prompts_keep_within_a_small_context(prompt: str, required: int) -> None:
    tools = [*TOOLS[:2], *(heavy(number, required) for number in range(OFFERED - 2))]
    offered = functions(tools, OFFER)
    assert offered.text.tokens <= OFFER
    assert offered.text.whole >= 2, "the best tools are told whole"
    asked = ProgramQuestion("Who is it? " * 70, offered.text, "2026-11-23", attempts=REPAIRS, unknown=offered.unknown)
    assert tokens(program_messages(asked, await instructions(prompt), Fence())) + ANSWER <= ROOM


async def test_what_never_changes_comes_first_and_is_short() -> None:
    assert estimated_tokens((await instructions("program")).text) <= 350
    assert estimated_tokens((await instructions("program_grammar")).text) <= 600
