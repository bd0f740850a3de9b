"""Mining a store tool set by tool set."""

from collections.abc import AsyncIterator, Sequence

import pytest

from domain.tool import ToolDoc, make_tool_id
from synthesis import combinations
from synthesis.combinations import group_by_toolset, mine_toolsets


def document(toolset: str, api: str) -> ToolDoc:
    return ToolDoc.model_validate(
        {
            "id": make_tool_id("Any", toolset, api),
            "category": "Any",
            "toolset": toolset,
            "api": api,
            "function": api,
            "parameters": [{"name": "title", "required": True}],
            "example_response": '[{"title": "x", "year": 1999, "thing_id": "t1"}]',
        }
    )


TOOLS = sorted(
    (document(toolset, api) for toolset in ("A", "A b", "B") for api in ("find", "seek")), key=lambda one: one.id
)


class Stream:
    """Documents one by one; ``given``: how many were asked for."""

    def __init__(self, documents: Sequence[ToolDoc]) -> None:
        self._documents = documents
        self.given = 0

    async def __aiter__(self) -> AsyncIterator[ToolDoc]:
        for one in self._documents:
            self.given += 1
            yield one


async def test_one_tool_set_is_held_at_a_time() -> None:
    stream = Stream(TOOLS)
    async for _, tools in group_by_toolset(aiter(stream)):
        assert len(tools) == 2
        assert stream.given <= 2 * (TOOLS.index(tools[0]) // 2 + 1) + 1


async def test_mining_goes_on_after_the_place_that_it_came_to() -> None:
    whole = [one async for one in mine_toolsets(aiter(Stream(TOOLS)))]
    assert [one.id_prefix for one in whole] == ["Any/A%20b", "Any/A", "Any/B"]
    for done in range(3):
        rest = [one async for one in mine_toolsets(aiter(Stream(TOOLS)), after=whole[done].id_prefix)]
        assert [one.id_prefix for one in rest] == [one.id_prefix for one in whole[done + 1 :]]
        left = [combination.key for one in whole[done + 1 :] for combination in one.combinations]
        assert [combination.key for one in rest for combination in one.combinations] == left


async def test_one_tool_set_alone() -> None:
    assert [one.id_prefix async for one in mine_toolsets(aiter(Stream(TOOLS)), toolset="B")] == ["Any/B"]


async def test_what_is_beyond_a_cap_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combinations, "MAX_COMBINATIONS", 1)
    found = [one async for one in mine_toolsets(aiter(Stream(TOOLS)), toolset="A")]
    counts = found[0].counts
    assert counts.walks == {1: 1}
    assert counts.left_out == {"walks": 1, "combinations": 0}
    assert (counts.tools, counts.heads, counts.combinations) == (2, 2, 1)
