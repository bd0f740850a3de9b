"""How drafts end: which fields answer, how many there are, what they come to together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.programs.grammar.sentence import Figure, Join, Step
from graph.identifiers import words
from offline.sentences.drafts import Draft, Seen
from offline.sentences.scene import Scene

_MOST_FIELDS = 4
_ASIDE = 0.5


@dataclass(frozen=True, slots=True)
class End:
    """A draft with its answer. ``answers``: the fields that are told; ``figures``: what is worked out."""

    draft: Draft
    steps: tuple[Step, ...]
    text: str
    answers: tuple[Seen, ...]
    figure: str = ""
    label: tuple[Seen, ...] = ()


def ends(draft: Draft, scene: Scene) -> Iterator[End]:
    """The ways to answer from what is at hand."""
    if draft.many:
        yield from _of_list(draft, scene)
    else:
        yield from _of_one(draft, scene)


def _of_one(draft: Draft, scene: Scene) -> Iterator[End]:
    yield from _counted(draft, scene)
    last = len(draft.functions) - 1
    best = _telling(draft.seen, scene, last)
    for picked in best:
        text = (
            "; ".join(f"{_label(one)}: {{{one.path}}}" for one in picked)
            if len(picked) > 1
            else f"{{{picked[0].path}}}"
        )
        name = next(
            (one for one in draft.seen if one.field.names and one.call == picked[0].call and one not in picked), None
        )
        yield End(
            draft, draft.steps, f"{{{name.path}}}: {text}" if name else text, picked, label=(name,) if name else ()
        )


def _counted(draft: Draft, scene: Scene) -> Iterator[End]:
    """How many values a field holds."""
    for one in draft.seen:
        if one.field.listed and one.call == draft.last and "count" in scene.said.figures:
            step = Figure(do="count", name=draft.name("number"), of=one.path)
            yield End(draft, (*draft.steps, step), f"{{{step.name}}}", (one,), "sum")


def _of_list(draft: Draft, scene: Scene) -> Iterator[End]:
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
    """The path of a field in all items of the list at hand."""
    of = draft.many if draft.many.endswith("[]") else f"{draft.many}[]"
    rest = one.path if draft.paired else one.path.removeprefix("item").removeprefix(".")
    return f"{of}.{rest}" if rest else of


def _telling(seen: Sequence[Seen], scene: Scene, last: int) -> Iterator[tuple[Seen, ...]]:
    """The fields that say what is asked: the best for what one word asks, with the best for the others."""
    rated = [
        (one, [strength * (1.0 if one.call == last else 0.9) for strength in scene.of_field(one.field)])
        for one in seen
        if not one.field.identity or _asked_by_name(one, scene)
    ]
    if not rated:
        return
    first = sorted(rated, key=lambda pair: -sum(pair[1]))[:4]
    for one, strengths in first:
        if max(strengths, default=0.0) <= 0.0:
            continue
        picked, covered = [one], list(strengths)
        yield (one,)
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
            covered = [max(a, b) for a, b in zip(covered, dict((id(s), o) for s, o in rated)[id(more)], strict=True)]
            yield tuple(picked)
    named = [one for one, _ in rated if one.field.names or one.field.path in ("", "[]")]
    if named:
        yield (named[-1],)


def _asked_by_name(one: Seen, scene: Scene) -> bool:
    own = frozenset(words(one.field.name))
    return any(unit.own & own for unit in scene.said.units)


def _label(one: Seen) -> str:
    return " ".join(words(one.field.name))
