"""Tools that change something are left alone unless the request's words ask for that change."""

import re
from collections.abc import Sequence

from domain.tool import ToolDoc
from graph.identifiers import text_words, words
from offline.nlp.clauses import clauses
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
"""Kinds whose words ask for reading as often: "open the page", "set the scene", "make a list"."""
_KEEPS = re.compile(
    r"\W*(?:please\s+)?(?:add|put|enter|write|note|save|insert|store|create|make)\b.*\b(?:to|into|in|on|onto)\s+(?:my|our|his|her|their)\b",
    re.IGNORECASE | re.DOTALL,
)
"""``put the meeting into my diary``: told so, the loose words order a change as well."""
_EITHER = word_set("make open start change set write put save store replace add plan rate share like")
"""Words of a change that also order what changes nothing: "change 5 euros into yen", "plan my day"."""
_OFTEN_NOUNS = word_set("mark sign finish rent lock archive resume block")
_NOUNS = _OFTEN_NOUNS | word_set(
    "book order post message email share tweet alarm schedule charge purchase transfer register upload patch drop"
)
"""Words of a change that name things as often: an order puts an article, a pronoun or a quotation behind them."""
_OBJECT = re.compile(
    r"\s+(?:(?:a|an|the|me|my|us|our|it|its|this|that|these|those|them|their|his|her|all|any|some|both|for|to|up)\b|[\"'“‘«])",
    re.I,
)
_NAME = re.compile(r"\s+[A-Z]")
_READS = word_set(
    "get search find list look fetch query convert translate analyze analyse check calculate compute detect generate classify summarize summarise "
    "extract validate verify compare predict recommend suggest lookup parse estimate score identify recognize recognise transform format encode "
    "decode solve evaluate read show count"
)
_FIRST = re.compile(r"\W*(?:please\s+|kindly\s+|just\s+|go ahead and\s+)?(\w+)", re.I)
_TOLD = re.compile(
    r"\b(?:please|kindly|(?:could|can|would|will) you|(?:want|need|like|love|wish|have|going|help me|ask you|you|remember|forget)(?: you)? to|let'?s|let us"
    r"|(?:and|then|,|also|;|:|-)(?: please| also| then)?)\s+(?:also\s+|then\s+|please\s+|just\s+)?(\w+)", re.I
)  # fmt: skip
_FORM = re.compile(r"(\w{3,})(?:ing|ed)")


def may_call(tool: ToolDoc, request: str) -> bool:
    """Whether calling a tool is within what the request asks for.

    Safe methods always are. Others are where the request uses a word of a change that the tool's own text names, or where the
    name of one that is got or posted to only reads or computes ("translate", "search").
    """
    if tool.safe:
        return True
    named = words(tool.api)
    own = [i for word in named[:1] for i, group in enumerate(_CHANGES) if word in group] or _changes(named)[:1]
    if not own and _only_reads(tool):
        return True
    own = own or _changes(tuple(text_words(tool.description)))
    asked = _asked(request)
    return any(_CHANGES[i] & asked for i in own) or (bool(named) and named[0] in asked - _READS)


def changes(tool: ToolDoc) -> bool:
    """Whether a call may change something: its tool is not known to read, nor says the name of one that is posted to that it does."""
    return not tool.safe and (tool.effect.by != "method" or bool(_changes(words(tool.api))) or not _only_reads(tool))


def orders(tool: ToolDoc, clause: str) -> bool:
    """Whether a clause begins with a word of change, and gives the order to make it, that this tool's own name begins with or stands for."""
    first = _FIRST.match(clause)
    verbs = _verbs(clause) - _READS - _EITHER
    rest = clause[first.end() :] if first else ""
    if not first or (verbs & _NOUNS and not _OBJECT.match(rest) and (verbs & _OFTEN_NOUNS or not _NAME.match(rest))):
        return False
    return changes(tool) and made_by(tool, clause)


def made_by(tool: ToolDoc, clause: str) -> bool:
    """Whether a tool makes the change that a clause begins with the word of: by its name, or by a description that says so."""
    verbs = _verbs(clause)
    return bool(verbs & set(words(tool.api)[:1])) or makes(tool, frozenset(_changes(tuple(verbs))))


def _verbs(clause: str) -> frozenset[str]:
    """The word that a clause begins with, in its base form."""
    first = _FIRST.match(clause)
    return frozenset(words(first[1].lower())) if first else frozenset()


def _only_reads(tool: ToolDoc) -> bool:
    return tool.method in ("GET", "POST") and bool(_READS & set(words(tool.api)))


def told_to_change(clause: str, *, loose: bool = False) -> frozenset[int]:
    """The kinds of change that a clause itself tells somebody to make: it begins with the word for it; empty for a question.

    ``loose``: also those whose words ask for reading as often.
    """
    first, verbs = _FIRST.match(clause), _verbs(clause)
    if first and verbs & _OFTEN_NOUNS and not _OBJECT.match(clause[first.end() :]):
        return frozenset()
    return frozenset(_changes(tuple(verbs))) - (frozenset[int]() if loose or _KEEPS.match(clause) else _LOOSE)


def makes(tool: ToolDoc, kinds: frozenset[int]) -> bool:
    """Whether a tool's name, or of one that is not safe its description, says that it makes such a change."""
    named = frozenset(_changes(words(tool.api)))
    return bool(kinds & (named if tool.safe else named | frozenset(_changes(tuple(text_words(tool.description))))))


def _changes(named: tuple[str, ...]) -> list[int]:
    """The kinds of change that words name, in their order: ``delete_book`` deletes, it does not book."""
    return [i for word in named for i, group in enumerate(_CHANGES) if word in group]


def _asked(request: str) -> frozenset[str]:
    """The words by which a request tells somebody to do something: at the start of a clause, or after what asks for it ("please",
    "could you", "I want to"). Nouns that a clause opens with count as well: "Book me a table".
    """
    opening = [found[1] for clause in clauses(request) if (found := _FIRST.match(clause))]
    told = [found[1] for found in _TOLD.finditer(request)]
    base = {word for token in (*opening, *told) for word in words(token.lower())}
    stems = {stem[1] for word in base if (stem := _FORM.fullmatch(word))}
    return frozenset(base | stems | {f"{stem}e" for stem in stems})


_NEAR = 0.5
Judged = Sequence[tuple[ToolDoc, tuple[float, ...]]]
"""Tools with their relevance to each clause."""


def unmet(clauses: Sequence[str], considered: Judged, done: Judged) -> tuple[str, ...]:
    """The clauses that order a change that a tool at hand makes, and that no tool of a successful call made.

    A tool at hand tells of an order only where it is not much less relevant to the clause than what was called, and more relevant
    where the verb is not one of changes: "quote its abstract" orders no quotation of a price.
    """
    found: list[str] = []
    for at, clause in enumerate(clauses):
        reached = max((relevance[at] for _, relevance in done), default=0.0)
        at_hand = [
            tool
            for tool, relevance in considered
            if relevance[at] > reached * (_NEAR if told_to_change(clause, loose=True) else 1.0)
        ]
        if any(orders(tool, clause) for tool in at_hand) and not any(made_by(tool, clause) for tool, _ in done):
            found.append(clause)
    return tuple(found)
