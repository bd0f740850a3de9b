"""Split a request into clauses, so that relevance can be judged for one thing at a time."""

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from agent.parameter_needs import GENERIC_WORDS
from offline.nlp.coordination import split_coordinated
from offline.nlp.gazetteer import word_set

MAX_CLAUSES = 6
"""The most clauses of a request, since each costs look-ups and calls.

Sentences beyond it are joined into the last clause; further links of a chain are dropped.
"""

_QUOTED = re.compile(r"\"[^\"]{1,300}\"|“[^”]{1,300}”|(?<!\w)'[^'\n]{1,300}'(?!\w)|`[^`]{1,300}`")
_SENTENCE_END = re.compile(r"(?<=[?!;\n])\s+|(?:(?<=[a-z0-9)\]\"'~]\.)|(?<=[A-Z][A-Z]\.))\s+(?=[A-Z\"'(~])")
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|vs|e\.g|i\.e|etc|Inc|Ltd|Jr|Sr|approx|ca)\.)$")

_ASK_WORDS = (
    "find|get|give|tell|show|fetch|retrieve|convert|translate|calculate|compute|look up|provide|generate|recommend|suggest|"
    "identify|determine|describe|explain|summari[sz]e|compare|verify|validate|analy[sz]e|detect|create|delete|remove|cancel|"
    "add|send|remind|obtain|discover|count|help|enter|let me|let us|who|what|when|where|how|why|whose|which"
)
"""Words that open a question or an order wherever they follow a conjunction."""
_ASK_WORDS_WITH_OBJECT = "list|check|search|book|plan|play|order|rate|report|return|reserve|register|schedule|track|post|put|note|mark|mail|message|email|make|move|update|set|read|display|pick|see|is|are|does|do|did|was|were|can|could|will|would|should"
"""Words that open an order only before an object, since they are nouns as well."""
_OBJECT = r"(?:a|an|the|me|my|us|our|all|any|some|for|it|its|their|his|her|this|that|these|those|if|whether|what|you|i|there|up)\b|\d|(?-i:[A-Z\"'~])"
_WISH = r"i(?:'d| would| want| need| also|\s+am looking)\b|(?:want|need|would like|wish)\s+to\s+know\b"
_OF_WHAT = r"(?:on|in|at|from|by|for|to|until|since|with)\s+(?:what|which|whose)\b"
_NAMING = r"name\s+(?:an?|the|me|us|all|any|some|for|its|their|his|her|this|that|these|those|\d+)\b"
"""An order to name something: ``name its author``. A capitalised word behind *name* would be the name itself."""
_OPENER = rf"(?:(?:{_ASK_WORDS})\b|(?:{_ASK_WORDS_WITH_OBJECT})\s+(?:{_OBJECT})|{_NAMING}|{_WISH}|{_OF_WHAT})"
"""What opens a part that asks for something."""

_JOIN = re.compile(
    rf"(?:\s*,\s*|\s+)(?:and then|and also|and|then|also|plus|but also|as well as)\s+(?:then\s+|also\s+|please\s+|finally\s+)*(?={_OPENER})"
    rf"|\s*,\s*(?:(?:so|now|please)\s+){{0,3}}(?=(?:(?!(?:who|which|where|when|whose)\b){_OPENER}))",
    re.IGNORECASE,
)
"""A conjunction or comma between two parts, the second of which asks for something by itself."""
_LEAD = re.compile(
    r"^(?:(?:and|also|then|please|finally|additionally|furthermore|moreover|first|firstly|second|secondly|next|lastly|besides|plus|so|hi|hello|hey|ok|okay|thanks)\b[\s,:]*"
    r"|(?:can|could|would|will) you (?:please )?(?:help me (?:to )?)?|(?:i'd|i would) (?:also )?(?:like|love)(?: you)?(?: to)?\s+"
    r"|(?:i (?:also )?)?(?:want|need|wish|would like)\s+to\s+(?:know|learn|hear)\s+|know\s+(?=(?:what|who|whose|which|how|when|where|why)\b)"
    r"|i (?:also )?(?:want|need|wish)(?: you)?(?: to)?\s+|i(?:'m| am) looking for\s+|help me (?:to )?|let me know\s+|tell me\s+|give me\s+)+",
    re.IGNORECASE,
)
"""Words of politeness and sequence before what is asked."""
_SETTING = re.compile(
    r"^(?:on|in|at|for|from|during|by|after|before|until|since|between|near|if|when|while|once|given|assuming|with|using|to)\b",
    re.IGNORECASE,
)
"""Opening of a part that only says when, where or under what condition the next part holds."""
_EMPTY = word_set("help with that this it me us you please do so thanks thank for your assistance much very")
"""Words of which a part may consist without asking for anything."""
_GENERIC_NOUN = rf"(?:[\w-]+\s+){{0,2}}(?:{'|'.join(sorted(GENERIC_WORDS))})s?\b"
_HOP = re.compile(
    rf"\s+(?=(?:of|by)\s+(?:the|a|an|his|her|its|their|whose)\s|(?:for|from|in|into|with|to)\s+(?:the|a|an|his|her|its|their|whose)\s+{_GENERIC_NOUN}|of\s+(?-i:[A-Z~]))"
    r"|\s+(?=(?:where|whose|in which|at which|that wrote|who wrote)\s)",
    re.IGNORECASE,
)
"""A place where a chain ("the author of the book", "the city where …") can be cut into its links."""
_ARTICLE = re.compile(
    r"^(?:of|by|for|from|in|into|with|to|where|whose|in which|at which|that wrote|who wrote)\s+", re.IGNORECASE
)
"""The preposition or relative word that opens a link of a chain."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class RequestAsk:
    """One thing that a request asks for."""

    text: str
    """The words of the request."""
    clauses: tuple[str, ...]
    """The text itself, or the overlapping pairs if it is a chain."""


def split_clauses(request: str) -> tuple[str, ...]:
    """Split a request into what it asks for, in order, in its own words.

    Pleasantries and conjunctions are left out, and quoted text is never split. A request that asks for nothing ("Please
    help me") has no clauses.
    """
    return tuple(dict.fromkeys(clause for ask in split_asks(request) for clause in ask.clauses))


@lru_cache(maxsize=64)
def split_asks(request: str) -> tuple[RequestAsk, ...]:
    """Split a request into the things that it asks for.

    Where things are coordinated ("in A and in B"), the clauses are those of the first.
    """
    masked, quotes = _mask(" ".join(request.split()) if "\n" not in request else request.strip())
    parts = [part for sentence in _split_sentences(masked) for part in _split_sentence(sentence)]
    found_asks: list[RequestAsk] = []
    for count, part in enumerate(parts, start=1):
        text = _unmask(part, quotes)
        remaining_clauses = MAX_CLAUSES - sum(len(ask.clauses) for ask in found_asks)
        if remaining_clauses <= 1 and count < len(parts):
            rest = _unmask(" and ".join(parts[count - 1 :]), quotes)
            return (*found_asks, RequestAsk(rest, (rest,)))
        found_asks.append(RequestAsk(text, _split_chain(text)[:remaining_clauses]))
    return tuple(found_asks)


def _split_chain(text: str) -> tuple[str, ...]:
    """Return the clauses of one thing asked: the pairs of a chain, else the text itself."""
    variants = split_coordinated(text)
    masked, quotes = _mask(variants[0][0] if variants else text)
    hops = _split_hops(masked)
    return tuple(dict.fromkeys(_unmask(hop, quotes) for hop in hops)) if len(hops) > 1 else (text,)


def _mask(text: str) -> tuple[str, list[str]]:
    """Replace quotations by ``~n~``, so that no rule looks inside them; return them as well."""
    quotes: list[str] = []

    def replace_quote(found: re.Match[str]) -> str:
        quotes.append(found.group())
        return f"~{len(quotes) - 1}~"

    # Tildes of the text itself are replaced first, so that every ~n~ is a quotation.
    return _QUOTED.sub(replace_quote, text.replace("~", "-")), quotes


def _unmask(text: str, quotes: list[str]) -> str:
    """Put the quotations back."""
    return re.sub(r"~(\d+)~", lambda found: quotes[int(found.group(1))], text)


def _split_sentences(text: str) -> list[str]:
    """Split a text into sentences; a period after an abbreviation or an initial ends none."""
    sentences: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {piece}"
        else:
            sentences.append(piece)
    return sentences


def _split_sentence(sentence: str) -> list[str]:
    """Split a sentence at its conjunctions.

    A part of one word stays with the part before it. A part that only gives a setting is put before the next one.
    """
    parts: list[str] = []
    setting = ""
    pieces = _JOIN.split(sentence)
    for count, piece in enumerate(pieces, start=1):
        cleaned = _LEAD.sub("", piece.strip()).strip(" \t\n,;:.?!")
        is_single_word = len(_WORD.findall(cleaned)) == 1
        if count < len(pieces) and not parts and not setting and (is_single_word or _SETTING.match(cleaned)):
            setting = f"{cleaned} and " if is_single_word else f"{cleaned}, "
            continue
        cleaned, setting = setting + cleaned, ""
        if set(_WORD.findall(cleaned.lower())) <= _EMPTY:
            continue
        if parts and len(_WORD.findall(cleaned)) < 2:
            parts[-1] = f"{parts[-1]} and {cleaned}"
        else:
            parts.append(cleaned)
    return parts


def _split_hops(part: str) -> list[str]:
    """Split a chain of three links or more into its overlapping pairs.

    "The population of the city where the author was born" is such a chain. Each pair is what one call may know; a
    shorter chain is left whole.
    """
    things = _HOP.split(part)
    if len(things) < 3:
        return [part]
    return [f"{_ARTICLE.sub('', one)} {other}" for one, other in itertools.pairwise(things)]


@dataclass(frozen=True, slots=True)
class RequestPart:
    """A part of a request that asks for one thing, about one of the coordinated things."""

    text: str
    """The words that ask, with one thing alone."""
    whole_request: str
    """The whole request, with that thing alone where several are coordinated."""
    clauses: tuple[str, ...]
    """The clauses (:func:`offline.nlp.clauses.split_clauses`) of the part."""
    thing: str = ""
    """The thing, if it is one of several; else empty."""


@lru_cache(maxsize=64)
def split_parts(request: str) -> tuple[RequestPart, ...]:
    """Split a request into its parts, in order, at most ``MAX_CLAUSES``."""
    result: list[RequestPart] = []
    for ask in split_asks(request):
        variants = split_coordinated(ask.text)
        if not variants:
            result.append(RequestPart(ask.text, request, ask.clauses))
        for text, thing in variants:
            whole_request = request.replace(ask.text, text) if ask.text in request else text
            result.append(RequestPart(text, whole_request, ask.clauses, thing))
    return tuple(result[:MAX_CLAUSES])
