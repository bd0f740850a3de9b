"""The entities of a service's tools: what each input and field of a tool is of, told by the tools of its set together."""

import asyncio

from pydantic import BaseModel

from domain.tool import ToolDoc
from graph.entities import EntitySlot, ServiceEntities, get_service_key
from graph.response_fields import output_fields
from server.library.catalogue import beginning_with
from wiring.container import Container

_OF_A_SET = 300
_FIELDS = 200


class PlaceEntity(BaseModel):
    """A parameter, or a field of the answer by its path. ``entity``: what it is of, empty where it identifies nothing; ``form``: what of it; ``said``: people said so."""

    place: str
    field: bool
    entity: str
    form: str
    said: bool


class ToolEntities(BaseModel):
    """Of all parameters, and of the fields, of which the first 200 are told. ``of_source``: the id of the source of tools that the tool is of, if one."""

    places: list[PlaceEntity]
    left_out: int
    of_source: str | None


async def service_with(container: Container, doc: ToolDoc) -> ServiceEntities:
    """The service that a tool is of, with its other tools."""
    ids = await container.list_searched_tools()
    docs = await container.graph.get_tools(ids[beginning_with(doc.id.rpartition("/")[0], ids)][:_OF_A_SET])
    mates = [one for one in (docs | {doc.id: doc}).values() if get_service_key(one) == get_service_key(doc)]
    return await asyncio.to_thread(lambda: ServiceEntities([(one, output_fields(one)) for one in mates]))


async def places_of(container: Container, doc: ToolDoc) -> tuple[list[PlaceEntity], int]:
    """What each input and field of a tool is of; how many fields were left out."""
    service = await service_with(container, doc)
    fields = output_fields(doc)
    said = {one.place for one in doc.entity_marks}
    told = [_place(one.name, False, service.resolve_input(doc, one), said) for one in doc.parameters]
    told += [_place(one.path, True, service.resolve_field(doc, one), said) for one in fields[:_FIELDS]]
    return told, max(0, len(fields) - _FIELDS)


def _place(name: str, field: bool, slot: EntitySlot | None, said: set[str]) -> PlaceEntity:  # of two kinds
    entity = ", ".join(sorted(slot.entities)) if slot is not None else ""
    return PlaceEntity(place=name, field=field, entity=entity, form=slot.form if slot else "", said=name in said)
