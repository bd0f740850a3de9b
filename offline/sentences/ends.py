"""Endings of drafts: which fields answer, how many things there are, what numbers add up to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.programs.grammar.sentence import Calculate, Figure, ForEach, Join, Listed, Ranked, Step, Where
from graph.identifiers import words
from offline.sentences.drafts import Draft, Seen
from offline.sentences.scene import Scene

_MOST_FIELDS = 4
_MOST_WHOLE = 12
_ASIDE = 0.5


@dataclass(frozen=True, slots=True)
class End:
    """A draft with its answer."""

    draft: Draft
    steps: tuple[Step, ...]
    text: str
    """Template of the answer."""
    answers: tuple[Seen, ...]
    """The fields that the answer states."""
    figure: str = ""
    """The kind of number that is computed; empty if none is."""
    label: tuple[Seen, ...] = ()
    """The field that labels the answer, if any."""


def ends(draft: Draft, scene: Scene) -> Iterator[End]:
    """Yield the ways to answer from what is at hand."""
    if draft.many:
        yield from _of_list(draft, scene)
    else:
        yield from _of_one(draft, scene)


def _of_one(draft: Draft, scene: Scene) -> Iterator[End]:
    """Yield the endings that state fields of one thing."""
    yield from _counted(draft, scene)
    last = len(draft.functions) - 1
    best = _telling(draft.seen, scene, last)
    for picked in best:
        shown = [*picked, *_ranked_by(draft, picked)]
        shown += _of_the_same(draft, shown, scene)
        text = (
            "; ".join(f"{_label(one)}: {{{one.path}}}" for one in shown) if len(shown) > 1 else f"{{{shown[0].path}}}"
        )
        label = next((one for one in _labels(draft) if one.call == picked[0].call and one not in shown), None)
        of_value = _value_chosen(draft)
        if label:
            text = f"{{{label.path}}}: {text}"
        elif of_value and not any(one.field.names for one in shown):
            text = f"{{{of_value}}}: {text}"
        steps, apart = _difference(draft, scene)
        yield End(
            draft,
            (*draft.steps, *steps),
            f"{text}{apart}",
            picked,
            "difference" if apart else "",
            label=(label,) if label else (),
        )


def _value_chosen(draft: Draft) -> str:
    """Return the path of the request's value for which the extreme was found; empty if there is none.

    There is one if one call was made for each of several values.
    """
    ranked = next((step for step in draft.steps if isinstance(step, Ranked)), None)
    if ranked is None:
        return ""
    lists = {step.name: step for step in draft.steps}
    path, of = ranked.name, lists.get(ranked.of)
    while isinstance(of, (ForEach, Where)):
        path += ".item" if isinstance(of, ForEach) else ""
        of = lists.get(of.of)
    return path if isinstance(of, Listed) else ""


def _labels(draft: Draft) -> list[Seen]:
    """Find what a thing is labelled by: its name, else its day."""
    plain = [one for one in draft.seen if "[]" not in one.path and not one.field.listed]
    named = [one for one in plain if one.field.names]
    return named + [one for one in plain if one.field.need.kind == "date"]


def _ranked_by(draft: Draft, picked: Sequence[Seen]) -> list[Seen]:
    """Find the field by which a thing was chosen, if it is not stated already."""
    ranked = any(step.do in ("most", "least") for step in draft.steps)
    return [
        one for one in draft.seen if ranked and one.field in draft.decided and one.field.numeric and one not in picked
    ][-1:]


def _of_the_same(draft: Draft, shown: Sequence[Seen], scene: Scene) -> list[Seen]:
    """Find the other fields of what is asked for as a whole.

    The last call is named by that word of the request, and none of its fields is.
    """
    function = draft.functions[-1]
    rows = [scene.of_field(one) for one in function.fields]
    whole = [
        at
        for at, unit in enumerate(scene.said.units)
        if unit.own and scene.of_function(function)[at] == 1 and max((row[at] for row in rows), default=1.0) < 1
    ]
    last = [scene.of_field(one.field) for one in shown if one.call == draft.last]
    if not any(row[at] for row in last for at in whole) or any(max(row) >= 1 for row in last):
        return []
    given = {words(name)[-1:] for name in function.parameters}
    rest = [
        one
        for one in draft.seen
        if one.call == draft.last and one.function is function and one not in shown and "[]" not in one.path
    ]
    plain = [
        one
        for one in rest
        if not one.field.identity and not one.field.paging and words(one.field.name)[-1:] not in given
    ]
    return plain[:_MOST_WHOLE]


def _difference(draft: Draft, scene: Scene) -> tuple[tuple[Step, ...], str]:
    """Build the steps for the difference between the most and the least."""
    last = draft.steps[-1] if draft.steps else None
    if "difference" not in scene.said.figures or not isinstance(last, Ranked) or not draft.decided[-1].numeric:
        return (), ""
    other = last.model_copy(update={"do": "least" if last.do == "most" else "most", "name": draft.name("other")})
    field = last.field if "item." in last.field or "result" in last.field else f"item.{last.field}"
    own, others = (f"{{{_at(one.name, field, draft)}}}" for one in (last, other))
    more, less = (own, others) if last.do == "most" else (others, own)
    apart = Calculate(do="calculate", name=draft.name("difference"), left=more, operator="-", right=less)
    return (other, apart), f"; difference: {{{apart.name}}}"


def _at(name: str, field: str, draft: Draft) -> str:
    """Return the path of an item's field once the item has a name."""
    decided = draft.decided[-1]
    path = next(one.path for one in draft.seen if one.field is decided)
    own = next(step.name for step in reversed(draft.steps) if isinstance(step, Ranked))
    return path.replace(own, name, 1) if path.startswith(own) else f"{name}.{field}"


def _counted(draft: Draft, scene: Scene) -> Iterator[End]:
    """Yield the ending that counts the values of a field."""
    for one in draft.seen:
        firsts = any(step.do == "first" for step in draft.steps)
        if one.field.listed and not firsts and one.call == draft.last and "count" in scene.said.figures:
            step = Figure(do="count", name=draft.name("number"), of=one.path)
            yield End(draft, (*draft.steps, step), f"{{{step.name}}}", (one,), "sum")


def _of_list(draft: Draft, scene: Scene) -> Iterator[End]:
    """Yield the endings that join, count, sum or average the items of a list."""
    last = len(draft.functions) - 1
    items = tuple(one for one in draft.seen)
    for picked in _telling(items, scene, last):
        name = next((one for one in reversed(items) if one.field.names and "[]" not in one.path), None)
        told = ([name] if name and name not in picked else []) + list(picked)
        text = (
            ": ".join((f"{{{told[0].path}}}", ", ".join(f"{{{one.path}}}" for one in told[1:])))
            if len(told) > 1
            else f"{{{told[0].path}}}"
        )
        join = Join(do="join", name=draft.name("told"), of=draft.many, text=text, by="; ")
        yield End(draft, (*draft.steps, join), f"{{{join.name}}}", picked, label=(name,) if name else ())
    if "count" in scene.said.figures:
        count = Figure(do="count", name=draft.name("number"), of=draft.many)
        yield End(draft, (*draft.steps, count), f"{{{count.name}}}", (), "count")
    for kind in ("sum", "average"):
        if kind in scene.said.figures:
            for one in items:
                if one.field.numeric and "[]" not in one.path and (list_of := _each_of(draft, one)):
                    step = Figure.model_validate({"do": kind, "name": draft.name(kind), "of": list_of})
                    yield End(draft, (*draft.steps, step), f"{{{step.name}}}", (one,), kind)


def _each_of(draft: Draft, one: Seen) -> str:
    """Return the path of a field over all items of the list at hand."""
    of = draft.many if draft.many.endswith("[]") else f"{draft.many}[]"
    rest = one.path if draft.paired else one.path.removeprefix("item").removeprefix(".")
    return f"{of}.{rest}" if rest else of


def _telling(seen: Sequence[Seen], scene: Scene, last: int) -> Iterator[tuple[Seen, ...]]:
    """Yield selections of fields that say what is asked: the best for one word, then with the best for others."""
    rated = [
        (one, [strength * (1.0 if one.call == last else 0.9) for strength in scene.of_field(one.field)])
        for one in seen
        if not one.field.paging and (not one.field.machine or _asked_by_name(one, scene))
    ]
    if not rated:
        return
    first = sorted(rated, key=lambda pair: -sum(pair[1]))[:4]
    for one, strengths in first:
        if max(strengths, default=0.0) <= 0.0:
            continue
        alike = [
            other for other, more in rated if more == strengths and other.call == one.call and not other.field.identity
        ]
        picked, covered = alike[:_MOST_FIELDS] if one in alike else [one], list(strengths)
        yield tuple(picked)
        while len(picked) < _MOST_FIELDS:
            gains = [
                (sum(max(0.0, b - a) for a, b in zip(covered, other, strict=True)), seen_)
                for seen_, other in rated
                if seen_ not in picked
            ]
            gain, more = max(gains, key=lambda pair: pair[0], default=(0.0, one))
            if gain < _ASIDE:
                break
            picked.append(more)
            covered = [
                max(a, b) for a, b in zip(covered, next(other for seen_, other in rated if seen_ is more), strict=True)
            ]
            yield tuple(picked)
    named = [one for one, _ in rated if one.field.names or one.field.path in ("", "[]")]
    if named:
        yield (named[-1],)


def _asked_by_name(one: Seen, scene: Scene) -> bool:
    """Return whether the request asks for an identifier by its word."""
    form = frozenset(words(one.field.name)[-1:])
    return any(unit.own & form for unit in scene.said.units)


def _label(one: Seen) -> str:
    return " ".join(words(one.field.name))
