"""The questions of docs/cypher.md, as they stand there, on a small graph whose answers are known."""

import re
from pathlib import Path
from typing import Any

import pytest

from domain.tool import FINISH
from graph.backends.neo4j_graph import Neo4jGraph
from graph.facts import LiveBatch
from graph.links import FeedLink, SubstituteLink, ToolLinks
from tests.servers.neo4j.server import Neo4jServer
from tests.support.graph_samples import LOST, NOON, A, B, C, batch, document

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cypher.md"
QUESTIONS = {
    int(number): query
    for number, query in re.findall(r"^## (\d+)\..*?```cypher\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
}
PARAMETERS = {"tool": A, "goal": C, "least": 2}

ANSWERS: dict[int, list[list[Any]]] = {
    2: [[B, 0.75, 0.5], [LOST, 0.25, None]],
    3: [[A, 4]],
    4: [[B, 4, 0.5], [A, 4, 0.25]],
    5: [["Weather", 1, 2, 2], ["Maps", 1, 1, 1]],
    6: [["Maps", "Weather", 3], ["Weather", "Maps", 1]],
    7: [[[A, B, C]]],
    8: [["lost_for_ever", LOST, 1]],
    9: [[C, A, 1, 0.5]],
    10: [[C, 1, 1, 0, -1.8]],
    11: [["city", B, "places[].name", 0.9]],
    12: [[C, B, 0.8, '{"q": "query"}']],
    13: [["2026-05-04T12:00:00.000000+00:00", "run", 0.5, ["ok"]]],
    14: [[A, B, "pin", 3]],
}


@pytest.fixture
async def small(neo4j_graph: Neo4jGraph) -> None:
    """A goes to B (3 of 4) or to a lost name; B to C or the end; one own run went from C back to A."""
    await neo4j_graph.put_tools([document(A), document(B), document(C)])
    transitions = {(A, B): 3, (A, LOST): 1, (B, C): 2, (B, FINISH): 1, (C, FINISH): 2, (LOST, FINISH): 1}
    await neo4j_graph.apply(batch("k", transitions, {A: 4, B: 4}, {A: 3, B: 2}))
    await neo4j_graph.learn(
        LiveBatch("run", {(C, A): 1}, ((A, 0.5),), ((C, "transient"), (C, "gone"), (A, "ok")), at=NOON)
    )
    await neo4j_graph.mark(A, B, "pin")
    await neo4j_graph.put_links([ToolLinks(A, [FeedLink(B, A, "places[].name", "city", 0.9)])])
    await neo4j_graph.put_links([ToolLinks(C, [], [SubstituteLink(C, B, 0.8, {"q": "query"})])])


def ask(server: Neo4jServer, number: int) -> list[list[Any]]:
    with server.driver() as driver:
        answer = driver.execute_query(QUESTIONS[number], PARAMETERS, database_="neo4j")  # pyright: ignore[reportArgumentType]
    return [record.values() for record in answer.records]


def test_there_are_fourteen() -> None:
    assert sorted(QUESTIONS) == list(range(1, 15))


@pytest.mark.usefixtures("small")
def test_the_first_shows_every_transition_of_the_tool(neo4j_server: Neo4jServer) -> None:
    ends = sorted((path.start_node["id"], path.end_node["id"]) for (path,) in ask(neo4j_server, 1))
    assert ends == sorted([(A, B), (A, LOST), (A, C)])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("number", sorted(ANSWERS))
def test_each_question_is_answered(neo4j_server: Neo4jServer, number: int) -> None:
    assert ask(neo4j_server, number) == ANSWERS[number]
