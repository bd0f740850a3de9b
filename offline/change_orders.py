"""Keep tools that change something uncalled unless the request's words order that change."""

import re
from collections.abc import Sequence

from domain.tool import ToolDoc
from graph.identifiers import extract_words, split_words
from offline.nlp.clauses import split_clauses
from offline.nlp.gazetteer import word_set, word_sets

_CHANGES = word_sets(
    "create add make new insert register open start save store write upload put enter; "
    "update edit change modify set rename move replace patch correct mark reschedule postpone shift; "
    "delete remove cancel drop clear erase close stop unsubscribe; "
    "send post publish message email notify submit share tweet reply; "
    "book reserve schedule plan arrange appoint; "
    "buy order pay purchase checkout transfer donate charge subscribe; "
    "remind alarm; "
    "follow like vote rate join block invite; "
    "complete finish mark tick done resolve accomplish fulfil fulfill; "
    "apply enrol enroll sign; "
    "confirm approve accept reject decline deny; "
    "assign unassign delegate; "
    "pause resume enable disable activate deactivate lock unlock archive restore; "
    "rent hire borrow refund withdraw"
)
_LOOSE = frozenset({0, 1})
"""Kinds of change whose words often ask for reading: "open the page", "set the scene", "make a list"."""
_STORE_ORDER = re.compile(
    r"\W*(?:please\s+)?(?:add|put|enter|write|note|save|insert|store|create|make)\b.*\b(?:to|into|in|on|onto)\s+(?:my|our|his|her|their)\b",
    re.IGNORECASE | re.DOTALL,
)
"""An order to store something: ``put the meeting into my diary``. In it the loose words mean a change too."""
_AMBIGUOUS_VERBS = word_set("make open start change set write put save store replace add plan rate share like")
"""Words of change that also order what changes nothing: "change 5 euros into yen", "plan my day"."""
_OFTEN_NOUNS = word_set("mark sign finish rent lock archive resume block")
"""Words of change that are nouns more often than verbs."""
_POSSIBLE_NOUNS = _OFTEN_NOUNS | word_set(
    "book order post message email share tweet alarm schedule charge purchase transfer register upload patch drop"
)
"""Words of change that are often nouns; as an order they are followed by an article, a pronoun or a quotation."""
_OBJECT = re.compile(
    r"\s+(?:(?:a|an|the|me|my|us|our|it|its|this|that|these|those|them|their|his|her|all|any|some|both|for|to|up)\b|[\"'“‘«])",
    re.I,
)
_NAME = re.compile(r"\s+[A-Z]")
_READ_VERBS = word_set(
    "get search find list look fetch query convert translate analyze analyse check calculate compute detect generate classify summarize summarise "
    "extract validate verify compare predict recommend suggest lookup parse estimate score identify recognize recognise transform format encode "
    "decode solve evaluate read show count"
)
_FIRST_WORD = re.compile(r"\W*(?:please\s+|kindly\s+|just\s+|go ahead and\s+)?(\w+)", re.I)
_ORDER_CUE = re.compile(
    r"\b(?:please|kindly|(?:could|can|would|will) you|(?:want|need|like|love|wish|have|going|help me|ask you|you|remember|forget)(?: you)? to|let'?s|let us"
    r"|(?:and|then|,|also|;|:|-)(?: please| also| then)?)\s+(?:also\s+|then\s+|please\s+|just\s+)?(\w+)", re.I
)  # fmt: skip
_INFLECTED = re.compile(r"(\w{3,})(?:ing|ed)")


def may_call(tool: ToolDoc, request: str) -> bool:
    """Return whether calling a tool is within what the request asks for.

    Safe tools always are. Others are if the request uses a word for a change that the tool's own text names, or if
    the tool is called by GET or POST and its name only reads or computes ("translate", "search").
    """
    if tool.safe:
        return True
    name_words = split_words(tool.api)
    tool_kinds = [
        i for word in name_words[:1] for i, group in enumerate(_CHANGES) if word in group
    ] or _list_change_kinds(name_words)[:1]
    if not tool_kinds and _is_read_only(tool):
        return True
    tool_kinds = tool_kinds or _list_change_kinds(tuple(extract_words(tool.description)))
    request_verbs = _find_order_verbs(request)
    return any(_CHANGES[i] & request_verbs for i in tool_kinds) or (
        bool(name_words) and name_words[0] in request_verbs - _READ_VERBS
    )


def may_change(tool: ToolDoc) -> bool:
    """Return whether a call may change something.

    It may not if the tool is known to read, or if it is posted to and its name says that it reads.
    """
    return not tool.safe and (
        tool.effect.by != "method" or bool(_list_change_kinds(split_words(tool.api))) or not _is_read_only(tool)
    )


def is_ordered(tool: ToolDoc, clause: str) -> bool:
    """Return whether a clause orders a change that this tool makes, by its name or its description.

    The clause must begin with a word of change, used as a verb.
    """
    first_word = _FIRST_WORD.match(clause)
    verbs = _get_first_verb(clause) - _READ_VERBS - _AMBIGUOUS_VERBS
    rest = clause[first_word.end() :] if first_word else ""
    if not first_word or (
        verbs & _POSSIBLE_NOUNS and not _OBJECT.match(rest) and (verbs & _OFTEN_NOUNS or not _NAME.match(rest))
    ):
        return False
    return may_change(tool) and can_carry_out(tool, clause)


def can_carry_out(tool: ToolDoc, clause: str) -> bool:
    """Return whether a tool makes the change that a clause's first word names, by its name or its description."""
    verbs = _get_first_verb(clause)
    return bool(verbs & set(split_words(tool.api)[:1])) or can_make_change(
        tool, frozenset(_list_change_kinds(tuple(verbs)))
    )


def _get_first_verb(clause: str) -> frozenset[str]:
    """Return the first word of a clause in its base form."""
    first_word = _FIRST_WORD.match(clause)
    return frozenset(split_words(first_word[1].lower())) if first_word else frozenset()


def _is_read_only(tool: ToolDoc) -> bool:
    return tool.method in ("GET", "POST") and bool(_READ_VERBS & set(split_words(tool.api)))


def find_ordered_changes(clause: str, *, loose: bool = False) -> frozenset[int]:
    """Return the kinds of change that a clause orders with its first word; empty for a question.

    ``loose``: include kinds whose words often ask for reading.
    """
    first_word, verbs = _FIRST_WORD.match(clause), _get_first_verb(clause)
    if first_word and verbs & _OFTEN_NOUNS and not _OBJECT.match(clause[first_word.end() :]):
        return frozenset()
    return frozenset(_list_change_kinds(tuple(verbs))) - (
        frozenset[int]() if loose or _STORE_ORDER.match(clause) else _LOOSE
    )


def can_make_change(tool: ToolDoc, kinds: frozenset[int]) -> bool:
    """Return whether a tool's name says that it makes such a change, or the description of one that is not safe."""
    named_kinds = frozenset(_list_change_kinds(split_words(tool.api)))
    return bool(
        kinds
        & (
            named_kinds
            if tool.safe
            else named_kinds | frozenset(_list_change_kinds(tuple(extract_words(tool.description))))
        )
    )


def _list_change_kinds(name_words: tuple[str, ...]) -> list[int]:
    """List the kinds of change that words name, in their order: ``delete_book`` deletes, it does not book."""
    return [i for word in name_words for i, group in enumerate(_CHANGES) if word in group]


def _find_order_verbs(request: str) -> frozenset[str]:
    """Find the words with which a request orders something.

    They open a clause or follow a cue ("please", "could you", "I want to"). Nouns that open a clause count too: "Book
    me a table".
    """
    first_words = [found[1] for clause in split_clauses(request) if (found := _FIRST_WORD.match(clause))]
    cued_words = [found[1] for found in _ORDER_CUE.finditer(request)]
    verbs = {word for token in (*first_words, *cued_words) for word in split_words(token.lower())}
    stems = {stem[1] for word in verbs if (stem := _INFLECTED.fullmatch(word))}
    return frozenset(verbs | stems | {f"{stem}e" for stem in stems})


_NEAR = 0.5
ScoredTools = Sequence[tuple[ToolDoc, tuple[float, ...]]]
"""Tools with their relevance to each clause."""


def find_unmet_orders(clauses: Sequence[str], considered: ScoredTools, done: ScoredTools) -> tuple[str, ...]:
    """Find the clauses that order a change that an offered tool makes, and that no successful call made.

    An offered tool shows an order only if it is not much less relevant to the clause than what was called; it must be
    more relevant if the verb is not one of change: "quote its abstract" orders no quotation of a price.
    """
    unmet_clauses: list[str] = []
    for at, clause in enumerate(clauses):
        called_relevance = max((relevance[at] for _, relevance in done), default=0.0)
        at_hand = [
            tool
            for tool, relevance in considered
            if relevance[at] > called_relevance * (_NEAR if find_ordered_changes(clause, loose=True) else 1.0)
        ]
        if any(is_ordered(tool, clause) for tool in at_hand) and not any(
            can_carry_out(tool, clause) for tool, _ in done
        ):
            unmet_clauses.append(clause)
    return tuple(unmet_clauses)
