"""What a call that changes something takes from its request and from nowhere else: when, how much, and in whose name."""

from agent.parameters.kinds import names_person
from agent.parameters.needs import Need
from domain.tool import ToolDoc
from graph.identifiers import words
from offline.nlp.gazetteer import word_set

_DECIDED = frozenset({"date", "time", "year", "number"})
_FORMS = word_set("name full first last given family middle display user nick")
"""Words of a name's own form, which do not say whose it is."""


def asker_decides(need: Need, tool: ToolDoc, *, told: bool) -> bool:
    """Whether no earlier answer may fill a parameter. ``told``: the request has a value for it; a person that it names is the one that is meant."""
    return not tool.safe and (need.kind in _DECIDED or (told and need.kind == "person"))


def of_another(field: str, need: Need, tool: ToolDoc) -> bool:
    """Whether a field holds the name of something else than a person, for a parameter in whose name a change is made: ``room_name``."""
    if tool.safe or need.kind != "person":
        return False
    own = frozenset(words(field.rpartition(".")[2])) - _FORMS
    return bool(own) and own.isdisjoint(need.words) and not names_person(own)
