"""What every graph store promises of what answers look like: kept with the document, with nothing lost, and links come anew."""

import asyncio

from domain.tool import ToolDoc
from graph.answer_shapes import infer_answer_shape
from graph.links import LinkedGraph
from graph.response_fields import output_fields
from graph.shapes import JsonShape
from tests.support.graph_samples import LOST, A, B, batch, document


def answer(text: str) -> JsonShape:
    shape = infer_answer_shape(text)
    assert shape is not None
    return shape


class GraphAnswers:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_an_answer_tells_what_the_document_does_not(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B)])
        assert await graph.learn_answers({A: [answer('[{"id": "x", "at": {"lat": 1.5}}]')]}) == {A}
        streamed = [one async for one in graph.stream_documents()]
        for doc in ((await graph.get_tools([A]))[A], streamed[0], (await graph.load_neighbourhoods([A]))[A].document):
            assert doc is not None
            assert [field.path for field in output_fields(doc)] == ["[].id", "[].at.lat"]
        assert (await graph.get_tools([B]))[B] == document(B)

    async def test_later_answers_are_taken_in_and_the_same_again_changes_nothing(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A)])
        await graph.learn_answers({A: [answer('{"id": 1}')]})
        assert await graph.learn_answers({A: [answer('{"id": 2}')]}) == set()
        assert await graph.learn_answers({A: [answer('{"id": 2.5, "name": "x"}')]}) == {A}
        learnt = (await graph.get_tools([A]))[A]
        assert [(field.path, field.type) for field in output_fields(learnt)] == [("id", "number"), ("name", "string")]

    async def test_links_of_a_tool_whose_answers_are_news_become_pending(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B)])
        await graph.learn_answers({A: [answer('{"id": 1}')]})
        states = await graph.get_link_states()
        assert [(tool, state.pending) for tool, state in states.items()] == [(A, True)]
        assert (await graph.count_links()).pending == 1

    async def test_what_has_no_document_and_what_is_documented_stays_as_it_is(self, graph: LinkedGraph) -> None:
        told = document(B).model_copy(update={"example_response": '{"id": 1, "name": "x"}'})
        await graph.put_tools([told])
        await graph.apply(batch("k", nodes={LOST}))
        seen = [answer('{"id": 2, "more": 3}')]
        assert await graph.learn_answers({LOST: seen, A: seen, B: seen}) == set()
        assert await graph.learn_answers({}) == set()
        assert await graph.get_tools([LOST, A, B]) == {B: told}

    async def test_answers_that_come_at_once_are_all_kept(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A)])
        await asyncio.gather(
            *(graph.learn_answers({A: [answer(f'{{"first": 1, "field_{n}": 1}}')]}) for n in range(20))
        )
        names = {field.name for field in output_fields((await graph.get_tools([A]))[A])}
        assert names == {"first", *(f"field_{n}" for n in range(20))}

    async def test_a_document_that_is_put_again_says_what_it_says(self, graph: LinkedGraph) -> None:
        """An import hands over what the store alone knows; whoever puts a document without it takes it away."""
        await graph.put_tools([document(A)])
        await graph.learn_answers({A: [answer('{"id": 1}')]})
        learnt: ToolDoc = (await graph.get_tools([A]))[A]
        await graph.put_tools([learnt])
        assert await graph.get_tools([A]) == {A: learnt}
        await graph.put_tools([document(A)])
        assert await graph.get_tools([A]) == {A: document(A)}
