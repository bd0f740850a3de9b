"""Whether requests find a tool, and whom it would push out, over a search that answers from a table."""

from collections.abc import Mapping, Sequence

from admission.findability import SearchComparison, ServedRequest, check_findability
from admission.sample_requests import make_sample_requests
from domain.tool import Parameter, ToolDoc, ToolId, make_tool_id
from retriever.search import ToolHit

NEW, OLD = make_tool_id("Ports", "Harbour", "list_ships"), make_tool_id("Ports", "Fleet", "ships")


class Table:
    """A search whose answers are written down."""

    def __init__(self, hits: Mapping[str, Sequence[ToolId]]) -> None:
        self._hits = hits

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> list[list[ToolHit]]:
        return [[ToolHit(tool, 1.0, 1.0, 1.0) for tool in self._hits.get(request, ())][:limit] for request in requests]


def what_if(
    before: Mapping[str, Sequence[ToolId]], after: Mapping[str, Sequence[ToolId]], *served: ServedRequest
) -> SearchComparison:
    async def like(_request: str) -> Sequence[ServedRequest]:
        return served

    return SearchComparison(Table(before), Table(after), like)


async def test_a_tool_that_few_requests_find_is_told_with_those_that_miss_it() -> None:
    requests = {NEW: ("ships?", "vessels?", "boats?")}
    found = await check_findability(requests, frozenset(requests), what_if({}, {"ships?": [NEW], "vessels?": [OLD]}))
    finding = found[NEW]
    assert finding.verdict == "failed"
    assert finding.evidence["ranks"] == {"ships?": 1, "vessels?": None, "boats?": None}
    assert "vessels?" in finding.advice


async def test_whom_it_pushes_out_is_named_and_a_users_own_words_are_not() -> None:
    before, after = {"my fleet?": [OLD]}, {"ships?": [NEW], "my fleet?": [NEW]}
    served = ServedRequest("my fleet?", (OLD,), may_be_shown=False)
    found = await check_findability({NEW: ("ships?",)}, frozenset(), what_if(before, after, served))
    assert found[NEW].verdict == "warned"
    assert found[NEW].evidence["pushed_out"] == [{"tool": OLD, "request": ""}]


async def test_who_stays_among_the_first_is_not_pushed_out() -> None:
    before, after = {"fleet?": [OLD]}, {"ships?": [NEW], "fleet?": [NEW, OLD]}
    found = await check_findability(
        {NEW: ("ships?",)}, frozenset(), what_if(before, after, ServedRequest("fleet?", (OLD,)))
    )
    assert found[NEW].verdict == "passed"


def test_requests_are_made_from_a_document_with_its_own_values() -> None:
    tool = ToolDoc(
        id=NEW, category="Ports", toolset="Harbour", api="get_tide", function="get_tide",
        url="https://harbour.example/tide", description="Height of the tide on a day. More follows.",
        parameters=(Parameter(name="day", required=True, example="3 May"),),
        response_schema='{"type": "object", "properties": {"height": {"type": "number"}, "state": {"type": "string"}}}',
    )  # fmt: skip
    made = make_sample_requests(tool)
    assert len(made) == len(set(made)) == 3
    assert any("3 May" in one for one in made)
    assert not any("{" in one for one in made)
    bare_parameter = tool.parameters[0].model_copy(update={"example": None})
    given = make_sample_requests(
        tool.model_copy(update={"parameters": (bare_parameter,)}), {"day": ["9 June", "2 May"]}
    )
    assert any("9 June" in one for one in given), "what its live call is made with"
    bare = tool.model_copy(update={"response_schema": None, "method": "POST"})
    assert make_sample_requests(bare) == ("Height of the tide on a day", "get tide")
