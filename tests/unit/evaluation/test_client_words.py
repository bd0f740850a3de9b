"""What a client's agent is told, and how its replies are read."""

from datetime import date

import pytest

from evaluation.client_words import ClientTools, Ended, Unreadable, Wanted, read, told

TOOLS = ClientTools(
    ({"name": "now", "description": "What time it is.", "inputSchema": {"type": "object"}},), "Be quick."
)


def test_the_prompt_holds_day_tools_and_the_servers_instructions() -> None:
    words = told(TOOLS, date(2026, 5, 12))
    assert "Tuesday, 2026-05-12" in words
    assert TOOLS.text in words
    assert words.rstrip().endswith("Be quick.")


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ('{"tool": "now", "arguments": {"zone": "UTC"}}', Wanted("now", {"zone": "UTC"})),
        ('```json\n{"tool": "now"}\n```', Wanted("now", {})),
        ('{"answer": "Noon."}', Ended("Noon.", served=True)),
        ('{"answer": 12}', Ended("12", served=True)),
        ('{"cannot": "no clock"}', Ended("no clock", served=False)),
    ],
)
def test_replies(reply: str, meant: Wanted | Ended) -> None:
    assert read(reply) == meant


@pytest.mark.parametrize("reply", ["It is noon.", "[1]", '{"tool": "now", "arguments": [1]}', '{"say": "noon"}', ""])
def test_what_is_in_no_form_is_told_so(reply: str) -> None:
    found = read(reply)
    assert isinstance(found, Unreadable)
    assert found.why
