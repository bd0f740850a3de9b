"""What every link store promises of the entities that an administrator corrects."""

import pytest

from domain.errors import UsageError
from domain.tool import EntityMark, Parameter
from graph.document_marks import mark_entity
from graph.linking import link_tools
from graph.links import FeedLink, LinkedGraph
from graph.take_overs import ImportAdmission
from tests.contract.feed_marks import quiet
from tests.support.graph_samples import LOST, A, B, document

FED = FeedLink(A, B, "items[].ref_id", "ship_id", 0.95)


class EntityMarkContract:
    """Needs a fixture ``graph``: an empty store, set up."""

    @pytest.fixture
    async def known(self, graph: LinkedGraph) -> LinkedGraph:
        give = document(A).model_copy(update={"example_response": '{"items": [{"ref_id": 7}]}', "parameters": ()})
        take = document(B).model_copy(update={"parameters": (Parameter(name="ship_id", type="integer"),)})
        await graph.put_tools([give, take])
        await link_tools(graph, None, quiet)
        assert await graph.get_feeds_into(B) == []
        return graph

    async def test_a_field_that_is_said_to_be_of_the_same_feeds_the_parameter(self, known: LinkedGraph) -> None:
        await mark_entity(known, A, FED.field, "ship")
        assert (await known.get_link_states())[A].pending
        await link_tools(known, None, quiet)
        (fed,) = await known.get_feeds_into(B)
        assert (fed.source, fed.field, fed.parameter, fed.score > 0.8) == (A, FED.field, "ship_id", True)
        await mark_entity(known, A, FED.field, "")
        await link_tools(known, None, quiet)
        assert await known.get_feeds_into(B) == []

    async def test_an_entity_that_was_corrected_survives_another_import(self, known: LinkedGraph) -> None:
        await mark_entity(known, B, "ship_id", "vessel")
        fresh = document(B).model_copy(update={"parameters": (Parameter(name="ship_id", type="integer"),)})
        await known.put_tools(await ImportAdmission(known).admit([fresh], "again"))
        assert (await known.get_tools([B]))[B].entity_marks == (EntityMark(place="ship_id", entity="vessel"),)

    async def test_what_cannot_be_said_is_told(self, known: LinkedGraph) -> None:
        for tool, place, entity, told in (
            (A, "items[].id", "ship", "as items\\[\\].ref_id"),
            (B, "ship_id", "?!", "name what it is of"),
            (B, "ship_id", "", "nothing was said"),
            (LOST, "ship_id", "ship", "has no document"),
        ):
            with pytest.raises(UsageError, match=told):
                await mark_entity(known, tool, place, entity)
