"""After a run: what is learnt is told before the end, once; the followed memory is judged; a failing store takes no answer away."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.learning.learner import RunLearner, learn_from_run
from agent.memory.long_term import LongTermMemory
from domain.errors import UnavailableError
from domain.event import (
    CandidatesConsidered,
    ConsideredTool,
    Event,
    EventRecord,
    MemoryRecalled,
    PlanReady,
    RecalledPath,
    StepChosen,
)
from domain.plan import CallOutcome, Plan
from domain.tool import ToolDoc, ToolId
from domain.trajectory import SolvedRequest
from graph.backends.in_memory import InMemoryGraph
from graph.backends.sqlite_memories import SqliteMemories
from graph.facts import LiveBatch
from offline.policy import OfflinePolicy
from retriever.calibration import REFERENCE_SCALE, CosineScale
from tests.unit.agent.learning.test_lesson import ASKED, A, B, C, D, executed, finished, records, result


class Words:
    """Texts to vectors: by whether they are the same text."""

    identity = "words"
    dimension = 16

    async def embed(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        del kind
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[sum(map(ord, text)) % self.dimension] = 1
        return rows

    async def get_cosine_scale(self) -> CosineScale:
        return REFERENCE_SCALE


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[LongTermMemory]:
    store = SqliteMemories(tmp_path / "memories.db")
    await store.setup()
    yield LongTermMemory(store, Words())  # pyright: ignore[reportArgumentType]
    await store.close()


async def everything(ids: Iterable[ToolId]) -> set[ToolId]:
    return set(ids)


def considered(**relevance: float) -> CandidatesConsidered:
    shown = tuple(
        ConsideredTool(tool=ToolId(f"c/s/{name}"), weight=0, availability=None, relevance=value, origin="start")
        for name, value in relevance.items()
    )
    return CandidatesConsidered(path=(), candidates=shown, finish_weight=0)


def followed(memory: str, *path: ToolId) -> list[Event]:
    """A memory that was recalled, and its steps taken."""
    recalled = RecalledPath(id=memory, request=ASKED, path=path, similarity=1)
    steps = [
        StepChosen(tool=tool, path=path[: at + 1], reason="as before", memory=memory) for at, tool in enumerate(path)
    ]
    return [MemoryRecalled(memories=(recalled,)), *steps]


async def test_a_run_teaches_its_steps_and_is_remembered(memory: LongTermMemory) -> None:
    kept = records(*executed([result(A), result(B, uses="1.id")]), finished())
    learner = RunLearner(InMemoryGraph(), memory, OfflinePolicy())
    learned = await learner.learn(kept)
    assert learned is not None
    assert {(one.tool, one.scores, one.outcomes) for one in learned.tools} == {
        (A, (1.0,), ("ok",)),
        (B, (1.0,), ("ok",)),
    }
    (found,) = await memory.recall(ASKED, 5, everything)
    assert (found.memory.id, found.memory.path) == (learned.remembered[0], (A, B))
    assert found.memory.bindings[1][0].reference == "1.id"


async def test_a_run_that_made_no_call_teaches_nothing() -> None:
    kept = records(*executed([result(A, None, attempts=0)]), finished("gave_up"))
    assert await RunLearner(InMemoryGraph()).learn(kept) is None


async def test_a_run_is_learnt_from_once_and_where_it_ends() -> None:
    kept = records(*executed([result(A)]), finished())
    learned = await RunLearner(InMemoryGraph()).learn(kept)
    assert learned is not None
    again = records(*executed([result(A)]), learned, finished())
    assert await RunLearner(InMemoryGraph()).learn(again) is None
    assert await RunLearner(InMemoryGraph(), is_over=lambda: False).learn(kept) is None


async def test_learning_twice_is_learning_once(memory: LongTermMemory) -> None:
    graph, own = InMemoryGraph(), await memory.keep([SolvedRequest(ASKED, (A, B))])
    await memory.embed()
    kept = records(*followed(own[0], A, B), *executed([result(A), result(B)]), finished())
    first = await learn_from_run(kept, graph, memory)
    again = await learn_from_run(kept, graph, memory)
    assert first is not None
    assert again is not None
    assert [(one.memory, one.good) for one in first.judged] == [(own[0], True)]
    assert again.judged == first.judged
    assert (await graph.get_facts([A]))[A].ok == 1
    (found,) = await memory.recall(ASKED, 5, everything)
    assert (found.memory.good, found.memory.bad) == (1, 0)


async def test_a_memory_whose_path_failed_loses_rank_and_goes(memory: LongTermMemory) -> None:
    (own,) = await memory.keep([SolvedRequest(ASKED, (A, B))])
    await memory.keep([SolvedRequest(ASKED, (C, D))])
    await memory.embed()
    failed = [*followed(own, A, B), *executed([result(A), result(B, "gone")]), finished("gave_up")]
    graph = InMemoryGraph()
    for run in range(3):
        assert any(one.memory.id == own for one in await memory.recall(ASKED, 5, everything))
        kept = [record.model_copy(update={"run": f"r{run}"}) for record in records(*failed)]
        learned = await learn_from_run(kept, graph, memory)
        assert learned is not None
        assert [(one.memory, one.good) for one in learned.judged] == [(own, False)]
        assert (await memory.recall(ASKED, 5, everything))[0].memory.path == (C, D)
    assert all(one.memory.id != own for one in await memory.recall(ASKED, 5, everything))


async def test_a_memory_is_not_judged_by_what_one_caller_met(memory: LongTermMemory) -> None:
    (own,) = await memory.keep([SolvedRequest(ASKED, (A, B))])
    await memory.embed()
    kept = records(*followed(own, A, B), *executed([result(A), result(B, "refused")]), finished("gave_up"))
    learned = await learn_from_run(kept, InMemoryGraph(), memory)
    assert learned is not None
    assert learned.judged == ()


@pytest.mark.parametrize("outcome", ["absent", "refused", "unreached", "caller_fault"])
async def test_two_hundred_users_who_ask_in_vain_leave_the_graph_as_it_was(outcome: CallOutcome) -> None:
    """Of a tool that answered before, and of one that nobody has called yet: each asks for three things that are not there."""
    graph = InMemoryGraph()
    await learn_from_run(records(*executed([result(A), result(B, uses="1.id")]), finished()), graph)
    before = [node async for node in graph.stream_nodes()], [edge async for edge in graph.stream_edges()]
    for user in range(200):
        asked = [
            result(tool, outcome).model_copy(update={"arguments": {"city": f"{user} {city}"}})
            for tool in (B, C)
            for city in "xyz"
        ]
        kept = records(*executed(asked), finished("gave_up"))
        await learn_from_run([record.model_copy(update={"run": f"user {user}"}) for record in kept], graph)
    assert ([node async for node in graph.stream_nodes()], [edge async for edge in graph.stream_edges()]) == before


async def test_a_memory_whose_tool_went_is_passed_over(memory: LongTermMemory) -> None:
    await memory.keep([SolvedRequest(ASKED, (A, B))])
    await memory.embed()

    async def without_b(ids: Iterable[ToolId]) -> set[ToolId]:
        return set(ids) - {B}

    assert await memory.recall(ASKED, 5, without_b) == []


async def test_an_answer_around_a_failure_is_kept_where_a_like_replaced_what_failed(memory: LongTermMemory) -> None:
    def run(name: str, relevance: float) -> list[EventRecord]:
        again = [PlanReady(plan=Plan(path=(C,), complete=True)), executed([result(C)])[1]]
        shown = considered(b=0.8, c=relevance)
        kept = records(shown, *executed([result(B, "transient")]), *again, finished())
        return [record.model_copy(update={"run": name}) for record in kept]

    unlike = await learn_from_run(run("r1", 0.4), InMemoryGraph(), memory)
    like = await learn_from_run(run("r2", 0.7), InMemoryGraph(), memory)
    assert unlike is not None
    assert like is not None
    assert unlike.remembered == ()
    assert like.remembered


async def test_a_store_that_is_down_takes_no_answer_away() -> None:
    class Down(InMemoryGraph):
        async def learn(self, batch: LiveBatch) -> bool:
            raise UnavailableError("the graph is not there")

    kept = records(*executed([result(A)]), finished())
    learned = await RunLearner(Down()).learn(kept)
    assert learned is not None
    assert "the graph is not there" in learned.error
    assert learned.deferred == "", "nobody keeps it"
    kept_for_later = await RunLearner(Down(), can_defer=True).learn(kept)
    assert kept_for_later is not None
    assert kept_for_later.deferred == "waiting"


async def test_the_policy_scores_within_what_outcomes_allow() -> None:
    class Generous(OfflinePolicy):
        async def score(self, question: object) -> tuple[float, ...]:
            return (0.25, 1.0)

    graph = InMemoryGraph()
    docs = [ToolDoc(id=tool, category="c", toolset="s", api="x", function="x") for tool in (A, B)]
    await graph.put_tools(docs)
    kept = records(*executed([result(A), result(B, "gone")]), finished("gave_up"))
    learned = await learn_from_run(kept, graph, None, Generous())
    assert learned is not None
    assert [(one.tool, one.scores) for one in learned.tools] == [(A, (0.25,)), (B, (0.0,))]
