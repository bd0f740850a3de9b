"""Values cross into a program and back unchanged where JSON has them, and by one rule each where it has not."""

import json
import math
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic.types import JsonValue

from agent.programs.program_types import LookRequest, PendingCalls, ProgramError, ReturnedValue, SandboxLimits
from agent.programs.program_values import MAX_VALUE_DEPTH, from_program_value, to_program_value
from agent.programs.sandbox import MontySandbox
from tests.support.scripted_host import driven

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
NUMBERS = st.integers() | st.floats() | st.integers(-(10**40), 10**40)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=1, seconds=2))
    yield made
    await made.close()


def expected(value: JsonValue) -> JsonValue:
    match value:
        case bool() | None:
            return value
        case float():
            return value if math.isfinite(value) else None
        case int():
            return value if -(2**63) <= value < 2**63 else str(value)
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [expected(one) for one in value]
        case dict():
            return {str(expected(name)): expected(one) for name, one in value.items()}


@pytest.mark.asyncio(loop_scope="module")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALUES)
async def test_a_value_comes_back_as_json_has_it(sandbox: MontySandbox, value: JsonValue) -> None:
    async with sandbox.open_session() as session:
        stop = await session.start("[given, await find(n=1)]", {"given": value})
        assert isinstance(stop, PendingCalls)
        back = await session.resume({stop.calls[0].id: value})
    assert back == ReturnedValue([expected(value), expected(value)])
    json.dumps(expected(value)).encode()


@given(st.integers(1, 3 * MAX_VALUE_DEPTH))
def test_what_lies_too_deep_is_left_out_on_the_way_in(depth: int) -> None:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value]
    inside, levels = to_program_value(value), 0
    while isinstance(inside, list):
        inside, levels = inside[0], levels + 1
    assert levels == min(depth, MAX_VALUE_DEPTH)
    assert from_program_value(to_program_value(value)) == to_program_value(value)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1, {2})", [1, [2]]),
        ("{3, 1, 2}", [1, 2, 3]),
        ("{7: 'a', None: 'b', True: 'c', 2.5: 'd'}", {"7": "a", "true": "c", "null": "b", "2.5": "d"}),
        ("import datetime\n[datetime.date(2026, 1, 2), datetime.timedelta(hours=1)]", ["2026-01-02", 3600.0]),
        ("from decimal import Decimal\n[Decimal('2'), Decimal('2.5'), Decimal('nan')]", [2, 2.5, None]),
        ("[float('nan'), float('inf'), 2**63, 2**63 - 1]", [None, None, str(2**63), 2**63 - 1]),
        ("(x for x in [1, 2])", [1, 2]),
        ("'\\ud83d'", "�"),
    ],
)
async def test_what_json_lacks_has_a_rule(sandbox: MontySandbox, text: str, value: JsonValue) -> None:
    async with sandbox.open_session() as session:
        assert await driven(session, text) == ReturnedValue(value)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "text",
    ["len", "lambda: 1", "def f():\n    pass\nf", "b'a'", "1j", "...", "import json\njson", "find(n=1)", "{(1, 2): 3}", "10 ** 5000",
     "x = []\nfor _ in range(150):\n    x = [x]\nx", "async def f():\n    pass\nf()", "ValueError('a')"],
)  # fmt: skip
async def test_what_has_no_json_is_told(sandbox: MontySandbox, text: str) -> None:
    async with sandbox.open_session() as session:
        stop = await driven(session, text)
        assert isinstance(stop, ProgramError)
        assert "cannot be an answer" in stop.message
        assert not stop.lost


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("argument", ["float('nan')", "find(n=1)", "len", "[1, float('inf')]"])
async def test_what_cannot_be_sent_is_an_error_at_its_line(sandbox: MontySandbox, argument: str) -> None:
    async with sandbox.open_session() as session:
        stop = await driven(session, f"\nawait send(value={argument})")
        assert isinstance(stop, ProgramError)
        assert (stop.kind, stop.line) == ("TypeError", 2)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_look_names_what_has_no_json(sandbox: MontySandbox) -> None:
    async with sandbox.open_session() as session:
        assert await driven(session, "look(len, 1)") == LookRequest(
            ("(a value of the type MontyStdTypeProxy has no JSON)", 1)
        )
