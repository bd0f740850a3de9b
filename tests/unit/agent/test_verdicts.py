"""What a user's word changes in weights and memory, and that taking it back gives back what it took."""

from datetime import UTC, datetime
from pathlib import Path

from agent.learning.user_verdict import JudgedRun, VerdictTargets, apply_verdict
from agent.memory.long_term import LongTermMemory
from domain.event import LearnedEdge, LearnedTool, Verdict, WeightsLearned
from domain.tool import FINISH, ToolId
from domain.trajectory import SolvedRequest
from graph.backends.in_memory import InMemoryGraph
from graph.backends.sqlite_memories import SqliteMemories
from graph.facts import LiveBatch, LiveOutcome
from retriever.embedders.onnx_embedder import OnnxEmbedder
from tests.support.graph_samples import A, B

SOLVED = SolvedRequest("Who are the colleagues of Tom Riddle?", (A, B))
NOW = datetime.now(UTC)


def run_of(*remembered: str) -> JudgedRun:
    learned = WeightsLearned(
        transitions=(LearnedEdge(source=A, target=B, walked=1), LearnedEdge(source=B, target=FINISH, walked=1)),
        tools=(LearnedTool(tool=A, scores=(1.0,), outcomes=("ok",)), LearnedTool(tool=B, scores=(1.0,), outcomes=("ok",))),
        remembered=remembered,
    )  # fmt: skip
    return JudgedRun(run="r", request=SOLVED.request, answered=True, at=NOW, learned=learned, solved=(SOLVED,))


async def strengths(graph: InMemoryGraph) -> dict[tuple[ToolId, ToolId], float]:
    return {(one.source, one.target): one.strength async for one in graph.stream_edges()}


async def test_a_wrong_run_is_no_success_and_is_one_again_when_that_is_taken_back() -> None:
    graph = InMemoryGraph()
    walked = {(A, B): 1, (B, FINISH): 1}
    scores = ((A, 1.0), (B, 1.0), (FINISH, 1.0))
    outcomes: tuple[tuple[ToolId, LiveOutcome], ...] = ((A, "ok"), (B, "ok"))
    await graph.learn(LiveBatch("run:r", walked, scores, outcomes, at=NOW))
    before, facts = await strengths(graph), await graph.get_facts([A, B])
    assert before == {(A, B): 1.0, (B, FINISH): 1.0}
    said: list[tuple[Verdict | None, Verdict | None]] = [(None, "right"), ("right", "wrong"), ("wrong", None)]
    told: list[dict[tuple[ToolId, ToolId], float]] = []
    for change, (old, new) in enumerate(said, 1):
        for _ in range(2):  # once each, however often it is told
            await apply_verdict(run_of(), old, new, VerdictTargets(graph), change)
        told.append(await strengths(graph))
        now = await graph.get_facts([A, B])
        assert [(now[one].ok, now[one].good) for one in (A, B)] == [(facts[one].ok, facts[one].good) for one in (A, B)]
    right, wrong, none = told
    assert (right, none) == (before, before)
    assert wrong == {(A, B): 0.0, (B, FINISH): 0.0}


async def test_what_a_wrong_run_was_remembered_by_is_forgotten_and_kept_again(tmp_path: Path) -> None:
    store = SqliteMemories(tmp_path / "memories.db")
    await store.setup()
    memory = LongTermMemory(store, OnnxEmbedder(), "ann")
    kept = await memory.keep([SOLVED])
    await apply_verdict(run_of(*kept), None, "wrong", VerdictTargets(memory=memory), 1)
    assert await store.count() == 0
    await apply_verdict(run_of(*kept), "wrong", "right", VerdictTargets(memory=memory), 2)
    assert [one.id async for one in store.stream_all()] == kept
    await store.close()
