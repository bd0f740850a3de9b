from typing import Any

import orjson

from domain.tool import ToolDoc, make_tool_id
from evaluation.api_names import normalize_api_name
from evaluation.queries import RetrievalQuery
from evaluation.retrieval import DEPTH, ScoredQuery
from evaluation.retrieval_errors import collect_errors, render_markdown, sample_wrong_first
from graph.backends.in_memory import InMemoryGraph
from retriever.search import ToolHit

RAIN, WIND, SNOW = (make_tool_id("c", "sky", api) for api in ("rain", "wind", "snow"))
QUERY = RetrievalQuery(
    "G1_tool",
    "will it *rain*\n# today",
    frozenset(
        {normalize_api_name("sky", "rain"), normalize_api_name("sky", "snow"), normalize_api_name("gone", "gone")}
    ),
)


class FixedSearch:
    async def find_tools(self, request: str, limit: int) -> list[ToolHit]:
        return [ToolHit(WIND, 0.9, 0.8, 0.7), ToolHit(RAIN, 0.5, 0.4, 0.3)][:limit]


def scored(name: str, *ranking: str) -> ScoredQuery:
    return ScoredQuery(
        RetrievalQuery("s", name, frozenset({normalize_api_name("sky", "rain")})),
        tuple(normalize_api_name("sky", api) for api in ranking),
    )


def test_only_those_whose_first_tool_is_wrong_sampled_and_repeated() -> None:
    given = [scored("right", "rain"), scored("second", "wind", "rain"), scored("nothing"), scored("never", "snow")]
    assert [query.query for query in sample_wrong_first(given, 9)] == ["second", "nothing", "never"]
    assert len(sample_wrong_first(given, 2)) == 2
    many = [scored(str(n), "wind") for n in range(40)]
    assert sample_wrong_first(many, 10) == sample_wrong_first(many, 10) != sample_wrong_first(many, 10, seed=8)


async def told() -> Any:
    graph = InMemoryGraph()
    await graph.setup()
    long = "how much it rains " * 20
    await graph.put_tools([
        ToolDoc(id=tool, category="c", toolset="sky", api="a", function="f", description=text)
        for tool, text in ((RAIN, long), (WIND, "<b>wind</b>"), (SNOW, "snow"))
    ])  # fmt: skip
    return await collect_errors([QUERY], FixedSearch(), graph)


async def test_what_was_found_and_what_should_have_been() -> None:
    (error,) = await told()
    assert [(one.id, one.relevant) for one in error.found] == [(WIND, False), (RAIN, True)]
    assert error.found[0].scores == {"score": 0.9, "dense": 0.8, "lexical": 0.7}
    assert len(error.found[1].description.split()) == 26  # 25 words and the mark that there are more
    assert [(one.api, one.place) for one in error.relevant] == [
        ("rain", "place 2"),
        ("snow", f"not among the first {DEPTH}"),
        ("gone", "no document"),
    ]
    record = orjson.loads(orjson.dumps(error.to_record()))
    assert (record["cause"], record["relevant"][2]["place"]) == ("", "no document")
    assert record["relevant"][0]["document"] == RAIN


async def test_the_page_shows_all_and_no_text_becomes_a_mark() -> None:
    page = render_markdown(await told(), "errors")
    assert page.startswith("# errors\n\n## 1. G1\\_tool\n\nwill it \\*rain\\* \\# today\n")
    assert "\\<b\\>wind" in page
    assert "no document: gone / gone" in page
    assert "**relevant** c / sky / rain (score 0.500" in page
    assert page.count("\n## ") == 1
    assert page.rstrip().endswith("Cause:")
