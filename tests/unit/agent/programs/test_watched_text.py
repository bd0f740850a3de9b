"""A text that tells where it is: the same program, whose places are still told as they were written."""

import ast

import pytest

from agent.programs.analysis.instrumented_text import instrument_text
from agent.programs.program_types import ReturnedValue
from agent.programs.sandbox import MontySandbox
from agent.programs.sandbox_cell import WATCH
from domain.model import JsonObject
from domain.python_source import find_line_starts
from tests.support.good_programs import PROGRAMS

STYLES = """
total, seen = 0, {}
for n in [1, 2, 3]:
    if n == 2: total += 10; continue
    total += n  # "é" of a remark
    seen[str(n)] = (
        total
    )
names = []
while len(names) < 2:
    names.append("é")
def twice(x):
    y = x * 2
    return y
try:
    z = twice(total); q = 1 / 0
except ZeroDivisionError:
    z = -1
{"total": total, "z": z}
"""


def places(text: str) -> list[int]:
    """Of all calls but those that tell, in bytes."""
    starts = find_line_starts(text)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    own = [call for call in calls if not (isinstance(call.func, ast.Name) and call.func.id == WATCH)]
    return sorted(starts[call.lineno - 1] + call.col_offset for call in own)


@pytest.mark.parametrize("text", [*PROGRAMS, STYLES])
def test_places_and_lines_are_those_of_the_text_as_it_was_written(text: str) -> None:
    told = instrument_text(text)
    assert [told.to_original_position(place) for place in places(told.text)] == places(text)
    lines = told.text.split("\n")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            assert any(
                told.to_original_line(at) == number
                for at, other in enumerate(lines, start=1)
                if line.strip()[:6] in other
            )


async def test_each_line_tells_what_it_has_set_and_each_round_its_item() -> None:
    told: list[tuple[int, JsonObject]] = []
    sandbox = MontySandbox()
    try:
        async with sandbox.open_session(lambda line, names: told.append((line, names))) as session:
            end = await session.start(instrument_text(STYLES).text, {})
        async with sandbox.open_session() as session:
            assert end == await session.start(STYLES, {}) == ReturnedValue({"total": 14, "z": -1})
    finally:
        await sandbox.close()
    rounds = [names for line, names in told if line == 3]
    assert rounds == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert (2, {"total": 0, "seen": {}}) in told
    assert [line for line, _ in told].count(10) == 2, "a while tells its rounds"
    assert (13, {"y": 28}) in told
    assert (16, {"z": 28}) in told
    assert not any("q" in names for _, names in told), "a line that breaks off tells nothing"


async def test_a_program_that_tells_by_itself_is_heard_by_nobody() -> None:
    sandbox = MontySandbox()
    try:
        async with sandbox.open_session() as session:
            stop = await session.start(f"{WATCH}(1, {{}})\n1", {})
    finally:
        await sandbox.close()
    assert not isinstance(stop, ReturnedValue)
