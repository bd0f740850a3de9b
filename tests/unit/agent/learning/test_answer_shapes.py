"""After a run a tool whose document says nothing of its response is known by what it answered: names and types, no value."""

from agent.learning.learner import learn_answer_shapes, learn_from_run
from agent.programs.signatures import build_signature
from domain.event import ProgramLooked
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId
from graph.backends.in_memory import InMemoryGraph
from tests.unit.agent.learning.test_lesson import A, B, C, executed, finished, records, result


def document(tool: ToolId) -> ToolDoc:
    return ToolDoc(id=tool, category="c", toolset="s", api="find", function="find")


async def store() -> InMemoryGraph:
    graph = InMemoryGraph()
    await graph.put_tools([document(A), document(B), document(C)])
    return graph


def answered(tool: ToolId, response: str, **more: str) -> StepResult:
    return result(tool).model_copy(update={"response": response, "arguments": more})


async def test_the_first_live_answers_are_learnt() -> None:
    graph = await store()
    calls = [
        answered(A, '{"ada": {"id": "p1"}}', name="Ada"),
        answered(B, "it works"),
        result(C, "transient").model_copy(update={"response": '{"failure": "x"}'}),
    ]
    await learn_from_run(records(*executed(calls), finished()), graph)
    known = await graph.get_tools([A, B, C])
    assert build_signature(known[A]).text.endswith("async def find() -> dict[str, {'id':str}]: ...")
    assert known[B] == document(B)
    assert known[C] == document(C)
    assert (await graph.get_link_states())[A].pending


async def test_what_is_answered_from_an_earlier_step_is_no_answer_of_its_own() -> None:
    graph = await store()
    again = answered(A, '{"id": 1}').model_copy(update={"attempts": 0})
    await learn_answer_shapes(records(*executed([again])), graph)
    assert (await graph.get_tools([A]))[A] == document(A)


async def test_what_a_program_looked_at_is_known_to_the_next_author_however_the_run_ended() -> None:
    graph = await store()
    looked = answered(A, '{"rows": [{"when": "2026-11-23", "level": 3.5}]}')
    told = [*executed([looked]), ProgramLooked(number=1, shown="{'rows':list}, 1 fields")]
    await learn_from_run(records(*told, finished("gave_up")), graph)
    known = (await graph.get_tools([A]))[A]
    assert build_signature(known).text.endswith("-> {'rows':list[{'when':str,'level':float}]}: ...")
