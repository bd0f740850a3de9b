"""Build drafts of sentences call by call, and record what each has at hand and what of the request it covers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from agent.parameter_needs import derive_need
from agent.programs.grammar.sentence import Argument, Call, First, ForEach, Listed, Pick, Step, Value
from domain.tool import Parameter
from graph.identifiers import split_words
from offline.nlp.entities import Span
from offline.sentences.fields import AnswerField
from offline.sentences.input_filling import FilledValue, InputFilling, OfferedFunction, score_naming_word
from offline.sentences.sentence_context import SentenceContext

MAX_TOOLS = 3
"""The most different functions in one sentence."""
MAX_CALLS = 4
"""The most calls in one sentence."""
_MIN_LINK = 0.6
"""Score of a coupling from which a field may fill a parameter."""
_NAMED_KINDS = frozenset({"query", "entity", "person", "place", "organization", "symbol", "country", "text"})
"""Kinds of parameters by which a thing is searched."""


@dataclass(frozen=True, slots=True)
class AvailableField:
    """A response field that a further step can use."""

    field: AnswerField
    path: str
    """Path from the sentence's names; where a list is at hand, the path within its item."""
    function: OfferedFunction | None
    """The function that returned the field; None if no call did."""
    call_number: int
    """Number of the call that returned it, from 0."""


@dataclass(frozen=True, slots=True)
class SentenceDraft:
    """A sentence under construction.

    Either single things are at hand, or the items of one list.
    """

    steps: tuple[Step, ...] = ()
    available: tuple[AvailableField, ...] = ()
    """Fields that a further step can use."""
    list_path: str = ""
    """Path of the list at hand; empty if single things are at hand."""
    is_paired: bool = False
    """True if each item of the list is a pair: an item, and the result of a call for it."""
    functions: tuple[OfferedFunction, ...] = ()
    """The functions called, in order."""
    used_spans: tuple[Span, ...] = ()
    """Spans of the request that are used."""
    used_ranks: frozenset[int] = frozenset()
    """Indexes of the request's superlatives that are used."""
    used_bounds: frozenset[int] = frozenset()
    """Indexes of the request's bounds that are used."""
    deciding_fields: tuple[AnswerField, ...] = ()
    """Fields by which things were ranked or filtered."""
    echoed_fields: tuple[AnswerField, ...] = ()
    """Fields that only repeat a name that was searched by."""
    filled_parameters: tuple[tuple[OfferedFunction, str], ...] = ()
    """Functions with the parameters that the request filled."""
    loss: float = 0.0
    """Cost of uncertain choices; 0 is certain."""
    search_terms: tuple[tuple[Parameter, str], ...] = ()
    """Parameters and values by which the list was searched, until an item of it is picked."""
    used_ordinals: frozenset[int] = frozenset()
    """Indexes of the request's ordinals that are used."""

    @property
    def is_search_result(self) -> bool:
        """True if the list at hand was found by searching for one thing by its name."""
        return any(find_name_field(parameter, self) for parameter, _ in self.search_terms)

    @property
    def last_call(self) -> int:
        """Number of the last call."""
        return len(self.functions) - 1

    def is_free(self, span: Span) -> bool:
        """Return whether no used span overlaps this one."""
        return not any(span.overlaps(other) for other in self.used_spans)

    def make_name(self, base: str) -> str:
        """Return a name for a step that no other step has."""
        used_names = {step.name for step in self.steps}
        return next(
            one for number in range(1, 99) if (one := base if number == 1 else f"{base}_{number}") not in used_names
        )


def start_drafts(function: OfferedFunction, context: SentenceContext) -> Iterator[SentenceDraft]:
    """Yield the drafts of a first call, which takes everything it needs from the request."""
    for filling in context.find_fillings(function):
        if filling.listed_values is not None:
            yield from _call_for_each_value(function, filling)
        else:
            yield from _add_call(SentenceDraft(), function, filling.filled, {}, filling.loss)


def extend_draft(draft: SentenceDraft, function: OfferedFunction, context: SentenceContext) -> Iterator[SentenceDraft]:
    """Yield the drafts with one more call, which takes something that is at hand."""
    if len({*draft.functions, function}) > MAX_TOOLS or len(draft.functions) >= MAX_CALLS:
        return
    if sum(one is function for one in draft.functions) > 1:
        return
    if draft.list_path and draft.is_search_result:
        return
    for linked, loss in _find_links(draft, function, context):
        is_repeated = any((function, name) in draft.filled_parameters for name in linked)
        if (
            is_repeated
            and not context.parsed.has_repetition
            and not (draft.list_path and draft.functions[-1] is not function)
        ):
            continue  # it was called with what the request says already
        for filling in context.find_fillings(function, frozenset(linked)):
            spans = [span for one in filling.filled.values() for span in one.spans]
            if filling.listed_values is None and all(draft.is_free(span) for span in spans):
                if draft.list_path:
                    yield from _add_call_for_each(draft, function, filling.filled, linked, loss + filling.loss)
                else:
                    yield from _add_call(draft, function, filling.filled, linked, loss + filling.loss)


def _find_links(
    draft: SentenceDraft, function: OfferedFunction, context: SentenceContext
) -> Iterator[tuple[dict[str, AvailableField], float]]:
    """Yield the parameters that fields at hand can fill, with these fields and the loss.

    All required parameters that can be linked are linked. If there are none, a parameter that is searched by name is.
    """
    linked: dict[str, AvailableField] = {}
    loss = 0.0
    for name, parameter in function.parameters.items():
        if not parameter.required:
            continue
        best = _find_source(draft, function, parameter, context)
        if best is not None:
            linked[name], score = best
            roles = derive_need(parameter).role
            if roles and any(
                other.path == best[0].path and derive_need(function.parameters[key]).role not in ("", roles)
                for key, other in linked.items()
                if key != name
            ):
                return  # nothing is measured from a thing to itself
            loss += 1 - score
    if linked:
        if any(one.call_number == draft.last_call for one in linked.values()) or _is_chosen_by_last_call(draft):
            yield linked, loss
        return
    for name, parameter in function.parameters.items():
        kind = derive_need(parameter).kind
        name_fields = [
            one
            for one in draft.available
            if one.call_number == draft.last_call
            and one.function
            and one.function is not function
            and split_words(one.field.name)[-1:] == ("name",)
            and one.function.doc.toolset == function.doc.toolset
        ]
        if kind in _NAMED_KINDS and name_fields and split_words(parameter.name)[-1:] == ("name",):
            yield {name: name_fields[-1]}, 0.3


def _is_chosen_by_last_call(draft: SentenceDraft) -> bool:
    """Return whether the last call's response has served to choose the single thing at hand."""
    own_fields = draft.functions[-1].fields
    return bool(draft.used_ranks) and not draft.list_path and any(one in own_fields for one in draft.deciding_fields)


def _find_source(
    draft: SentenceDraft, function: OfferedFunction, parameter: Parameter, context: SentenceContext
) -> tuple[AvailableField, float] | None:
    """Find the field at hand that fits a parameter best; fields of the last call come first."""
    scored: list[tuple[float, int, AvailableField]] = []
    for seen in draft.available:
        if seen.function is None or (seen.function is function and not context.parsed.has_repetition):
            continue
        score = context.score_link(seen.function, seen.field, function, parameter)
        if score >= _MIN_LINK:
            scored.append((score, int(seen.call_number == draft.last_call), seen))
    if not scored:
        return None
    score, _, best = max(scored, key=lambda one: (one[1], one[0]))
    return best, score


# -- calls


def _add_call(
    draft: SentenceDraft,
    function: OfferedFunction,
    filled: Mapping[str, FilledValue],
    linked: Mapping[str, AvailableField],
    loss: float,
) -> Iterator[SentenceDraft]:
    """Append a call, and yield the drafts over its response."""
    name = draft.make_name(function.name)
    arguments = _build_arguments(filled, {key: f"{{{one.path}}}" for key, one in linked.items()})
    after = _append_call(
        draft, function, Call(do="call", name=name, function=function.name, arguments=arguments), filled, loss
    )
    naming = tuple(
        (parameter, str(filled[key].value))
        for key, parameter in function.parameters.items()
        if key in filled
        and filled[key].spans
        and filled[key].spans[0].kind != "phrase"
        and derive_need(parameter).kind in _NAMED_KINDS
        and f"{{{parameter.name}}}/" not in function.doc.url  # what is said of lists beneath it is their holder's name
    )
    yield from _enter_response(after, function, name, naming)


def _add_call_for_each(
    draft: SentenceDraft,
    function: OfferedFunction,
    filled: Mapping[str, FilledValue],
    linked: Mapping[str, AvailableField],
    loss: float,
) -> Iterator[SentenceDraft]:
    """Append a call for each item of the list at hand, and yield the drafts over the responses."""
    name = draft.make_name(f"each_{function.name}")
    arguments = _build_arguments(filled, {key: f"{{{one.path}}}" for key, one in linked.items()})
    step = ForEach(do="for_each", name=name, of=draft.list_path, function=function.name, arguments=arguments)
    after = _append_call(draft, function, step, filled, loss)
    is_searched = any(split_words(key)[-1:] == ("name",) for key in linked)
    yield from _enter_results(after, function, name, is_searched=is_searched)


def _call_for_each_value(function: OfferedFunction, filling: InputFilling) -> Iterator[SentenceDraft]:
    """Yield drafts that begin with one call for each of several values of the request."""
    if filling.listed_values is None:
        return
    key, readings = filling.listed_values
    values = Listed(
        do="list",
        name="values",
        values=[one.value if isinstance(one.value, (int, float)) else str(one.value) for one in readings],
    )
    list_draft = SentenceDraft(steps=(values,), list_path="values", used_spans=tuple(one.span for one in readings))
    name = f"each_{function.name}"
    step = ForEach(
        do="for_each",
        name=name,
        of="values",
        function=function.name,
        arguments=_build_arguments(filling.filled, {key: "{item}"}),
    )
    after = _append_call(list_draft, function, step, filling.filled, 0.0)
    after = replace(after, filled_parameters=(*after.filled_parameters, (function, key)))
    items = tuple(
        AvailableField(one, f"item.{one.path}", function, 0) for one in function.fields if one.path.count("[]") == 1
    )
    name_field = find_name_field(
        function.parameters[key],
        SentenceDraft(list_path="values", available=tuple(replace(one, path="item") for one in items)),
    )
    yield from _enter_results(after, function, name, is_searched=name_field is not None)


def _build_arguments(filled: Mapping[str, FilledValue], linked: Mapping[str, str]) -> list[Argument]:
    constants: dict[str, Value] = {name: _to_constant(one.value) for name, one in filled.items()}
    return [Argument(parameter=name, value=value) for name, value in {**constants, **linked}.items()]


def _to_constant(value: object) -> Value:
    """Convert a value to a constant of the grammar, with braces escaped, since plain ones enclose paths."""
    if isinstance(value, str):
        return _escape_braces(value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, list):
        return [one if isinstance(one, (int, float)) else str(one) for one in cast("list[object]", value)]
    return str(value)


def _escape_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _append_call(
    draft: SentenceDraft, function: OfferedFunction, step: Step, filled: Mapping[str, FilledValue], loss: float
) -> SentenceDraft:
    """Append a call's step to a draft, with the spans and parameters that it uses and the cost of weak values."""
    spans = tuple(span for one in filled.values() for span in one.spans)
    new_parameters = tuple((function, key) for key, one in filled.items() if one.spans)
    weakness = sum(0.6 * (1 - one.likeness) for one in filled.values() if one.spans)
    weakness -= sum(score_naming_word(span, function.name_words) for one in filled.values() for span in one.spans)
    return replace(
        draft,
        steps=(*draft.steps, step),
        functions=(*draft.functions, function),
        used_spans=(*draft.used_spans, *spans),
        filled_parameters=(*draft.filled_parameters, *new_parameters),
        loss=draft.loss + loss + weakness,
    )


# -- what calls answer


def _group_by_list(fields: tuple[AnswerField, ...]) -> dict[str, list[AnswerField]]:
    """Group the fields of a response by the innermost list that holds them; single ones are under an empty path."""
    fields_by_list: dict[str, list[AnswerField]] = {}
    for field in fields:
        holder = field.path[: field.path.rfind("[]") + 2] if "[]" in field.path else ""
        fields_by_list.setdefault(holder, []).append(field)
    return fields_by_list


def _get_path_within(field: AnswerField, list_path: str) -> str:
    return field.path[len(list_path) :].removeprefix(".")


def _enter_response(
    draft: SentenceDraft, function: OfferedFunction, name: str, search_terms: tuple[tuple[Parameter, str], ...]
) -> Iterator[SentenceDraft]:
    """Yield the drafts over a response: over its single values, each of its lists, and one item of each list."""
    call = len(draft.functions) - 1
    fields_by_list = _group_by_list(function.fields)
    if fields_by_list.get(""):
        scalar_fields = tuple(
            AvailableField(one, f"{name}.{one.path}" if one.path else name, function, call)
            for one in fields_by_list[""]
        )
        yield replace(
            draft, available=(*draft.available, *scalar_fields), list_path="", is_paired=False, search_terms=()
        )
    for list_path, fields in fields_by_list.items():
        if not list_path:
            continue
        full_path = f"{name}{'.' if not list_path.startswith('[') else ''}{list_path}"
        # A nested list is reached through all outer items and keeps its brackets; an outermost list is one value.
        full_path = full_path if list_path.count("[]") > 1 else full_path[:-2]
        items = tuple(
            AvailableField(
                one, f"item.{within}" if (within := _get_path_within(one, list_path)) else "item", function, call
            )
            for one in fields
        )
        items += tuple(_list_nested_fields(list_path, fields_by_list, function, call))
        listed = replace(draft, list_path=full_path, is_paired=False, available=items, search_terms=search_terms)
        yield replace(listed, loss=listed.loss + 0.15 * listed.is_search_result)
        yield from _pick_one(listed, draft.available)


def _list_nested_fields(
    list_path: str, fields_by_list: Mapping[str, list[AnswerField]], function: OfferedFunction, call: int
) -> Iterator[AvailableField]:
    """Yield the fields of lists within the items of a list."""
    for inner_path, fields in fields_by_list.items():
        if inner_path.startswith(list_path) and inner_path != list_path:
            yield from (
                AvailableField(replace(one, is_listed=True), f"item.{_get_path_within(one, list_path)}", function, call)
                for one in fields
            )


def _pick_one(listed: SentenceDraft, before: tuple[AvailableField, ...]) -> Iterator[SentenceDraft]:
    """Pick one item of the list at hand: the one whose name was searched for, else the first."""
    for parameter, text in listed.search_terms:
        field = find_name_field(parameter, listed)
        if field is not None:
            name = listed.make_name("found")
            step = Pick(do="pick", name=name, of=listed.list_path, field=field.path, like=_escape_braces(text))
            yield to_single(
                replace(listed, steps=(*listed.steps, step), echoed_fields=(*listed.echoed_fields, field.field)),
                name,
                before,
            )
            return
    name = listed.make_name("first")
    step = First(do="first", name=name, of=listed.list_path)
    yield to_single(replace(listed, steps=(*listed.steps, step), loss=listed.loss + 0.3), name, before)


def find_name_field(parameter: Parameter, listed: SentenceDraft) -> AvailableField | None:
    """Find the field of an item that holds the name by which the list was searched; None if there is none."""
    text_fields = [
        one
        for one in listed.available
        if one.field.output.type == "string" and not one.field.is_identity and "[]" not in one.path
    ]
    name_field = next((one for one in text_fields if one.field.is_name), None)
    parameter_words, need = frozenset(split_words(parameter.name)), derive_need(parameter)
    echo = next(
        (
            one
            for one in text_fields
            if set(split_words(one.field.name)) <= parameter_words
            or split_words(one.field.name)[-1:] == split_words(parameter.name)[-1:]
        ),
        None,
    )
    if name_field is None or echo is name_field:
        return echo
    if echo is None and (
        need.kind == "query"
        or set(split_words(name_field.field.name)[:-1]) & parameter_words
        or (set(split_words(name_field.field.name)) - {"name"}) & need.description_words
    ):
        return name_field
    return None


def to_single(draft: SentenceDraft, name: str, before: tuple[AvailableField, ...] = ()) -> SentenceDraft:
    """Return the draft after a step that turned its list into one thing with this name.

    ``before``: fields at hand before the list.
    """
    item_fields = tuple(
        replace(one, path=_rebase_path(one.path, name, is_paired=draft.is_paired)) for one in draft.available
    )
    return replace(draft, list_path="", is_paired=False, available=(*before, *item_fields), search_terms=())


def _rebase_path(path: str, name: str, *, is_paired: bool) -> str:
    """Return a path within an item as a path from the item's new name."""
    if is_paired:
        return f"{name}.{path}"
    rest = path.removeprefix("item")
    return f"{name}{rest}"


def _enter_results(
    draft: SentenceDraft, function: OfferedFunction, name: str, *, is_searched: bool
) -> Iterator[SentenceDraft]:
    """Yield the drafts over the responses of a call for each item: as pairs, or as one list of all results."""
    call = len(draft.functions) - 1
    item_fields = tuple(replace(one, path=f"item.{one.path}") if draft.is_paired else one for one in draft.available)
    fields_by_list = _group_by_list(function.fields)
    if fields_by_list.get(""):
        result_fields = tuple(
            AvailableField(one, f"result.{one.path}" if one.path else "result", function, call)
            for one in fields_by_list[""]
        )
        yield replace(draft, list_path=name, is_paired=True, available=(*item_fields, *result_fields), search_terms=())
    for list_path, fields in fields_by_list.items():
        if not list_path:
            continue
        inner_path = list_path.removesuffix("[]")
        if is_searched and list_path.count("[]") == 1:
            first_path = f"result.{inner_path}[0]" if inner_path else "result[0]"
            result_fields = tuple(
                AvailableField(
                    one,
                    f"{first_path}.{within}" if (within := _get_path_within(one, list_path)) else first_path,
                    function,
                    call,
                )
                for one in fields
            )
            yield replace(
                draft, list_path=name, is_paired=True, available=(*item_fields, *result_fields), search_terms=()
            )
        full_path = f"{name}[].result.{list_path}" if inner_path else f"{name}[].result[]"
        items = tuple(
            AvailableField(
                one, f"item.{within}" if (within := _get_path_within(one, list_path)) else "item", function, call
            )
            for one in fields
        )
        yield replace(draft, list_path=full_path, is_paired=False, available=items, search_terms=())
