"""Template questions of intents, in English made of the documents' words, with inputs in braces."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.parameter_needs import derive_need, mentions_person
from domain.tool import Parameter
from graph.identifiers import split_words
from graph.response_fields import OutputField, output_fields
from synthesis.field_labels import find_echo_field, find_label_field
from synthesis.intent_program import ProgramInput
from synthesis.intents import Intent, QueryPath
from synthesis.nouns import (
    describe_field,
    describe_thing,
    describe_tool,
    name_holder,
    name_item_field,
    name_parameter,
    name_requested_field,
    name_source,
    name_tool,
    pluralize,
)

_PREPOSITION_BY_KIND = {
    "organization": "at",
    "place": "in",
    "country": "in",
    "year": "in",
    "date": "on",
    "language": "in",
    "person": "by",
}
"""Prepositions that join a value to what it describes, by kind of value."""
_SEARCH_WORDS = frozenset({"q", "query", "search", "keyword", "term", "phrase"})
"""Names of inputs that say only that something is searched for."""
_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "had", "can", "does", "did", "will", "should", "supports", "allows", "requires"})  # fmt: skip
"""Verbs that names of boolean fields begin with."""


@dataclass(frozen=True, slots=True)
class _QuestionParts:
    """The nouns of a question."""

    requested: str
    """Noun for the field that is asked for."""
    holder: str
    """Noun for what holds the field; empty if that is the subject itself."""
    owners: str
    """Phrase for what ``holder`` belongs to, from the last thing back to the subject."""
    joiner: str = " of "
    """Text that joins ``holder`` and ``owners``."""

    @property
    def singular_holder(self) -> str:
        """The holder in the singular, with its owners."""
        return self.joiner.join(part for part in (self.holder, self.owners) if part)

    @property
    def plural_holders(self) -> str:
        """The holders in the plural, with their owners."""
        return self.joiner.join(part for part in (pluralize(self.holder), self.owners) if part)


def render_questions(intent: Intent, inputs: Sequence[ProgramInput]) -> tuple[str, ...]:
    """Render up to four questions that ask the same, the plainest first."""
    plain, described = _build_parts(intent, inputs, by_name=True), _build_parts(intent, inputs, by_name=False)
    match intent.kind:
        case "count":
            variants = _render_count_questions(intent, plain, described)
        case "most" | "least":
            variants = _render_extreme_questions(intent, plain, described)
        case "where":
            variants = _render_choice_questions(intent, plain, described, inputs)
        case _:
            variants = _render_what_questions(
                intent, plain, described, _build_parts(intent, inputs, by_name=True, bare_names=True)
            )
    return tuple(dict.fromkeys(variant[:1].upper() + variant[1:] for variant in variants))


def _render_what_questions(
    intent: Intent, plain: _QuestionParts, described: _QuestionParts, bare: _QuestionParts
) -> tuple[str, ...]:
    """Render the questions for a value, for all values, or for the first one."""
    is_plural = intent.kind == "all" and intent.has_several_values
    first = "first " if intent.kind == "first" else ""

    def render_requested(parts: _QuestionParts) -> str:
        if first and intent.query_path.output.endswith("[]"):
            return _join_with_of(
                f"the first {plain.requested}", f"the {parts.holder}" if parts.holder else "", parts.owners
            )
        requested = pluralize(parts.requested) if is_plural else parts.requested
        holders = pluralize(parts.holder) if _has_several_holders(intent) and parts.holder else parts.holder
        return _join_with_of(f"the {requested}", f"the {first}{holders}" if parts.holder else "", parts.owners)

    if not is_plural and _is_boolean(intent):
        return _render_whether_questions(plain, described)
    verb = "are" if is_plural else "is"
    return (
        f"What {verb} {render_requested(plain)}?",
        f"Tell me {render_requested(described)}.",
        _render_list_question(intent, plain) if is_plural else f"I would like to know {render_requested(bare)}.",
        f"Please find {render_requested(described)} for me.",
    )


def _is_boolean(intent: Intent) -> bool:
    field = _find_field(intent, intent.query_path.output)
    return intent.kind == "all" and field is not None and field.type == "boolean"


def _render_whether_questions(plain: _QuestionParts, described: _QuestionParts) -> tuple[str, ...]:
    """Render questions for a field that is true or false: whether something *is fixed*, or *is mobile*."""
    plain_statement, described_statement = (
        f"{_join_with_of(f'the {parts.holder}' if parts.holder else '', parts.owners)} {parts.requested if parts.requested.split()[0] in _VERBS else f'is {parts.requested}'}"
        for parts in (plain, described)
    )
    return (
        f"Is it true that {plain_statement}?",
        f"Tell me whether {described_statement}.",
        f"I would like to know whether {plain_statement}.",
        f"Please find out whether {described_statement}.",
    )


def _render_list_question(intent: Intent, plain: _QuestionParts) -> str:
    """Render the request for all items of a list by name, or for all values of the field."""
    label = find_label_field(intent.tail, intent.query_path.output)
    if label is None or label.path != intent.query_path.output or not plain.holder:
        return f"List {_join_with_of(f'the {pluralize(plain.requested)}', f'the {pluralize(plain.holder)}' if plain.holder else '', plain.owners)}."
    holders = _join_with_of(f"the {pluralize(plain.holder)}", plain.owners)
    return f"Who are {holders}?" if mentions_person(frozenset(split_words(plain.holder))) else f"List {holders}."


def _render_count_questions(intent: Intent, plain: _QuestionParts, described: _QuestionParts) -> tuple[str, ...]:
    """Render the questions for a number of things."""
    if plain.joiner == " of " and plain.owners:
        have_question = (
            f"How many {pluralize(described.holder)} {'do' if intent.is_fan_out else 'does'} {described.owners} have?"
        )
    else:
        have_question = f"Tell me how many {described.plural_holders} there are."
    return (
        f"How many {plain.plural_holders} are there?",
        f"What is the number of {described.plural_holders}?",
        f"Count the {plain.plural_holders}.",
        have_question,
    )


def _render_extreme_questions(intent: Intent, plain: _QuestionParts, described: _QuestionParts) -> tuple[str, ...]:
    """Render the questions for the thing with the most or the least of a number."""
    is_time = split_words(intent.compared_path.rpartition(".")[2])[-1:] in (("year",), ("date",), ("time",))
    adjectives = ("latest", "earliest") if is_time else ("highest", "lowest")
    adjective = adjectives[intent.kind == "least"]
    return (
        f"Which {plain.singular_holder} has the {adjective} {plain.requested}?",
        f"Among the {described.plural_holders}, which one has the {adjective} {described.requested}?",
        f"Find the {plain.singular_holder} that has the {adjective} {plain.requested}.",
        f"Tell me which of the {described.plural_holders} has the {adjective} {described.requested}.",
    )


def _render_choice_questions(
    intent: Intent, plain: _QuestionParts, described: _QuestionParts, inputs: Sequence[ProgramInput]
) -> tuple[str, ...]:
    """Render the questions for the things with a value that the user states."""
    field = _find_field(intent, intent.compared_path)
    noun = name_item_field(field) if field else ""
    noun = (
        noun
        or name_tool(intent.tail, _list_fed_parameters(intent.query_path, len(intent.query_path.walk.tools) - 1))
        or "value"
    )
    condition = f"{noun} {{{inputs[-1].name}}}"
    return (
        f"Which {plain.plural_holders} have the {condition}?",
        f"Find the {described.plural_holders} that have the {condition}.",
        f"List the {plain.plural_holders} whose {noun} is {{{inputs[-1].name}}}.",
        f"Among the {described.plural_holders}, which have the {condition}?",
    )


def _has_several_holders(intent: Intent) -> bool:
    """Return whether the field is asked for of several things, rather than being a list of one thing."""
    query_path = intent.query_path
    path = query_path.resolve_lookup_path(len(query_path.walk.tools) - 1, query_path.output)
    return intent.kind == "all" and (intent.is_fan_out or "[]" in path.removesuffix("[]"))


def _join_with_of(first: str, *others: str) -> str:
    return " of ".join(noun for noun in (first, *others) if noun)


def _build_parts(
    intent: Intent, inputs: Sequence[ProgramInput], *, by_name: bool, bare_names: bool = False
) -> _QuestionParts:
    """Build the nouns of a question.

    Args:
        intent: the intent.
        inputs: the inputs of its program.
        by_name: make nouns of names only; otherwise use descriptions if they give a phrase.
        bare_names: refer to people by their names alone, without *the author*.
    """
    query_path, doc = intent.query_path, intent.tail
    last = len(query_path.walk.tools) - 1
    field = _find_field(intent, query_path.output)
    filled_parameters = _list_fed_parameters(query_path, last)
    subject = _render_subject(query_path, inputs, by_name=by_name, bare_names=bare_names)
    chain = _build_chain(intent, by_name=by_name)
    holder = name_holder(doc, query_path.output, filled_parameters)
    if not by_name and holder and holder == name_tool(doc, filled_parameters):
        holder = _match_number(holder, describe_tool(doc))
    requested = name_requested_field(doc, field, holder) if field else holder
    if not by_name and field is not None:
        requested = describe_field(doc, field) or requested
    requested = requested or "entry"
    if intent.kind in ("all", "first"):
        if intent.kind == "first" and not last and not query_path.output.endswith("[]"):
            first_holder = (
                holder if _identifies_one_thing(query_path) else _name_first_thing(query_path, by_name=by_name)
            )
            rest = subject if _identifies_one_thing(query_path) else _render_conditions(query_path, inputs)
            return _QuestionParts(
                requested,
                first_holder if _identifies_one_thing(query_path) or not rest else f"{first_holder} {rest}",
                "" if not _identifies_one_thing(query_path) else rest,
            )
        is_own = (
            not last
            or query_path.is_lookup_path(last, query_path.output)
            or requested in (holder, f"number of {pluralize(holder)}")
        )
        return _QuestionParts(requested, "" if is_own else holder, _join_with_of("", *map(str, chain), subject))
    if intent.kind == "count" and query_path.output.endswith("[]"):
        held_by = f"the {pluralize(holder) if '[]' in query_path.output[:-2] else holder}"
        held_by = held_by if last and holder and requested != holder else ""
        return _QuestionParts(requested, requested, _join_with_of("", held_by, *map(str, chain), subject))
    is_about_sources = intent.is_about_sources
    if is_about_sources and chain:
        return _QuestionParts(requested, chain[0].noun, _join_with_of("", *map(str, chain[1:]), subject))
    if not holder or not last or is_about_sources:
        return _QuestionParts(
            requested, _name_first_thing(query_path, by_name=by_name), _render_conditions(query_path, inputs), " "
        )
    return _QuestionParts(requested, holder, _join_with_of("", *map(str, chain), subject))


def _identifies_one_thing(query_path: QueryPath) -> bool:
    """Return whether the user names one thing that holds a list.

    Otherwise the user states a property of all items of the first list.
    """
    return query_path.identifies_one_thing() or not _find_first_list(query_path)


def _find_first_list(query_path: QueryPath) -> str:
    """Return a path through the list in the first response that the walk continues from; empty for one thing."""
    path = query_path.get_feeds(1)[0].field if len(query_path.walk.tools) > 1 else query_path.output
    part_of_one = not path.startswith("[]") and (
        path.endswith("[]") or find_label_field(query_path.walk.head, "x") is not None
    )
    return path if "[]" in path and not part_of_one else ""


@dataclass(frozen=True, slots=True)
class _ChainLink:
    """A thing between the subject and what is asked for."""

    noun: str
    is_first: bool
    """True if only the first of them is meant."""
    is_plural: bool
    """True if several of them are meant."""

    def __str__(self) -> str:
        return f"the {'first ' if self.is_first else ''}{pluralize(self.noun) if self.is_plural else self.noun}"


def _match_number(noun: str, described: str) -> str:
    """Return a description's phrase in the grammatical number of a noun."""
    return (
        described.removesuffix("s")
        if described.endswith("s") and not described.endswith("ss") and not noun.endswith("s")
        else described or noun
    )


def _list_fed_parameters(query_path: QueryPath, number: int) -> tuple[str, ...]:
    return (
        tuple(feed.parameter for feed in query_path.walk.list_feeds_into(query_path.walk.path[number]))
        if number
        else ()
    )


def _find_field(intent: Intent, path: str) -> OutputField | None:
    return next((field for field in output_fields(intent.tail) if field.path == path), None)


def _build_chain(intent: Intent, *, by_name: bool) -> list[_ChainLink]:
    """List the things between subject and requested field, from the last one back.

    Examples are ``the first co-author`` and ``the authors``. Things that the subject names itself are left out.
    """
    query_path = intent.query_path
    links: list[_ChainLink] = []
    is_plural = False
    for number in range(1, len(query_path.walk.tools)):
        item_mode, before = intent.item_modes[number - 1], query_path.walk.tools[number - 1]
        is_plural = is_plural or item_mode == "each"
        filled_parameters = _list_fed_parameters(query_path, number - 1)
        noun = name_source(before, query_path.get_feeds(number), filled_parameters)
        if number == 1:
            referred, separator, _ = noun.partition(" of the ")
            noun = referred if separator else ""
        elif not by_name and noun and noun == name_tool(before, filled_parameters):
            noun = _match_number(noun, describe_tool(before))
        if noun and not (links and links[-1].noun == noun):
            links.append(_ChainLink(noun, item_mode == "first", is_plural))
    return links[::-1]


def _name_first_thing(query_path: QueryPath, *, by_name: bool) -> str:
    """Return the noun for one of the things that the first tool finds."""
    list_path, brackets, _ = _find_first_list(query_path).partition("[]")
    holder = name_holder(query_path.walk.head, f"{list_path}[].x" if brackets else "")
    label = _find_label_input(query_path)
    description = describe_thing(label) if label is not None and not by_name else ""
    return description or holder or "entry"


def _find_label_input(query_path: QueryPath) -> Parameter | None:
    """Find the input that holds the name of the thing that is looked for."""
    head = query_path.walk.head
    for user_input in query_path.list_inputs(head.id):
        field = find_echo_field(head, user_input.parameter)
        label = find_label_field(head, field.path) if field is not None else None
        if field is not None and label is not None and label.path == field.path:
            return user_input.parameter
    return None


def _render_subject(query_path: QueryPath, inputs: Sequence[ProgramInput], *, by_name: bool, bare_names: bool) -> str:
    """Render the subject: one thing by its name and conditions, or all things that meet the conditions."""
    label = _find_label_input(query_path) if query_path.identifies_one_thing() else None
    noun = _name_first_thing(query_path, by_name=by_name)
    conditions = _render_conditions(query_path, inputs, excluded=label)
    if label is not None:
        name = next(
            program_input.name
            for program_input in inputs
            if program_input.parameter.name == label.name and program_input.user_name
        )
        kind = () if bare_names and mentions_person(frozenset(split_words(noun))) else ("the", noun)
        return " ".join(part for part in (*kind, f"{{{name}}}", conditions) if part)
    if _find_first_list(query_path):
        return " ".join(part for part in ("the", pluralize(noun), conditions) if part)
    return _render_topic(query_path, inputs)


def _render_topic(query_path: QueryPath, inputs: Sequence[ProgramInput]) -> str:
    """Render the subject of a walk whose first response is no list."""
    text_inputs = [
        program_input
        for program_input in inputs
        if program_input.user_name and program_input.parameter.type == "string" and not query_path.walk.repeated_inputs
    ]
    if len([program_input for program_input in inputs if program_input.user_name]) == 1 and text_inputs:
        return f"{{{text_inputs[0].name}}}"
    noun = name_tool(query_path.walk.head)
    return " ".join(part for part in ("the", noun or "entry", _render_conditions(query_path, inputs)) if part)


def _render_conditions(query_path: QueryPath, inputs: Sequence[ProgramInput], excluded: Parameter | None = None) -> str:
    """Render the other inputs as conditions: ``at {organization}``, ``with the interest {interest}``."""
    phrases: list[str] = []
    others = [
        program_input
        for program_input in inputs
        if program_input.user_name and (excluded is None or program_input.parameter.name != excluded.name)
    ]
    nouns = [name_parameter(program_input.parameter) for program_input in others]
    for program_input, noun in zip(others, nouns, strict=True):
        need, is_unique = derive_need(program_input.parameter), nouns.count(noun) == 1
        preposition = (
            "for"
            if set(split_words(program_input.parameter.name)) <= _SEARCH_WORDS
            else _PREPOSITION_BY_KIND.get(need.kind)
        )
        if preposition and is_unique and not need.role:
            phrases.append(f"{preposition} {{{program_input.name}}}")
        else:
            joiner = "and" if phrases and phrases[-1].startswith(("with", "and")) else "with"
            phrases.append(
                f"{joiner} the {noun if is_unique and not query_path.walk.repeated_inputs else program_input.user_name.replace('_', ' ')} {{{program_input.name}}}"
            )
    return " ".join(phrases)
