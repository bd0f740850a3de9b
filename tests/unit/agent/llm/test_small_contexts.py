"""A model with room for 8,000 tokens can be an author: prompts keep within it, whatever tools are offered."""

import json

import pytest

from agent.llm.client.chat import ChatMessage
from agent.llm.program_authoring import build_program_messages
from agent.llm.prompts import PromptFence, load_instructions
from agent.programs.offered_functions import OFFER_SIZE, build_functions
from agent.programs.program_types import ProgramAttempt, ProgramQuestion
from agent.text import estimate_tokens
from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.support.people_tools import TOOLS
from wiring.settings import Settings

ROOM = 8_000
ANSWER = int(Settings.model_fields["model_max_tokens"].default)
OFFER = int(Settings.model_fields["offer_tokens"].default)
REPAIRS = (
    ProgramAttempt("x = 1\n" * 300, "- what is wrong\n" * 90),
    ProgramAttempt("x = 1\n" * 300, "- what is wrong\n" * 90),
)


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
        id=make_tool_id("c", f"set{number}", "api"), category="c", toolset=f"set{number}", api=f"api_{number}", function="api", description="Does a lot. " * 200,
        parameters=tuple(parameters), response_schema=json.dumps({"type": "object", "properties": fields}),
    )  # fmt: skip


def tokens(messages: list[ChatMessage]) -> int:
    return sum(estimate_tokens(message.text) for message in messages)


@pytest.mark.parametrize("prompt", ["program", "program_grammar"])
@pytest.mark.parametrize("required", [0, 8, 60])
async def test_prompts_keep_within_a_small_context(prompt: str, required: int) -> None:
    tools = [*TOOLS[:2], *(heavy(number, required) for number in range(OFFER_SIZE - 2))]
    offered = build_functions(tools, OFFER)
    assert offered.offer.tokens <= OFFER
    assert offered.offer.complete_count >= 2, "the best tools are told whole"
    asked = ProgramQuestion(
        "Who is it? " * 70, offered.offer, "2026-11-23", attempts=REPAIRS, unstructured=offered.unstructured
    )
    assert tokens(build_program_messages(asked, await load_instructions(prompt), PromptFence())) + ANSWER <= ROOM


async def test_what_never_changes_comes_first_and_is_short() -> None:
    assert estimate_tokens((await load_instructions("program")).text) <= 350
    assert estimate_tokens((await load_instructions("program_grammar")).text) <= 600
