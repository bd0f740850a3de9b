"""What a client's agent is told, and how its replies are read."""

from datetime import date

import pytest

from evaluation.client_agent import (
    ClientTools,
    FinalReply,
    RequestedCall,
    UnreadableReply,
    build_system_prompt,
    parse_reply,
)

TOOLS = ClientTools(
    ({"name": "now", "description": "What time it is.", "inputSchema": {"type": "object"}},), "Be quick."
)


def test_the_prompt_holds_day_tools_and_the_servers_instructions() -> None:
    words = build_system_prompt(TOOLS, date(2026, 5, 12))
    assert "Tuesday, 2026-05-12" in words
    assert TOOLS.text in words
    assert words.rstrip().endswith("Be quick.")


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ('{"tool": "now", "arguments": {"zone": "UTC"}}', RequestedCall("now", {"zone": "UTC"})),
        ('```json\n{"tool": "now"}\n```', RequestedCall("now", {})),
        ('{"answer": "Noon."}', FinalReply("Noon.", served=True)),
        ('{"answer": 12}', FinalReply("12", served=True)),
        ('{"cannot": "no clock"}', FinalReply("no clock", served=False)),
    ],
)
def test_replies(reply: str, meant: RequestedCall | FinalReply) -> None:
    assert parse_reply(reply) == meant


@pytest.mark.parametrize("reply", ["It is noon.", "[1]", '{"tool": "now", "arguments": [1]}', '{"say": "noon"}', ""])
def test_what_is_in_no_form_is_told_so(reply: str) -> None:
    found = parse_reply(reply)
    assert isinstance(found, UnreadableReply)
    assert found.why
