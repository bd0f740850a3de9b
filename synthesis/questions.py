"""Template questions of intents, in plain English made of the documents' words; inputs stand in braces."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.parameters.kinds import names_person
from agent.parameters.needs import need_of
from domain.tool import Parameter
from graph.identifiers import words
from graph.response_fields import OutputField, output_fields
from synthesis.documents import called, told_by
from synthesis.intents import Course, Intent
from synthesis.nouns import (
    described_field,
    described_thing,
    described_tool,
    fed_noun,
    held_noun,
    inner_noun,
    parameter_noun,
    plural,
    told_noun,
    tool_noun,
)
from synthesis.sentences import Input

_AT = {
    "organization": "at",
    "place": "in",
    "country": "in",
    "year": "in",
    "date": "on",
    "language": "in",
    "person": "by",
}
"""Prepositions that join a value to what it describes, by kind of value."""
_LOOKED_FOR = frozenset({"q", "query", "search", "keyword", "term", "phrase"})
"""Names of inputs that say only that something is searched for."""
_TELLS = frozenset({"is", "are", "was", "were", "has", "have", "had", "can", "does", "did", "will", "should", "supports", "allows", "requires"})  # fmt: skip
"""Verbs that names of boolean fields begin with."""


@dataclass(frozen=True, slots=True)
class _Words:
    """The nouns of a question."""

    what: str
    """Noun for the field that is asked for."""
    thing: str
    """Noun for what holds the field; empty where that is the subject itself."""
    rest: str
    """Phrase for whose it is, from the last thing back to the subject."""
    joint: str = " of "
    """Text that joins ``thing`` and ``rest``."""

    @property
    def one(self) -> str:
        """The holder in the singular, with its owners."""
        return self.joint.join(part for part in (self.thing, self.rest) if part)

    @property
    def things(self) -> str:
        """The holders in the plural, with their owners."""
        return self.joint.join(part for part in (plural(self.thing), self.rest) if part)


def questions(intent: Intent, inputs: Sequence[Input]) -> tuple[str, ...]:
    """Render one question and up to three others that ask the same, in the words of the documents."""
    plain, other = _words(intent, inputs, plainly=True), _words(intent, inputs, plainly=False)
    match intent.asked:
        case "count":
            asked = _how_many(intent, plain, other)
        case "most" | "least":
            asked = _which_one(intent, plain, other)
        case "where":
            asked = _which_ones(intent, plain, other, inputs)
        case _:
            asked = _what(intent, plain, other, _words(intent, inputs, plainly=True, barely=True))
    return tuple(dict.fromkeys(one[:1].upper() + one[1:] for one in asked))


def _what(intent: Intent, plain: _Words, other: _Words, barely: _Words) -> tuple[str, ...]:
    """Render the questions for a value, for all values, or for the first one."""
    several = intent.asked == "all" and _several(intent)
    first = "first " if intent.asked == "first" else ""

    def whole(told: _Words) -> str:
        if first and intent.course.output.endswith("[]"):
            return _of(f"the first {plain.what}", f"the {told.thing}" if told.thing else "", told.rest)
        what = plural(told.what) if several else told.what
        things = plural(told.thing) if _several_things(intent) and told.thing else told.thing
        return _of(f"the {what}", f"the {first}{things}" if told.thing else "", told.rest)

    if not several and _is_boolean(intent):
        return _whether(plain, other)
    verb = "are" if several else "is"
    return (
        f"What {verb} {whole(plain)}?",
        f"Tell me {whole(other)}.",
        _named_things(intent, plain) if several else f"I would like to know {whole(barely)}.",
        f"Please find {whole(other)} for me.",
    )


def _is_boolean(intent: Intent) -> bool:
    field = _field(intent, intent.course.output)
    return intent.asked == "all" and field is not None and field.type == "boolean"


def _whether(plain: _Words, other: _Words) -> tuple[str, ...]:
    """Render questions for a field that is true or false: whether something *is fixed*, or *is mobile*."""
    told, otherwise = (
        f"{_of(f'the {one.thing}' if one.thing else '', one.rest)} {one.what if one.what.split()[0] in _TELLS else f'is {one.what}'}"
        for one in (plain, other)
    )
    return (
        f"Is it true that {told}?",
        f"Tell me whether {otherwise}.",
        f"I would like to know whether {told}.",
        f"Please find out whether {otherwise}.",
    )


def _named_things(intent: Intent, plain: _Words) -> str:
    """Render the request for all items of a list by name, or for all values of the field."""
    label = called(intent.last, intent.course.output)
    if label is None or label.path != intent.course.output or not plain.thing:
        return (
            f"List {_of(f'the {plural(plain.what)}', f'the {plural(plain.thing)}' if plain.thing else '', plain.rest)}."
        )
    things = _of(f"the {plural(plain.thing)}", plain.rest)
    return f"Who are {things}?" if names_person(frozenset(words(plain.thing))) else f"List {things}."


def _how_many(intent: Intent, plain: _Words, other: _Words) -> tuple[str, ...]:
    """Render the questions for a number of things."""
    if plain.joint == " of " and plain.rest:
        have = f"How many {plural(other.thing)} {'do' if intent.many else 'does'} {other.rest} have?"
    else:
        have = f"Tell me how many {other.things} there are."
    return (
        f"How many {plain.things} are there?",
        f"What is the number of {other.things}?",
        f"Count the {plain.things}.",
        have,
    )


def _which_one(intent: Intent, plain: _Words, other: _Words) -> tuple[str, ...]:
    """Render the questions for the thing with the most or the least of a number."""
    timed = words(intent.by.rpartition(".")[2])[-1:] in (("year",), ("date",), ("time",))
    ways = ("latest", "earliest") if timed else ("highest", "lowest")
    way = ways[intent.asked == "least"]
    return (
        f"Which {plain.one} has the {way} {plain.what}?",
        f"Among the {other.things}, which one has the {way} {other.what}?",
        f"Find the {plain.one} that has the {way} {plain.what}.",
        f"Tell me which of the {other.things} has the {way} {other.what}.",
    )


def _which_ones(intent: Intent, plain: _Words, other: _Words, inputs: Sequence[Input]) -> tuple[str, ...]:
    """Render the questions for the things with a value that the user states."""
    field = _field(intent, intent.by)
    named = inner_noun(field) if field else ""
    named = named or tool_noun(intent.last, _known(intent.course, len(intent.course.walk.tools) - 1)) or "value"
    value = f"{named} {{{inputs[-1].name}}}"
    return (
        f"Which {plain.things} have the {value}?",
        f"Find the {other.things} that have the {value}.",
        f"List the {plain.things} whose {named} is {{{inputs[-1].name}}}.",
        f"Among the {other.things}, which have the {value}?",
    )


def _several(intent: Intent) -> bool:
    course = intent.course
    return intent.many or "[]" in course.within(len(course.walk.tools) - 1, course.output)


def _several_things(intent: Intent) -> bool:
    """Return whether the field is asked for of several things, rather than being a list of one thing."""
    course = intent.course
    path = course.within(len(course.walk.tools) - 1, course.output)
    return intent.asked == "all" and (intent.many or "[]" in path.removesuffix("[]"))


def _of(first: str, *others: str) -> str:
    return " of ".join(one for one in (first, *others) if one)


def _words(intent: Intent, inputs: Sequence[Input], *, plainly: bool, barely: bool = False) -> _Words:
    """Build the nouns of a question.

    ``by_name``: use names only; otherwise descriptions, where they give a phrase. ``bare_names``: people by their
    names alone.
    """
    course, doc = intent.course, intent.last
    last = len(course.walk.tools) - 1
    field = _field(intent, course.output)
    known = _known(course, last)
    subject = _subject(course, inputs, plainly=plainly, barely=barely)
    chain = _chain(intent, plainly=plainly)
    thing = held_noun(doc, course.output, known)
    if not plainly and thing and thing == tool_noun(doc, known):
        thing = _singular_as(thing, described_tool(doc))
    what = told_noun(doc, field, thing) if field else thing
    if not plainly and field is not None:
        what = described_field(doc, field) or what
    what = what or "entry"
    if intent.asked in ("all", "first"):
        if intent.asked == "first" and not last and not course.output.endswith("[]"):
            named = thing if _one_is_named(course) else _headed(course, plainly=plainly)
            rest = subject if _one_is_named(course) else _conditions_of(course, inputs)
            return _Words(
                what,
                named if _one_is_named(course) or not rest else f"{named} {rest}",
                "" if not _one_is_named(course) else rest,
            )
        own = not last or course.looks_up(last, course.output) or what in (thing, f"number of {plural(thing)}")
        return _Words(what, "" if own else thing, _of("", *map(str, chain), subject))
    if intent.asked == "count" and course.output.endswith("[]"):
        held = f"the {plural(thing) if '[]' in course.output[:-2] else thing}"
        held = held if last and thing and what != thing else ""
        return _Words(what, what, _of("", held, *map(str, chain), subject))
    fed = _tells_of_fed(intent)
    if fed and chain:
        return _Words(what, chain[0].noun, _of("", *map(str, chain[1:]), subject))
    if not thing or not last or fed:
        return _Words(what, _headed(course, plainly=plainly), _conditions_of(course, inputs), " ")
    return _Words(what, thing, _of("", *map(str, chain), subject))


def _one_is_named(course: Course) -> bool:
    """Return whether the user names one thing that holds a list.

    Otherwise the user states a property of all items of the first list.
    """
    return course.single() or not _listed(course)


def _tells_of_fed(intent: Intent) -> bool:
    """Return whether the question is about the things that the last tool is called for, not items of its response."""
    course = intent.course
    path = course.within(len(course.walk.tools) - 1, course.output)
    return intent.many and ("[]" not in path or (intent.asked == "where" and path.endswith("[]")))


def _listed(course: Course) -> str:
    """Return the list of things in the first response that the walk continues from; empty where that is one thing."""
    path = course.fed_by(1)[0].field if len(course.walk.tools) > 1 else course.output
    part_of_one = not path.startswith("[]") and (path.endswith("[]") or called(course.walk.head, "x") is not None)
    return path if "[]" in path and not part_of_one else ""


@dataclass(frozen=True, slots=True)
class _Way:
    """A thing between the subject and what is asked for."""

    noun: str
    first: bool
    """True if only the first of them is meant."""
    several: bool
    """True if several of them are meant."""

    def __str__(self) -> str:
        return f"the {'first ' if self.first else ''}{plural(self.noun) if self.several else self.noun}"


def _singular_as(noun: str, described: str) -> str:
    """Return a description's phrase in the grammatical number of a noun."""
    return (
        described.removesuffix("s")
        if described.endswith("s") and not described.endswith("ss") and not noun.endswith("s")
        else described or noun
    )


def _known(course: Course, number: int) -> tuple[str, ...]:
    return tuple(feed.parameter for feed in course.walk.into(course.walk.path[number])) if number else ()


def _field(intent: Intent, path: str) -> OutputField | None:
    return next((one for one in output_fields(intent.last) if one.path == path), None)


def _chain(intent: Intent, *, plainly: bool) -> list[_Way]:
    """List the things between subject and requested field, from the last one back.

    Examples are ``the first co-author`` and ``the authors``. Things that the subject names itself are left out.
    """
    course = intent.course
    found: list[_Way] = []
    several = False
    for number in range(1, len(course.walk.tools)):
        taken, before = intent.taken[number - 1], course.walk.tools[number - 1]
        several = several or taken == "each"
        known = _known(course, number - 1)
        noun = fed_noun(before, course.fed_by(number), known)
        if number == 1:
            referred, of, _ = noun.partition(" of the ")
            noun = referred if of else ""
        elif not plainly and noun and noun == tool_noun(before, known):
            noun = _singular_as(noun, described_tool(before))
        if noun and not (found and found[-1].noun == noun):
            found.append(_Way(noun, taken == "first", several))
    return found[::-1]


def _headed(course: Course, *, plainly: bool) -> str:
    """Return the noun for one of the things that the first function finds."""
    outer, listed, _ = _listed(course).partition("[]")
    named = held_noun(course.walk.head, f"{outer}[].x" if listed else "")
    label = _label_input(course)
    told = described_thing(label) if label is not None and not plainly else ""
    return told or named or "entry"


def _label_input(course: Course) -> Parameter | None:
    """Find the input that holds the name of the thing that is looked for."""
    head = course.walk.head
    for one in course.said(head.id):
        field = told_by(head, one.parameter)
        label = called(head, field.path) if field is not None else None
        if field is not None and label is not None and label.path == field.path:
            return one.parameter
    return None


def _subject(course: Course, inputs: Sequence[Input], *, plainly: bool, barely: bool) -> str:
    """Render the subject: one thing by its name and conditions, or all things that meet the conditions."""
    label = _label_input(course) if course.single() else None
    head = _headed(course, plainly=plainly)
    rest = _conditions_of(course, inputs, without=label)
    if label is not None:
        name = next(one.name for one in inputs if one.parameter.name == label.name and one.said)
        kind = () if barely and names_person(frozenset(words(head))) else ("the", head)
        return " ".join(part for part in (*kind, f"{{{name}}}", rest) if part)
    if _listed(course):
        return " ".join(part for part in ("the", plural(head), rest) if part)
    return _asked_for(course, inputs)


def _asked_for(course: Course, inputs: Sequence[Input]) -> str:
    """Render what a function without a list is called for."""
    texts = [one for one in inputs if one.said and one.parameter.type == "string" and not course.walk.twice]
    if len([one for one in inputs if one.said]) == 1 and texts:
        return f"{{{texts[0].name}}}"
    noun = tool_noun(course.walk.head)
    return " ".join(part for part in ("the", noun or "entry", _conditions_of(course, inputs)) if part)


def _conditions_of(course: Course, inputs: Sequence[Input], without: Parameter | None = None) -> str:
    """Render the other inputs as conditions: ``at {organization}``, ``with the interest {interest}``."""
    told: list[str] = []
    others = [one for one in inputs if one.said and (without is None or one.parameter.name != without.name)]
    nouns = [parameter_noun(one.parameter) for one in others]
    for one, noun in zip(others, nouns, strict=True):
        need, alone = need_of(one.parameter), nouns.count(noun) == 1
        word = "for" if set(words(one.parameter.name)) <= _LOOKED_FOR else _AT.get(need.kind)
        if word and alone and not need.role:
            told.append(f"{word} {{{one.name}}}")
        else:
            joint = "and" if told and told[-1].startswith(("with", "and")) else "with"
            told.append(
                f"{joint} the {noun if alone and not course.walk.twice else one.said.replace('_', ' ')} {{{one.name}}}"
            )
    return " ".join(told)
