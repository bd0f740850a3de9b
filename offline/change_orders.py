"""Decide by the words of a request whether a tool that changes something may be called."""

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
"""Verbs of change, one set for each kind of change; a kind is referred to by its index in this tuple."""
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
"""What follows a verb of order: an article, a pronoun, a preposition or a quotation."""
_NAME = re.compile(r"\s+[A-Z]")
"""A capitalised word after a verb, which may be its object: ``message Ana``."""
_READ_VERBS = word_set(
    "get search find list look fetch query convert translate analyze analyse check calculate compute detect generate classify summarize summarise "
    "extract validate verify compare predict recommend suggest lookup parse estimate score identify recognize recognise transform format encode "
    "decode solve evaluate read show count"
)
"""Verbs that only read or compute, also where they open an order."""
_FIRST_WORD = re.compile(r"\W*(?:please\s+|kindly\s+|just\s+|go ahead and\s+)?(\w+)", re.I)
_ORDER_CUE = re.compile(
    r"\b(?:please|kindly|(?:could|can|would|will) you|(?:want|need|like|love|wish|have|going|help me|ask you|you|remember|forget)(?: you)? to|let'?s|let us"
    r"|(?:and|then|,|also|;|:|-)(?: please| also| then)?)\s+(?:also\s+|then\s+|please\s+|just\s+)?(\w+)", re.I
)  # fmt: skip
"""Words that introduce an order, and the verb after them: ``could you please [book]``."""
_INFLECTED = re.compile(r"(\w{3,})(?:ing|ed)")
"""A verb with an ending; its stem counts as an order as well."""


def may_call(tool: ToolDoc, request: str) -> bool:
    """Return whether a request permits a call of a tool.

    Safe tools are always permitted. Another tool is permitted if the request orders a kind of change that the tool's
    name or description states, or if the tool is called by GET or POST and its name only reads or computes
    ("translate", "search").
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
    """Return whether a call of a tool may change something.

    False for safe tools, and for tools that count as unsafe only because of their HTTP method while their name says
    that they read (``POST /search``).
    """
    return not tool.safe and (
        tool.effect.by != "method" or bool(_list_change_kinds(split_words(tool.api))) or not _is_read_only(tool)
    )


def is_ordered(tool: ToolDoc, clause: str) -> bool:
    """Return whether a clause orders the change that a tool makes.

    The clause must begin with a verb of change. A word that is often a noun ("book", "order") counts as a verb only
    before an article, a pronoun, a quotation or, for some, a name.
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
    """Return whether a tool makes the change that the first word of a clause names, by its name or its description."""
    verbs = _get_first_verb(clause)
    return bool(verbs & set(split_words(tool.api)[:1])) or can_make_change(
        tool, frozenset(_list_change_kinds(tuple(verbs)))
    )


def _get_first_verb(clause: str) -> frozenset[str]:
    """Return the first word of a clause in its base form."""
    first_word = _FIRST_WORD.match(clause)
    return frozenset(split_words(first_word[1].lower())) if first_word else frozenset()


def _is_read_only(tool: ToolDoc) -> bool:
    """Return whether a tool reads or computes by its name, and its method does not rule that out."""
    return tool.method in ("GET", "POST") and bool(_READ_VERBS & set(split_words(tool.api)))


def find_ordered_changes(clause: str, *, loose: bool = False) -> frozenset[int]:
    """Return the kinds of change that a clause orders with its first word; empty for a question.

    With ``loose``, kinds whose verbs often ask for reading are included.
    """
    first_word, verbs = _FIRST_WORD.match(clause), _get_first_verb(clause)
    if first_word and verbs & _OFTEN_NOUNS and not _OBJECT.match(clause[first_word.end() :]):
        return frozenset()
    return frozenset(_list_change_kinds(tuple(verbs))) - (
        frozenset[int]() if loose or _STORE_ORDER.match(clause) else _LOOSE
    )


def can_make_change(tool: ToolDoc, kinds: frozenset[int]) -> bool:
    """Return whether a tool makes a change of one of these kinds.

    A safe tool is judged by its name alone; the description counts as well for the others.
    """
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
    """List the kinds of change that words name, in the order of the words.

    The order matters: ``delete_book`` deletes, and does not book.
    """
    return [i for word in name_words for i, group in enumerate(_CHANGES) if word in group]


def _find_order_verbs(request: str) -> frozenset[str]:
    """Find the verbs, in their base forms, with which a request may order something.

    They are the first words of clauses, and the words after a cue ("please", "could you", "I want to"). First words are
    taken without a test for nouns, so that "Book me a table" counts.
    """
    first_words = [found[1] for clause in split_clauses(request) if (found := _FIRST_WORD.match(clause))]
    cued_words = [found[1] for found in _ORDER_CUE.finditer(request)]
    verbs = {word for token in (*first_words, *cued_words) for word in split_words(token.lower())}
    stems = {stem[1] for word in verbs if (stem := _INFLECTED.fullmatch(word))}
    return frozenset(verbs | stems | {f"{stem}e" for stem in stems})


_NEAR = 0.5
"""Share of the called tools' relevance to a clause that an offered tool must exceed to count for the clause."""
ScoredTools = Sequence[tuple[ToolDoc, tuple[float, ...]]]
"""Tools, each with its relevance to every clause."""


def find_unmet_orders(clauses: Sequence[str], considered: ScoredTools, done: ScoredTools) -> tuple[str, ...]:
    """Find the clauses that order a change which an offered tool makes and no successful call made.

    An offered tool counts only if its relevance to the clause is at least half that of the best tool called. Where the
    clause begins with no verb of change ("quote its abstract"), it must be more relevant than every tool called.

    Args:
        clauses: the clauses of the request.
        considered: tools that were offered.
        done: tools that were called successfully.
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
