"""A tool's document as it is offered: what its source says, what a probe learnt, and what people say in place of it."""

from hashlib import blake2b

import orjson

from domain.tool import EntityMark, Parameter, ToolDoc
from domain.tool_source import Corrections, make_source_mark
from server.storage.source_records import ObservedResponses, StoredTool


def offered_document(kept: StoredTool, source_id: str) -> ToolDoc:
    """What would be offered of this tool now."""
    return corrected(_with(kept.original, kept.learnt), kept.corrections).model_copy(
        update={"source": make_source_mark(source_id)}
    )


def corrected(doc: ToolDoc, said: Corrections) -> ToolDoc:
    """The document with what people say in place of it."""
    changed: dict[str, object] = {}
    if said.description is not None:
        changed["description"] = said.description
    if said.side_effect is not None:
        changed["marked"] = said.side_effect
    if said.entities:
        marks = tuple(EntityMark(place=place, entity=entity) for place, entity in sorted(said.entities.items()))
        changed["entity_marks"] = marks
    if said.examples:
        changed["parameters"] = tuple(_with_example(one, said) for one in doc.parameters)
    return doc.model_copy(update=changed)


def looked_at(kept: StoredTool) -> str:
    """A digest of what the gate has to have looked at: what the source says, and whether people say that it only reads."""
    says = [kept.original.model_dump(mode="json", exclude={"source"}), kept.corrections.side_effect == "reads"]
    return digest(orjson.dumps(says, option=orjson.OPT_SORT_KEYS))


def digest(data: bytes) -> str:
    """By which it is known whether two are the same."""
    return blake2b(data, digest_size=16).hexdigest()


def _with(doc: ToolDoc, learnt: ObservedResponses) -> ToolDoc:
    update = {name: value for name, value in learnt if value is not None}
    if doc.example_response is not None:
        update.pop("example_response", None)
    return doc.model_copy(update=update) if update else doc


def _with_example(parameter: Parameter, said: Corrections) -> Parameter:
    if parameter.name not in said.examples:
        return parameter
    return parameter.model_copy(update={"example": said.examples[parameter.name]})
