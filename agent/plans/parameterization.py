"""Turn constants of a program that its request names into inputs, so that the program serves other requests."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.plans.request_words import find_request_words, has_overlap
from agent.programs.analysis.constants import LiftableValue, LiftableValueFinder, Span
from agent.programs.function_names import RESERVED_NAMES, assign_names, to_identifier
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

_COUNTING_NUMBERS = (0, 1, 2)
"""Numbers that count as values of the request only if a call takes them or a list is cut to them."""
_JSON_TYPES: dict[type[object], str] = {int: "integer", float: "number", str: "string"}
_MAX_DESCRIPTION_LENGTH = 400
"""Maximum number of characters of a parameter's description in a schema."""
_STRING_START = re.compile(rb"([fF]?)('''|\"\"\"|'|\")")
"""Matches the beginning of a string literal: an optional ``f``, and its quote."""
_MIN_LENGTH = 2
"""Minimum number of characters of a value that is searched in texts; a single digit may mean anything."""


@dataclass(frozen=True, slots=True)
class InputCandidate:
    """A constant of a program, or a list of them, that the request names."""

    name: str
    """Name of the input."""
    value: JsonValue
    request_words: str
    """Words of the request that name the value."""
    schema: JsonObject
    """JSON Schema of the input."""
    spans: tuple[Span, ...]
    """Places where the constant is replaced by the input, in UTF-8 bytes."""
    removed_spans: tuple[Span, ...] = ()
    """Statements that only assign the constant to the input's name, and are removed."""
    mention_spans: tuple[Span, ...] = ()
    """Places within string literals that mention the value, where ``{name}`` is inserted."""
    fstring_starts: tuple[int, ...] = ()
    """Beginnings of those literals that have to become f-strings."""
    lowercase_spans: tuple[Span, ...] = ()
    """Places of the value in lower case, replaced by ``name.lower()``."""


def find_input_candidates(
    plan: ProgramPlan, request: str, docs: Mapping[ToolId, ToolDoc] | None = None
) -> list[InputCandidate]:
    """Return the constants that the request names, in the order of the text.

    Equal values are one candidate.

    ``docs`` supply the JSON Schemas of values, as far as the tools are known. A text that cannot be parsed has none.
    """
    try:
        finder = _CandidateFinder(plan, request, docs or {})
    except (SyntaxError, ValueError, RecursionError):
        return []
    return finder.find_candidates()


def parameterize_plan(plan: ProgramPlan, candidates: Sequence[InputCandidate]) -> ProgramPlan:
    """Return the plan with an input in place of each chosen constant, which becomes the input's value."""
    text = plan.program.text.encode()
    edits = [(span, candidate.name) for candidate in candidates for span in candidate.spans]
    edits += [(span, "") for candidate in candidates for span in candidate.removed_spans]
    edits += [(span, f"{candidate.name}.lower()") for candidate in candidates for span in candidate.lowercase_spans]
    edits += [(span, f"{{{candidate.name}}}") for candidate in candidates for span in candidate.mention_spans]
    edits += [((at, at), "f") for at in {at for candidate in candidates for at in candidate.fstring_starts}]
    # From the end, so that earlier byte offsets stay valid.
    for (start, end), name in sorted(edits, reverse=True):
        text = text[:start] + name.encode() + text[end:]
    return ProgramPlan(
        program=plan.program.model_copy(update={"text": text.decode()}),
        inputs={**plan.inputs, **{candidate.name: candidate.schema for candidate in candidates}},
        values={**plan.values, **{candidate.name: candidate.value for candidate in candidates}},
    )


class _CandidateFinder:
    """Finds the constants of one program that its request names."""

    def __init__(self, plan: ProgramPlan, request: str, docs: Mapping[ToolId, ToolDoc]) -> None:
        self._program = program = plan.program
        self._inputs = plan.inputs
        self._request = request
        self._docs = docs
        self._source = parse_source(program.text)
        self._values = LiftableValueFinder(self._source, program.tools)

    def find_candidates(self) -> list[InputCandidate]:
        """Return a candidate for each value, with a name that is free in the text."""
        by_value: dict[str, list[LiftableValue]] = {}
        for use in self._values.find_values(self._is_in_request):
            by_value.setdefault(repr(use.value), []).append(use)
        taken_names = RESERVED_NAMES | self._inputs.keys() | self._program.tools.keys()
        candidates = [
            _keep_statement_or_value(candidate, name_in_text, taken_names)
            for candidate, name_in_text in map(self._build_candidate, by_value.values())
        ]
        own_names = {candidate.name for candidate in candidates if candidate.removed_spans}
        others = [candidate for candidate in candidates if not candidate.removed_spans]
        used_names = taken_names | self._source.bound_names | own_names
        names = iter([name for name, _ in assign_names(others, lambda one: (one.name,), used_names)])
        candidates = [
            candidate if candidate.removed_spans else replace(candidate, name=next(names)) for candidate in candidates
        ]
        text_mentions = _TextMentions(self._program.text, self._values.find_texts())
        value_spans = [span for candidate in candidates for span in (*candidate.spans, *candidate.removed_spans)]
        mentions = text_mentions.find_mentions([candidate.value for candidate in candidates], value_spans)
        return [
            replace(candidate, mention_spans=spans, fstring_starts=begins)
            for candidate, (spans, begins) in zip(candidates, mentions, strict=True)
        ]

    def _build_candidate(self, uses: Sequence[LiftableValue]) -> tuple[InputCandidate, str]:
        """Return the candidate for a value, and the name that the text uses for it."""
        first = uses[0]
        name = next((use.name for use in uses if use.name), "value")
        schema = _combine_schemas([self._infer_schema(use) for use in uses if use.function]) or _infer_schema_by_type(
            first.value
        )
        removed_spans = (first.own_lines,) if len(uses) == 1 and first.own_lines is not None else ()
        spans, request_words = tuple(use.span for use in uses), find_request_words(first.value, self._request)
        return InputCandidate(
            to_identifier(name, "value"), first.value, request_words, schema, spans, removed_spans
        ), name

    def _is_in_request(self, constant: LiftableValue) -> bool:
        """Return True if the request names a constant; a list, if it names its items one after the other."""
        if constant.value in _COUNTING_NUMBERS and not constant.small_numbers_count:
            return False
        return any(sign.isalnum() for sign in find_request_words(constant.value, self._request))

    def _infer_schema(self, use: LiftableValue) -> JsonObject:
        """Return the JSON Schema of a constant: that of the parameter that takes it."""
        tool = self._docs.get(self._program.tools.get(use.function, ToolId("")))
        parameter = self._program.arguments.get(use.function, {}).get(use.name, use.name)
        return infer_value_schema(tool, parameter, use.value)


def _keep_statement_or_value(
    candidate: InputCandidate, name_in_text: str, used_names: AbstractSet[str]
) -> InputCandidate:
    """Return the candidate with either the statement that assigns the constant, or its places.

    If the input can have the assigned name, the statement is removed; otherwise the input replaces the constant in it.
    """
    same = candidate.name == name_in_text and name_in_text not in used_names
    return replace(candidate, spans=()) if candidate.removed_spans and same else replace(candidate, removed_spans=())


def _combine_schemas(schemas: Sequence[JsonObject]) -> JsonObject:
    """Return a schema that requires all of these, with the first description."""
    description = next((schema["description"] for schema in schemas if "description" in schema), None)
    bare = [{key: value for key, value in schema.items() if key != "description"} for schema in schemas]
    distinct: list[JsonValue] = [schema for at, schema in enumerate(bare) if schema not in bare[:at]]
    if len(distinct) < 2:
        return schemas[0] if schemas else {}
    both: JsonObject = {"allOf": distinct}
    return {**both, "description": description} if description else both


def infer_value_schema(tool: ToolDoc | None, parameter: str, value: JsonValue) -> JsonObject:
    """Return the JSON Schema of a tool's parameter with its description.

    For an unknown parameter, the schema follows from the type of the value.
    """
    tool_parameter = next((entry for entry in tool.parameters if entry.name == parameter), None) if tool else None
    if tool_parameter is None:
        return _infer_schema_by_type(value)
    description: JsonObject = (
        {"description": tool_parameter.description[:_MAX_DESCRIPTION_LENGTH]} if tool_parameter.description else {}
    )
    return {**build_value_schema(tool_parameter), **description}


def _infer_schema_by_type(value: JsonValue) -> JsonObject:
    """Return a JSON Schema by the type of a value."""
    if isinstance(value, list):
        kinds = list(dict.fromkeys(_list_json_types(value)))
        items: JsonObject = {"type": kinds[0]} if len(kinds) == 1 else {}
        return {"type": "array", "items": items}
    kind = _JSON_TYPES.get(type(value))
    return {"type": kind} if kind else {}


def _list_json_types(values: Iterable[JsonValue]) -> Iterator[str]:
    for value in values:
        yield _JSON_TYPES.get(type(value), "")


class _TextMentions:
    """Finds mentions of values in string literals, as whole words outside of the fields of f-strings.

    ``spans``: places of f-strings, and of plain literals that may become f-strings.
    """

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self._source = text.encode()
        self._spans = spans

    def find_mentions(
        self, values: Sequence[JsonValue], excluded_spans: Sequence[Span]
    ) -> list[tuple[tuple[Span, ...], tuple[int, ...]]]:
        """Return for each value its mentions, and the beginnings of literals that have to become f-strings.

        Longer values are searched first, so that they are not split by values that are a part of them. Mentions within
        ``excluded_spans`` do not count.
        """
        mentions: list[tuple[tuple[Span, ...], tuple[int, ...]]] = [((), ())] * len(values)
        used_spans = list(excluded_spans)
        for at in sorted(range(len(values)), key=lambda at: -len(str(values[at]))):
            hits = [
                hit
                for hit in self._find_value(values[at])
                if not any(has_overlap(hit[0], used_span) for used_span in used_spans)
            ]
            used_spans += [span for span, _ in hits]
            begins = dict.fromkeys(begin for _, begin in hits if begin is not None)
            mentions[at] = tuple(span for span, _ in hits), tuple(begins)
        return mentions

    def _find_value(self, value: JsonValue) -> Iterator[tuple[Span, int | None]]:
        """Yield each mention of a value, with the beginning of its literal if that is not an f-string yet."""
        if isinstance(value, (list, dict, bool)) or value is None or len(str(value)) < _MIN_LENGTH:
            return
        word = re.compile(rf"(?<!\w){re.escape(str(value))}(?!\w)")
        for start, end in self._spans:
            begins = _STRING_START.match(self._source[start:end])
            if begins is None:
                continue
            plain = not begins[1]
            # In an f-string, braces of the plain literal would be read as fields.
            if plain and re.search(rb"[{}]", self._source[start:end]):
                continue
            quote, literal_text = len(begins[2]), self._source[start:end].decode()
            inner = len(begins[0]), len(literal_text) - quote
            for first, last in _find_word(literal_text, inner, word):
                span = start + len(literal_text[:first].encode()), start + len(literal_text[:last].encode())
                yield span, start if plain else None


def _find_word(text: str, inner: Span, word: re.Pattern[str]) -> Iterator[Span]:
    """Yield the places of a word in a literal, in characters, except within braces or after a backslash."""
    for hit in word.finditer(text, *inner):
        before = text[inner[0] : hit.start()].replace("{{", "").replace("}}", "")
        if before.count("{") == before.count("}") and text[hit.start() - 1] != "\\":
            yield hit.span()
