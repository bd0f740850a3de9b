"""Drafts of sentences: the steps so far, what is at hand after them, and what of the request they cover."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from agent.parameters.needs import need_of
from agent.programs.grammar.sentence import Argument, Call, First, ForEach, Listed, Pick, Step, Value
from domain.tool import Parameter
from graph.identifiers import words
from offline.nlp.entities import Span
from offline.sentences.fields import Field
from offline.sentences.inputs import Function, Given, Inputs, called_so
from offline.sentences.scene import Scene

MOST_TOOLS = 3
MOST_CALLS = 4
_COUPLED = 0.6
_NAMED_KINDS = frozenset({"query", "entity", "person", "place", "organization", "symbol", "country", "text"})


@dataclass(frozen=True, slots=True)
class Seen:
    """A field that is at hand after some steps."""

    field: Field
    path: str
    """Absolute path, or, where a list is at hand, the path within its item."""
    function: Function | None
    call: int
    """Number of the call that answered it, from 0."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence under construction."""

    steps: tuple[Step, ...] = ()
    seen: tuple[Seen, ...] = ()
    """Fields at hand."""
    many: str = ""
    """Path of the list at hand; empty where single things are at hand."""
    paired: bool = False
    """True if the list's items are pairs of an item and the result of a call for it."""
    functions: tuple[Function, ...] = ()
    used: tuple[Span, ...] = ()
    """Spans of the request that are used."""
    ranked: frozenset[int] = frozenset()
    """Numbers of the superlatives that are used."""
    bounded: frozenset[int] = frozenset()
    """Numbers of the bounds that are used."""
    decided: tuple[Field, ...] = ()
    """Fields by which things were ranked or filtered."""
    echoed: tuple[Field, ...] = ()
    """Fields that only repeat a name that was searched for."""
    asked: tuple[tuple[Function, str], ...] = ()
    """Functions with the parameters that the request filled."""
    loss: float = 0.0
    """Cost of uncertain choices; 0 is none."""
    naming: tuple[tuple[Parameter, str], ...] = ()
    """Parameters and values that the list was searched by, until one of its items is picked."""
    placed: frozenset[int] = frozenset()
    """Numbers of the ordinals that are used."""

    @property
    def hits(self) -> bool:
        """True if the list at hand was found by searching for one thing by its name."""
        return any(names_item(parameter, self) for parameter, _ in self.naming)

    @property
    def last(self) -> int:
        """Number of the last call."""
        return len(self.functions) - 1

    def free(self, span: Span) -> bool:
        """Return whether no used span overlaps this one."""
        return not any(span.overlaps(other) for other in self.used)

    def name(self, wanted: str) -> str:
        """Return a name for a step that no other step has."""
        taken = {step.name for step in self.steps}
        return next(
            one for number in range(1, 99) if (one := wanted if number == 1 else f"{wanted}_{number}") not in taken
        )


def begun(function: Function, scene: Scene) -> Iterator[Draft]:
    """Yield the drafts of one call that takes everything it needs from the request."""
    for way in scene.inputs(function):
        if way.listed is not None:
            yield from _over_values(function, way)
        else:
            yield from _called(Draft(), function, way.given, {}, way.loss)


def called_next(draft: Draft, function: Function, scene: Scene) -> Iterator[Draft]:
    """Yield a draft with one more call, which takes something of what is at hand."""
    if len({*draft.functions, function}) > MOST_TOOLS or len(draft.functions) >= MOST_CALLS:
        return
    if sum(one is function for one in draft.functions) > 1:
        return
    if draft.many and draft.hits:
        return
    for linked, loss in _links(draft, function, scene):
        again = any((function, name) in draft.asked for name in linked)
        if again and not scene.said.repeats and not (draft.many and draft.functions[-1] is not function):
            continue  # it was called with what the request says already
        for way in scene.inputs(function, frozenset(linked)):
            spans = [span for one in way.given.values() for span in one.spans]
            if way.listed is None and all(draft.free(span) for span in spans):
                if draft.many:
                    yield from _each(draft, function, way.given, linked, loss + way.loss)
                else:
                    yield from _called(draft, function, way.given, linked, loss + way.loss)


def _links(draft: Draft, function: Function, scene: Scene) -> Iterator[tuple[dict[str, Seen], float]]:
    """Yield the parameters that fields at hand fit, with these fields and the loss.

    All required parameters are linked that can be; without any, one that is searched by name.
    """
    linked: dict[str, Seen] = {}
    loss = 0.0
    for name, parameter in function.parameters.items():
        if not parameter.required:
            continue
        best = _source(draft, function, parameter, scene)
        if best is not None:
            linked[name], score = best
            roles = need_of(parameter).role
            if roles and any(
                other.path == best[0].path and need_of(function.parameters[key]).role not in ("", roles)
                for key, other in linked.items()
                if key != name
            ):
                return  # nothing is measured from a thing to itself
            loss += 1 - score
    if linked:
        if any(one.call == draft.last for one in linked.values()) or _chosen_by_last(draft):
            yield linked, loss
        return
    for name, parameter in function.parameters.items():
        kind = need_of(parameter).kind
        own = [
            one
            for one in draft.seen
            if one.call == draft.last
            and one.function
            and one.function is not function
            and words(one.field.name)[-1:] == ("name",)
            and one.function.doc.toolset == function.doc.toolset
        ]
        if kind in _NAMED_KINDS and own and words(parameter.name)[-1:] == ("name",):
            yield {name: own[-1]}, 0.3


def _chosen_by_last(draft: Draft) -> bool:
    """Return whether the last call's response has already served to choose the thing at hand."""
    own = draft.functions[-1].fields
    return bool(draft.ranked) and not draft.many and any(one in own for one in draft.decided)


def _source(draft: Draft, function: Function, parameter: Parameter, scene: Scene) -> tuple[Seen, float] | None:
    """Find what at hand fits a parameter best, and prefer what was answered last."""
    found: list[tuple[float, int, Seen]] = []
    for seen in draft.seen:
        if seen.function is None or (seen.function is function and not scene.said.repeats):
            continue
        score = scene.link(seen.function, seen.field, function, parameter)
        if score >= _COUPLED:
            found.append((score, int(seen.call == draft.last), seen))
    if not found:
        return None
    score, _, best = max(found, key=lambda one: (one[1], one[0]))
    return best, score


# -- calls


def _called(
    draft: Draft, function: Function, given: Mapping[str, Given], linked: Mapping[str, Seen], loss: float
) -> Iterator[Draft]:
    """Append a call, and yield the drafts over its response."""
    name = draft.name(function.name)
    arguments = _arguments(given, {key: f"{{{one.path}}}" for key, one in linked.items()})
    after = _with_call(
        draft, function, Call(do="call", name=name, function=function.name, arguments=arguments), given, loss
    )
    naming = tuple(
        (parameter, str(given[key].value))
        for key, parameter in function.parameters.items()
        if key in given
        and given[key].spans
        and given[key].spans[0].kind != "phrase"
        and need_of(parameter).kind in _NAMED_KINDS
        and f"{{{parameter.name}}}/" not in function.doc.url  # what is said of lists beneath it is their holder's name
    )
    yield from _answered(after, function, name, naming)


def _each(
    draft: Draft, function: Function, given: Mapping[str, Given], linked: Mapping[str, Seen], loss: float
) -> Iterator[Draft]:
    """Append a call for each item of the list at hand, and yield the drafts over the responses."""
    name = draft.name(f"each_{function.name}")
    arguments = _arguments(given, {key: f"{{{one.path}}}" for key, one in linked.items()})
    step = ForEach(do="for_each", name=name, of=draft.many, function=function.name, arguments=arguments)
    after = _with_call(draft, function, step, given, loss)
    searched = any(words(key)[-1:] == ("name",) for key in linked)
    yield from _paired(after, function, name, searched=searched)


def _over_values(function: Function, way: Inputs) -> Iterator[Draft]:
    """Yield drafts with one call for each of several values."""
    if way.listed is None:
        return
    key, readings = way.listed
    values = Listed(
        do="list",
        name="values",
        values=[one.value if isinstance(one.value, (int, float)) else str(one.value) for one in readings],
    )
    each = Draft(steps=(values,), many="values", used=tuple(one.span for one in readings))
    name = f"each_{function.name}"
    step = ForEach(
        do="for_each", name=name, of="values", function=function.name, arguments=_arguments(way.given, {key: "{item}"})
    )
    after = _with_call(each, function, step, way.given, 0.0)
    after = replace(after, asked=(*after.asked, (function, key)))
    items = tuple(Seen(one, f"item.{one.path}", function, 0) for one in function.fields if one.path.count("[]") == 1)
    named = names_item(
        function.parameters[key], Draft(many="values", seen=tuple(replace(one, path="item") for one in items))
    )
    yield from _paired(after, function, name, searched=named is not None)


def _arguments(given: Mapping[str, Given], linked: Mapping[str, str]) -> list[Argument]:
    made: dict[str, Value] = {name: _written(one.value) for name, one in given.items()}
    return [Argument(parameter=name, value=value) for name, value in {**made, **linked}.items()]


def _written(value: object) -> Value:
    """Return a constant as the grammar takes it: braces are not paths."""
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, list):
        return [one if isinstance(one, (int, float)) else str(one) for one in cast("list[object]", value)]
    return str(value)


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _with_call(draft: Draft, function: Function, step: Step, given: Mapping[str, Given], loss: float) -> Draft:
    """Append a call's step, with the spans and parameters that it uses and the cost of weak values."""
    spans = tuple(span for one in given.values() for span in one.spans)
    asked = tuple((function, key) for key, one in given.items() if one.spans)
    weak = sum(0.6 * (1 - one.likeness) for one in given.values() if one.spans)
    weak -= sum(called_so(span, function.own) for one in given.values() for span in one.spans)
    return replace(
        draft,
        steps=(*draft.steps, step),
        functions=(*draft.functions, function),
        used=(*draft.used, *spans),
        asked=(*draft.asked, *asked),
        loss=draft.loss + loss + weak,
    )


# -- what calls answer


def _places(fields: tuple[Field, ...]) -> dict[str, list[Field]]:
    """Group the fields of a response by the list that holds them; those of no list under an empty path."""
    found: dict[str, list[Field]] = {}
    for one in fields:
        holder = one.path[: one.path.rfind("[]") + 2] if "[]" in one.path else ""
        found.setdefault(holder, []).append(one)
    return found


def _within(one: Field, place: str) -> str:
    return one.path[len(place) :].removeprefix(".")


def _answered(
    draft: Draft, function: Function, name: str, naming: tuple[tuple[Parameter, str], ...]
) -> Iterator[Draft]:
    """Yield the drafts over a response: its single values, each of its lists, and one item of each list."""
    call = len(draft.functions) - 1
    places = _places(function.fields)
    if places.get(""):
        single = tuple(Seen(one, f"{name}.{one.path}" if one.path else name, function, call) for one in places[""])
        yield replace(draft, seen=(*draft.seen, *single), many="", paired=False, naming=())
    for place, fields in places.items():
        if not place:
            continue
        of = f"{name}{'.' if not place.startswith('[') else ''}{place}"
        # A nested list is reached through all outer items and keeps its brackets; an outermost list is one value.
        of = of if place.count("[]") > 1 else of[:-2]
        items = tuple(
            Seen(one, f"item.{within}" if (within := _within(one, place)) else "item", function, call) for one in fields
        )
        items += tuple(_nested(place, places, function, call))
        listed = replace(draft, many=of, paired=False, seen=items, naming=naming)
        yield replace(listed, loss=listed.loss + 0.15 * listed.hits)
        yield from _one_of(listed, draft.seen)


def _nested(place: str, places: Mapping[str, list[Field]], function: Function, call: int) -> Iterator[Seen]:
    """Yield the fields of lists within the items of a list."""
    for other, fields in places.items():
        if other.startswith(place) and other != place:
            yield from (
                Seen(replace(one, listed=True), f"item.{_within(one, place)}", function, call) for one in fields
            )


def _one_of(listed: Draft, before: tuple[Seen, ...]) -> Iterator[Draft]:
    """Pick one item of a list: the one whose name was searched for, else the first."""
    for parameter, text in listed.naming:
        field = names_item(parameter, listed)
        if field is not None:
            name = listed.name("found")
            step = Pick(do="pick", name=name, of=listed.many, field=field.path, like=_plain(text))
            yield single(
                replace(listed, steps=(*listed.steps, step), echoed=(*listed.echoed, field.field)), name, before
            )
            return
    name = listed.name("first")
    step = First(do="first", name=name, of=listed.many)
    yield single(replace(listed, steps=(*listed.steps, step), loss=listed.loss + 0.3), name, before)


def names_item(parameter: Parameter, listed: Draft) -> Seen | None:
    """Find the item field that a list was searched by, if it is the item's name."""
    texts = [
        one
        for one in listed.seen
        if one.field.output.type == "string" and not one.field.identity and "[]" not in one.path
    ]
    named = next((one for one in texts if one.field.names), None)
    own, need = frozenset(words(parameter.name)), need_of(parameter)
    echo = next(
        (
            one
            for one in texts
            if set(words(one.field.name)) <= own or words(one.field.name)[-1:] == words(parameter.name)[-1:]
        ),
        None,
    )
    if named is None or echo is named:
        return echo
    if echo is None and (
        need.kind == "query"
        or set(words(named.field.name)[:-1]) & own
        or (set(words(named.field.name)) - {"name"}) & need.described
    ):
        return named
    return None


def single(draft: Draft, name: str, before: tuple[Seen, ...] = ()) -> Draft:
    """Return a draft whose list has become one thing with this name."""
    own = tuple(replace(one, path=_rooted(one.path, name, paired=draft.paired)) for one in draft.seen)
    return replace(draft, many="", paired=False, seen=(*before, *own), naming=())


def _rooted(path: str, name: str, *, paired: bool) -> str:
    if paired:
        return f"{name}.{path}"
    rest = path.removeprefix("item")
    return f"{name}{rest}"


def _paired(draft: Draft, function: Function, name: str, *, searched: bool) -> Iterator[Draft]:
    """Yield drafts over the responses of a call for each item: as pairs, or with all their lists as one."""
    call = len(draft.functions) - 1
    outer = tuple(replace(one, path=f"item.{one.path}") if draft.paired else one for one in draft.seen)
    places = _places(function.fields)
    if places.get(""):
        own = tuple(Seen(one, f"result.{one.path}" if one.path else "result", function, call) for one in places[""])
        yield replace(draft, many=name, paired=True, seen=(*outer, *own), naming=())
    for place, fields in places.items():
        if not place:
            continue
        inner = place.removesuffix("[]")
        if searched and place.count("[]") == 1:
            first = f"result.{inner}[0]" if inner else "result[0]"
            own = tuple(
                Seen(one, f"{first}.{within}" if (within := _within(one, place)) else first, function, call)
                for one in fields
            )
            yield replace(draft, many=name, paired=True, seen=(*outer, *own), naming=())
        of = f"{name}[].result.{place}" if inner else f"{name}[].result[]"
        items = tuple(
            Seen(one, f"item.{within}" if (within := _within(one, place)) else "item", function, call) for one in fields
        )
        yield replace(draft, many=of, paired=False, seen=items, naming=())
