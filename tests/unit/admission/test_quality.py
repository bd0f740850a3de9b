"""Which documents say enough, in whatever language, and what becomes of a judge that says nothing."""

from collections.abc import Sequence

import pytest

from admission.findings import report_failure
from admission.quality import QualityJudgement, RulesJudge, judge_tools
from domain.errors import InvalidDecisionError
from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.support.admission_samples import judged_documents


def doc(api: str, description: str, *parameters: Parameter, category: str = "Ports") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id(category, "Harbour", api), category=category, toolset="Harbour", api=api, function=api, description=description,
        parameters=parameters,
    )  # fmt: skip


KEPT = [
    doc("list_ships", "Lists the ships that lie in the harbour."),
    doc("船一覧", "港に停泊している船の一覧を返します。"),
    doc("GET /ships", "Schiffe, die heute im Hafen liegen, mit Flagge und Länge."),
    doc("tide", "Gezeiten eines Tages.", Parameter(name="day", required=True)),
]
DROPPED = [
    doc("ep_2", ""),
    doc("GET /x/7f3a9c", "x"),
    doc("list_ships", "Deprecated. Lists the ships that lie in the harbour."),
    doc("ships", "Ships", Parameter(name="a", required=True), Parameter(name="b", required=True)),
]


@pytest.mark.parametrize("tool", KEPT, ids=lambda tool: tool.api)
async def test_a_document_that_says_enough_is_kept(tool: ToolDoc) -> None:
    (found,) = await RulesJudge([tool]).judge([tool])
    assert found.keep, found.reasons


@pytest.mark.parametrize("tool", DROPPED, ids=lambda tool: tool.api)
async def test_one_that_says_nothing_is_dropped_with_a_reason(tool: ToolDoc) -> None:
    (found,) = await RulesJudge([tool]).judge([tool])
    assert not found.keep
    assert all(found.reasons)
    assert found.reasons


async def test_texts_that_tell_nothing_apart_are_dropped() -> None:
    tools = [doc(name, "Part of the harbour's service for its customers.") for name in ("one", "two", "three")]
    assert [one.keep for one in await RulesJudge(tools).judge(tools)] == [False] * 3


class Silent:
    """A model that gives no usable answer."""

    name = "a model"

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[QualityJudgement]:
        raise InvalidDecisionError(f"no judgements of {len(tools)}")


async def test_rules_judge_where_the_judge_gives_no_answer() -> None:
    found = await judge_tools(KEPT[:1], Silent(), RulesJudge(), {})
    finding = found[KEPT[0].id]
    assert finding.verdict == "passed"
    assert finding.evidence["judge"] == "rules"
    assert "a model gave no judgement" in finding.told


async def test_what_cannot_be_called_is_of_no_quality() -> None:
    tool, other = KEPT[0], doc("map", "Map of the sky with its constellations.", category="Sky")
    down = report_failure("probe", "no answer", "try again later")
    found = await judge_tools([tool, other], RulesJudge(), RulesJudge(), {tool.id: down})
    assert [one.verdict for one in found.values()] == ["failed", "passed"]
    assert found[tool.id].evidence["reasons"] == ["it cannot be used: its live call failed"]
    assert "description" not in found[tool.id].advice, "it is not what is wrong"


async def test_rules_keep_what_only_a_reader_sees_through() -> None:
    """The six bad ones among twenty are plain sentences, which a model has to judge; of the good ones none is dropped."""
    tools = [one.tool for one in judged_documents()]
    assert all(one.keep for one in await RulesJudge(tools).judge(tools))
