"""What a tool set says of its tools, where hardly any tool was ever on a path."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.offer.candidate_pool import CandidatePool, build_candidate_pool
from agent.offer.candidates import ToolsetPrior
from agent.offer.tool_evidence import ToolEvidence
from agent.offer.toolset_prior import compute_toolset_priors, get_toolset, select_related_tools
from domain.memory import Memory, RecalledMemory
from domain.tool import ToolDoc, ToolId, make_tool_id
from graph.weights import WeightParameters
from tests.support.small_world import TOOLS, WALKS, finder, graph, tool

CLIPS = tool("Kick", "get_clips", "Clips of a channel.")
DETAILS = tool("Kick", "get_details", "Details of a channel.")
OTHER = tool("Tube", "channel_clips", "The clips of a channel, newest first.")
WALKED = tool("Twitch", "get_channels", "Channels and what they are about.")
MORE = tuple(
    tool("Channel", f"list_{what}", f"The {what} of a channel.")
    for what in ("fans", "bans", "tags", "jobs", "ads", "laws")
)
NEW = (CLIPS, DETAILS, OTHER, WALKED, *MORE)
REQUEST = "The clips of a channel of Kick, and the details of it"
CLAUSES = ("The clips of a channel of Kick", "the details of it")


async def known(
    folder: Path, tools: tuple[ToolDoc, ...], walks: list[tuple[ToolDoc, ...]]
) -> dict[ToolId, ToolsetPrior]:
    evidence = ToolEvidence(CLAUSES, await graph(walks, tools), await finder(folder, tools), WeightParameters())
    pool: CandidatePool = await build_candidate_pool(REQUEST, evidence, limit=10, floor=0.1)
    return await compute_toolset_priors(REQUEST, pool, evidence)


async def test_a_set_covers_what_its_tools_cover_together_and_is_named(tmp_path: Path) -> None:
    kin = await known(tmp_path, NEW, [(WALKED,)])
    assert set(kin) == {tool.id for tool in NEW}
    assert kin[CLIPS.id].covers == kin[DETAILS.id].covers > kin[OTHER.id].covers
    assert all(0 <= one.covers <= 1 and 0 <= one.found <= 1 for one in kin.values())
    assert kin[CLIPS.id].set_named == 0.5  # "Kick", not "Set"
    assert kin[CLIPS.id].named == 1.0
    assert kin[OTHER.id].set_named == 0.0


async def test_what_paths_and_memories_know_of_a_tool_is_told_with_it(tmp_path: Path) -> None:
    evidence = ToolEvidence(CLAUSES, await graph([(CLIPS,)], NEW), await finder(tmp_path, NEW), WeightParameters())
    memory = Memory(id="m", request="r", pattern="r", path=(OTHER.id,), at=datetime.now(UTC))
    evidence.recalled = (RecalledMemory(memory=memory, similarity=0.9), RecalledMemory(memory=memory, similarity=0.5))
    kin = await compute_toolset_priors(
        REQUEST, await build_candidate_pool(REQUEST, evidence, limit=10, floor=0.1), evidence
    )
    assert kin[CLIPS.id].walked == kin[DETAILS.id].set_walked == kin[CLIPS.id].set_walked > 0
    assert kin[DETAILS.id].walked == kin[OTHER.id].set_walked == 0
    assert kin[OTHER.id].remembered == pytest.approx(0.9**6 + 0.5**6)
    assert kin[CLIPS.id].remembered == 0
    assert min(one.behind for one in kin.values()) == 0


async def test_nothing_is_told_among_few_tools_nor_where_no_path_has_taught_anything(tmp_path: Path) -> None:
    assert await known(tmp_path / "few", NEW[:9], [(CLIPS,)]) == {}
    assert await known(tmp_path / "untaught", NEW, []) == {}


async def test_nothing_is_told_where_paths_went_through_most_tools(tmp_path: Path) -> None:
    assert await known(tmp_path, TOOLS, [*WALKS, (TOOLS[4],)]) == {}


def test_two_of_the_paths_own_sets_and_two_of_others_are_offered() -> None:
    tools = [make_tool_id("c", name, str(number)) for name in "ab" for number in range(4)]
    kin = {name: ToolsetPrior(found=1 - n / 10, covers=0.5, set_named=0, named=0) for n, name in enumerate(tools)}
    assert select_related_tools(kin, tools[:1], tools[:1]) == [tools[1], tools[2], tools[4], tools[5]]
    assert select_related_tools({}, [], []) == []
    assert get_toolset(tools[0]) == ("c", "a")
