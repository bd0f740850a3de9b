"""Documents held against what a clause tells and asks."""

from agent.offer.candidates import Candidate
from agent.policy.protocol import Situation
from domain.tool import JsonType, Parameter, ToolDoc, tool_id
from offline.documents import by_documents
from offline.value_uses import Uses


def tool(api: str, wants: str, response: str, kind: JsonType = "string") -> ToolDoc:
    wanted = (Parameter(name=wants, type=kind, required=True),)
    return ToolDoc(
        id=tool_id("C", "S", api),
        category="C",
        toolset="S",
        api=api,
        function=api,
        parameters=wanted,
        example_response=response,
    )


FACTS = tool("find_country", "country", '{"capital": "Lima", "languages": ["Spanish"]}')
DETECT = tool("detect_language", "text", '{"language": "es"}')
CLAUSE = "Which language is spoken in Peru"


def raised(*tools: ToolDoc) -> list[float]:
    candidates = tuple(
        Candidate(tool=one, weight=0.5, availability=1.0, relevance=(value,), origin="start")
        for one, value in zip(tools, (0.4, 0.8), strict=True)
    )
    situation = Situation(
        request=CLAUSE,
        clauses=(CLAUSE,),
        path=(),
        path_relevance=(),
        best_relevance=(0.8,),
        candidates=candidates,
        finish_weight=0.0,
        memory=(),
    )
    return [c.relevance[0] for c in by_documents(situation, Uses(CLAUSE).share).candidates]


def test_what_takes_what_is_told_and_tells_what_is_asked_is_as_relevant_as_any() -> None:
    assert raised(FACTS, DETECT) == [0.8, 0.8]


def test_what_tells_nothing_of_what_is_asked_stays_as_relevant_as_it_is() -> None:
    assert raised(tool("find_country", "country", '{"capital": "Lima"}'), DETECT) == [0.4, 0.8]
