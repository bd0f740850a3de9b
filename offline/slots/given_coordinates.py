"""Requests that give the coordinates of a place themselves: nothing need be looked up to know where it is."""

from agent.parameters.needs import need_of
from domain.tool import ToolDoc
from graph.identifiers import words
from graph.response_fields import output_fields
from offline.nlp.coordination import atoms

_NAMES = frozenset({"name", "country", "quoted"})
_POINT = frozenset({"latitude", "longitude", "coordinates"})
_HALVES = ({"lat", "latitude"}, {"lng", "lon", "long", "longitude"})


def finds_what_is_given(tool: ToolDoc, request: str) -> bool:
    """Whether a tool only finds the coordinates of a name, where a request names no place and gives coordinates.

    A lone word that opens the request owes its capital to that.
    """
    told = atoms(request)
    named = any(atom.kind in _NAMES and (atom.start > 0 or " " in atom.text) for atom in told)
    if named or not any(atom.kind == "coordinates" for atom in told):
        return False
    return _gives_point(tool) and not any(need_of(parameter).kind in _POINT for parameter in tool.parameters)


def _gives_point(tool: ToolDoc) -> bool:
    given = {word for field in output_fields(tool) for word in words(field.name)}
    return all(half & given for half in _HALVES)
