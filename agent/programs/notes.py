"""Notes on a parameter that its type does not express but a caller has to know: format, bounds, a short example."""

from collections.abc import Iterator

from pydantic.types import JsonValue

from agent.parameters.forms import form_of
from agent.parameters.kinds import UNTOUCHED
from agent.parameters.needs import need_of
from agent.text import clean
from domain.tool import Parameter

_FORMS = {"date": "YYYY-MM-DD", "date-time": "YYYY-MM-DDTHH:MM:SSZ", "time": "HH:MM:SS"}
_TOLD_BY_TYPE = frozenset({"int32", "int64", "float", "double", "string", "integer", "number", "boolean", "text"})
"""Formats that only repeat the type."""
_LONGEST_FORM = 24
_LONGEST_EXAMPLE = 32
_OPTIONS = 6


def notes(parameter: Parameter, *, closed: bool) -> str:
    """Return a short note, empty if the type says everything.

    ``closed``: the type lists the allowed values.
    """
    said = list(_said(parameter, closed))
    return ", ".join(said)


def _said(parameter: Parameter, closed: bool) -> Iterator[str]:
    """Yield the parts of a note: format, bounds, and allowed values or an example."""
    form = form_of(parameter)
    if form and form.lower() not in _TOLD_BY_TYPE:
        yield _FORMS.get(form, clean(form, _LONGEST_FORM))
    yield from _bounds(parameter)
    if parameter.enum and not closed:
        options = ", ".join(clean(str(one), _LONGEST_EXAMPLE) for one in parameter.enum[:_OPTIONS])
        yield f"one of {options}{', …' if len(parameter.enum) > _OPTIONS else ''}"
    elif parameter.type == "string" and not closed and form not in _FORMS and not _from_elsewhere(parameter):
        yield from _example(parameter)


def _from_elsewhere(parameter: Parameter) -> bool:
    """Return True if the value comes from another tool's answer or the caller's credentials, not from an author."""
    return need_of(parameter).kind in {"identifier", *UNTOUCHED}


def _bounds(parameter: Parameter) -> Iterator[str]:
    """Yield the range of a number, if it has one."""
    low, high = (f"{bound:.10g}" if bound is not None else None for bound in (parameter.minimum, parameter.maximum))
    if low is not None and high is not None:
        yield f"{low}..{high}"
    elif low is not None:
        yield f">= {low}"
    elif high is not None:
        yield f"<= {high}"


def _example(parameter: Parameter) -> Iterator[str]:
    """Yield a short example; the default of a required parameter counts as one, since documents use it so."""
    given: JsonValue = parameter.example
    if given in (None, "") and parameter.required:
        given = parameter.default
    if isinstance(given, (str, int, float)) and not isinstance(given, bool):
        shown = clean(str(given), 4 * _LONGEST_EXAMPLE)
        if 0 < len(shown) <= _LONGEST_EXAMPLE:
            yield f"e.g. {shown!r}"
