"""The values of a request in a program's text as inputs of it: so that the same program serves the next request with other values."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.validation import value_schema
from agent.plans.said_words import words_of
from agent.programs.analysis.constants import LiftableValue, LiftableValues, Span
from agent.programs.names import TAKEN, identifier, named
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

_COUNTING = (0, 1, 2)
"""Numbers that say nothing of a request but where a call takes them: where counting begins, and by what it goes on."""
_JSON_TYPES: dict[type[object], str] = {int: "integer", float: "number", str: "string"}
_DESCRIPTION = 400
_BEGINS = re.compile(rb"([fF]?)('''|\"\"\"|'|\")")
_SHORTEST = 2
"""Characters of a value that is looked for in texts; digits alone may be anything."""


@dataclass(frozen=True, slots=True)
class Liftable:
    """A constant of a text, or a list of them, that the request says. ``said``: its words there. ``schema``: what it may be.

    ``spans``: where it stands, in UTF-8 bytes; ``left_out``: statements that do nothing but give it its name. ``told``: where texts say it;
    ``formatted``: where those of them begin that have to become f-strings. ``lowered``: where it stands in lower case.
    """

    name: str
    value: JsonValue
    said: str
    schema: JsonObject
    spans: tuple[Span, ...]
    left_out: tuple[Span, ...] = ()
    told: tuple[Span, ...] = ()
    formatted: tuple[int, ...] = ()
    lowered: tuple[Span, ...] = ()


def liftable(plan: ProgramPlan, request: str, docs: Mapping[ToolId, ToolDoc] | None = None) -> list[Liftable]:
    """What may be another value next time, beside the plan's inputs, in the order of the text; equal values are one.

    ``docs``: tell what a value may be, as far as there are any.
    """
    try:
        reading = _Reading(plan, request, docs or {})
    except (SyntaxError, ValueError, RecursionError):
        return []
    return reading.found()


def lifted(plan: ProgramPlan, chosen: Sequence[Liftable]) -> ProgramPlan:
    """The plan with inputs in place of these values, which are theirs."""
    text = plan.program.text.encode()
    edits = [(span, one.name) for one in chosen for span in one.spans]
    edits += [(span, "") for one in chosen for span in one.left_out]
    edits += [(span, f"{one.name}.lower()") for one in chosen for span in one.lowered]
    edits += [(span, f"{{{one.name}}}") for one in chosen for span in one.told]
    edits += [((at, at), "f") for at in {at for one in chosen for at in one.formatted}]
    for (start, end), name in sorted(edits, reverse=True):
        text = text[:start] + name.encode() + text[end:]
    return ProgramPlan(
        program=plan.program.model_copy(update={"text": text.decode()}),
        inputs={**plan.inputs, **{one.name: one.schema for one in chosen}},
        values={**plan.values, **{one.name: one.value for one in chosen}},
    )


class _Reading:
    """One text, and what of it the request says."""

    def __init__(self, plan: ProgramPlan, request: str, docs: Mapping[ToolId, ToolDoc]) -> None:
        self._program = program = plan.program
        self._inputs = plan.inputs
        self._request = request
        self._docs = docs
        self._source = parse_source(program.text)
        self._values = LiftableValues(self._source, program.tools)

    def found(self) -> list[Liftable]:
        """Each value once, with a name that nothing else in the text has."""
        by_value: dict[str, list[LiftableValue]] = {}
        for use in self._values.find(self._is_said):
            by_value.setdefault(repr(use.value), []).append(use)
        fixed = TAKEN | self._inputs.keys() | self._program.tools.keys()
        found = [_in_place(one, own, fixed) for one, own in map(self._one, by_value.values())]
        kept = {one.name for one in found if one.left_out}
        others = [one for one in found if not one.left_out]
        taken = fixed | self._source.names_bound | kept
        names = iter([name for name, _ in named(others, lambda one: (one.name,), taken)])
        found = [one if one.left_out else replace(one, name=next(names)) for one in found]
        texts = _Texts(self._program.text, self._values.texts())
        values = [span for one in found for span in (*one.spans, *one.left_out)]
        told = texts.told([one.value for one in found], values)
        return [replace(one, told=spans, formatted=begins) for one, (spans, begins) in zip(found, told, strict=True)]

    def _one(self, uses: Sequence[LiftableValue]) -> tuple[Liftable, str]:
        """A value, and what the text itself calls it."""
        first = uses[0]
        name = next((use.name for use in uses if use.name), "value")
        schema = _all_of([self._schema(use) for use in uses if use.function]) or _schema_by(first.value)
        left_out = (first.line,) if len(uses) == 1 and first.line is not None else ()
        spans, said = tuple(use.span for use in uses), words_of(first.value, self._request)
        return Liftable(identifier(name, "value"), first.value, said, schema, spans, left_out), name

    def _is_said(self, one: LiftableValue) -> bool:
        """Whether the request says a constant, or those of a list one after the other."""
        if one.value in _COUNTING and not one.counts:
            return False
        return any(sign.isalnum() for sign in words_of(one.value, self._request))

    def _schema(self, use: LiftableValue) -> JsonObject:
        tool = self._docs.get(self._program.tools.get(use.function, ToolId("")))
        parameter = self._program.arguments.get(use.function, {}).get(use.name, use.name)
        return schema_of_value(tool, parameter, use.value)


def _in_place(one: Liftable, own: str, taken: AbstractSet[str]) -> Liftable:
    """With the statement left out that gives a value its name, where the input can have this name; else with the input in the value's place."""
    same = one.name == own and own not in taken
    return replace(one, spans=()) if one.left_out and same else replace(one, left_out=())


def _all_of(schemas: Sequence[JsonObject]) -> JsonObject:
    """What fits all of these."""
    told = next((schema["description"] for schema in schemas if "description" in schema), None)
    bare = [{key: value for key, value in schema.items() if key != "description"} for schema in schemas]
    apart: list[JsonValue] = [schema for at, schema in enumerate(bare) if schema not in bare[:at]]
    if len(apart) < 2:
        return schemas[0] if schemas else {}
    both: JsonObject = {"allOf": apart}
    return {**both, "description": told} if told else both


def schema_of_value(tool: ToolDoc | None, parameter: str, value: JsonValue) -> JsonObject:
    """What a tool's parameter may be, with its description; by the value's own type where nothing is known."""
    own = next((one for one in tool.parameters if one.name == parameter), None) if tool else None
    if own is None:
        return _schema_by(value)
    told: JsonObject = {"description": own.description[:_DESCRIPTION]} if own.description else {}
    return {**value_schema(own), **told}


def _schema_by(value: JsonValue) -> JsonObject:
    if isinstance(value, list):
        kinds = list(dict.fromkeys(_kinds(value)))
        items: JsonObject = {"type": kinds[0]} if len(kinds) == 1 else {}
        return {"type": "array", "items": items}
    kind = _JSON_TYPES.get(type(value))
    return {"type": kind} if kind else {}


def _kinds(values: Iterable[JsonValue]) -> Iterator[str]:
    for value in values:
        yield _JSON_TYPES.get(type(value), "")


class _Texts:
    """Where the texts of a program, those that it says to people, name a value: as a word of its own, outside of what an f-string puts in.

    ``spans``: of f-strings, and of plain texts that may become such.
    """

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self._source = text.encode()
        self._spans = spans

    def told(
        self, values: Sequence[JsonValue], besides: Sequence[Span]
    ) -> list[tuple[tuple[Span, ...], tuple[int, ...]]]:
        """Of each value, where it is told, and where the texts begin that are no f-strings yet. Longer values go before those that are a part of them.

        ``besides``: parts of the text that are none of this.
        """
        found: list[tuple[tuple[Span, ...], tuple[int, ...]]] = [((), ())] * len(values)
        taken = list(besides)
        for at in sorted(range(len(values)), key=lambda at: -len(str(values[at]))):
            hits = [hit for hit in self._of(values[at]) if not any(_overlap(hit[0], one) for one in taken)]
            taken += [span for span, _ in hits]
            begins = dict.fromkeys(begin for _, begin in hits if begin is not None)
            found[at] = tuple(span for span, _ in hits), tuple(begins)
        return found

    def _of(self, value: JsonValue) -> Iterator[tuple[Span, int | None]]:
        if isinstance(value, (list, dict, bool)) or value is None or len(str(value)) < _SHORTEST:
            return
        word = re.compile(rf"(?<!\w){re.escape(str(value))}(?!\w)")
        for start, end in self._spans:
            begins = _BEGINS.match(self._source[start:end])
            if begins is None:
                continue
            plain = not begins[1]
            if plain and re.search(rb"[{}]", self._source[start:end]):
                continue
            quote, whole = len(begins[2]), self._source[start:end].decode()
            inner = len(begins[0]), len(whole) - quote
            for first, last in _words(whole, inner, word):
                span = start + len(whole[:first].encode()), start + len(whole[:last].encode())
                yield span, start if plain else None


def _words(text: str, inner: Span, word: re.Pattern[str]) -> Iterator[Span]:
    """The places of a word within a text, by characters, but for those between braces and behind backslashes."""
    for hit in word.finditer(text, *inner):
        before = text[inner[0] : hit.start()].replace("{{", "").replace("}}", "")
        if before.count("{") == before.count("}") and text[hit.start() - 1] != "\\":
            yield hit.span()


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
