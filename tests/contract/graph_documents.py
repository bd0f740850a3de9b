"""What every graph store promises of a document: all of its fields, now and later, come back as they were."""

from domain.tool import Credential, Parameter, ToolDoc
from graph.facts import ToolFacts
from graph.links import LinkedGraph
from graph.store import GraphStore
from tests.contract.every_field import with_every_field
from tests.support.graph_samples import A, B, C, document

SECRET = Credential(secret="weather", place="query", name="key", prefix="", basic=False, required=False)


def whole_documents() -> list[ToolDoc]:
    """Documents of one id in which every field, of parameters and credentials too, has every kind of value."""
    documents = with_every_field(ToolDoc, id=C, function="fore_cast")
    defaults = {name: field.default for name, field in ToolDoc.model_fields.items() if not field.is_required()}
    assert all(getattr(documents[0], name) != default for name, default in defaults.items())
    return documents


class GraphDocuments:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_a_credential_is_kept(self, graph: GraphStore) -> None:
        keyed = document(A).model_copy(update={"credentials": (SECRET, Credential(secret="basic", basic=True))})
        await graph.put_tools([keyed, document(B)])
        assert await graph.get_tools([A, B]) == {A: keyed, B: document(B)}
        await graph.put_tools([document(A)])
        assert await graph.get_tools([A]) == {A: document(A)}

    async def test_every_field_comes_back_as_it_was(self, graph: GraphStore) -> None:
        for whole in whole_documents():
            await graph.put_tools([whole])
            assert await graph.get_tools([C]) == {C: whole}
            assert [one async for one in graph.stream_documents()] == [whole]

    async def test_every_field_of_a_parameter_comes_back_as_it_was(self, graph: GraphStore) -> None:
        parameters = tuple(with_every_field(Parameter))
        await graph.put_tools([document(A).model_copy(update={"parameters": parameters})])
        assert (await graph.get_tools([A]))[A].parameters == parameters

    async def test_no_field_touches_the_facts_or_stays_when_it_is_taken_away(self, graph: LinkedGraph) -> None:
        await graph.put_tools(whole_documents()[:1])
        assert await graph.get_facts([C]) == {C: ToolFacts()}
        assert await graph.get_link_states() == {}
        await graph.put_tools([document(C)])
        assert await graph.get_tools([C]) == {C: document(C)}
