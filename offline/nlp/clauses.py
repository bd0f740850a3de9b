"""Split a request into clauses by rules, one thing each, so that relevance can be judged for each thing."""

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from agent.parameters.kinds import GENERIC
from offline.nlp.coordination import coordinated
from offline.nlp.gazetteer import word_set

MOST = 6
"""Clauses of a request; further ones are joined into the last, since each costs look-ups and calls."""

_QUOTED = re.compile(r"\"[^\"]{1,300}\"|“[^”]{1,300}”|(?<!\w)'[^'\n]{1,300}'(?!\w)|`[^`]{1,300}`")
_END = re.compile(r"(?<=[?!;\n])\s+|(?:(?<=[a-z0-9)\]\"'~]\.)|(?<=[A-Z][A-Z]\.))\s+(?=[A-Z\"'(~])")
_ABBREVIATED = re.compile(r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|vs|e\.g|i\.e|etc|Inc|Ltd|Jr|Sr|approx|ca)\.)$")

_ASKS = (
    "find|get|give|tell|show|fetch|retrieve|convert|translate|calculate|compute|look up|provide|generate|recommend|suggest|"
    "identify|determine|describe|explain|summari[sz]e|compare|verify|validate|analy[sz]e|detect|create|delete|remove|cancel|"
    "add|send|remind|obtain|discover|count|help|enter|let me|let us|who|what|when|where|how|why|whose|which"
)
_ASKS_WITH_OBJECT = "list|check|search|book|plan|play|order|rate|report|return|reserve|register|schedule|track|post|put|note|mark|mail|message|email|make|move|update|set|read|display|pick|see|is|are|does|do|did|was|were|can|could|will|would|should"
_OBJECT = r"(?:a|an|the|me|my|us|our|all|any|some|for|it|its|their|his|her|this|that|these|those|if|whether|what|you|i|there|up)\b|\d|(?-i:[A-Z\"'~])"
_WISH = r"i(?:'d| would| want| need| also|\s+am looking)\b|(?:want|need|would like|wish)\s+to\s+know\b"
_OF_WHAT = r"(?:on|in|at|from|by|for|to|until|since|with)\s+(?:what|which|whose)\b"
_NAMING = r"name\s+(?:an?|the|me|us|all|any|some|for|its|their|his|her|this|that|these|those|\d+)\b"
"""An order to name something: ``name its author``. A capitalised word behind *name* would be the name itself."""
_OPENER = rf"(?:(?:{_ASKS})\b|(?:{_ASKS_WITH_OBJECT})\s+(?:{_OBJECT})|{_NAMING}|{_WISH}|{_OF_WHAT})"

_JOIN = re.compile(
    rf"(?:\s*,\s*|\s+)(?:and then|and also|and|then|also|plus|but also|as well as)\s+(?:then\s+|also\s+|please\s+|finally\s+)*(?={_OPENER})"
    rf"|\s*,\s*(?:(?:so|now|please)\s+){{0,3}}(?=(?:(?!(?:who|which|where|when|whose)\b){_OPENER}))",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:and|also|then|please|finally|additionally|furthermore|moreover|first|firstly|second|secondly|next|lastly|besides|plus|so|hi|hello|hey|ok|okay|thanks)\b[\s,:]*"
    r"|(?:can|could|would|will) you (?:please )?(?:help me (?:to )?)?|(?:i'd|i would) (?:also )?(?:like|love)(?: you)?(?: to)?\s+"
    r"|(?:i (?:also )?)?(?:want|need|wish|would like)\s+to\s+(?:know|learn|hear)\s+|know\s+(?=(?:what|who|whose|which|how|when|where|why)\b)"
    r"|i (?:also )?(?:want|need|wish)(?: you)?(?: to)?\s+|i(?:'m| am) looking for\s+|help me (?:to )?|let me know\s+|tell me\s+|give me\s+)+",
    re.IGNORECASE,
)
_SETTING = re.compile(
    r"^(?:on|in|at|for|from|during|by|after|before|until|since|between|near|if|when|while|once|given|assuming|with|using|to)\b",
    re.IGNORECASE,
)
"""Opening of a part that only says when, where or under what condition the next one holds."""
_EMPTY = word_set("help with that this it me us you please do so thanks thank for your assistance much very")
_KIND = rf"(?:[\w-]+\s+){{0,2}}(?:{'|'.join(sorted(GENERIC))})s?\b"
_HOP = re.compile(
    rf"\s+(?=(?:of|by)\s+(?:the|a|an|his|her|its|their|whose)\s|(?:for|from|in|into|with|to)\s+(?:the|a|an|his|her|its|their|whose)\s+{_KIND}|of\s+(?-i:[A-Z~]))"
    r"|\s+(?=(?:where|whose|in which|at which|that wrote|who wrote)\s)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:of|by|for|from|in|into|with|to|where|whose|in which|at which|that wrote|who wrote)\s+", re.IGNORECASE
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that a request asks."""

    text: str
    """The words of the request."""
    clauses: tuple[str, ...]
    """The text itself, or the pairs of the chain that it is."""


def clauses(request: str) -> tuple[str, ...]:
    """Split a request into what it asks for, in order, verbatim but for leading pleasantries.

    Quoted text is never split. A request without words has no clauses, any other at least one.
    """
    return tuple(dict.fromkeys(clause for ask in asks(request) for clause in ask.clauses))


@lru_cache(maxsize=64)
def asks(request: str) -> tuple[Ask, ...]:
    """Split a request into the things asked. Of things named side by side, the chain of the first stands for all."""
    masked, quotes = _mask(" ".join(request.split()) if "\n" not in request else request.strip())
    parts = [part for sentence in _sentences(masked) for part in _parts(sentence)]
    found: list[Ask] = []
    for count, part in enumerate(parts, start=1):
        text = _unmask(part, quotes)
        room = MOST - sum(len(ask.clauses) for ask in found)
        if room <= 1 and count < len(parts):
            rest = _unmask(" and ".join(parts[count - 1 :]), quotes)
            return (*found, Ask(rest, (rest,)))
        found.append(Ask(text, _chain(text)[:room]))
    return tuple(found)


def _chain(text: str) -> tuple[str, ...]:
    side_by_side = coordinated(text)
    masked, quotes = _mask(side_by_side[0][0] if side_by_side else text)
    hops = _hops(masked)
    return tuple(dict.fromkeys(_unmask(hop, quotes) for hop in hops)) if len(hops) > 1 else (text,)


def _mask(text: str) -> tuple[str, list[str]]:
    """Replace quoted spans by ``~n~``, so that no rule looks inside them."""
    quotes: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quotes.append(found.group())
        return f"~{len(quotes) - 1}~"

    # Tildes of the text itself are replaced first, so that every ~n~ is a quotation.
    return _QUOTED.sub(keep, text.replace("~", "-")), quotes


def _unmask(text: str, quotes: list[str]) -> str:
    return re.sub(r"~(\d+)~", lambda found: quotes[int(found.group(1))], text)


def _sentences(text: str) -> list[str]:
    """Split a text into sentences; a period after an abbreviation or an initial ends none."""
    found: list[str] = []
    for piece in _END.split(text):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
    return found


def _parts(sentence: str) -> list[str]:
    """Split a sentence at its conjunctions; a part too short to mean anything stays with the one before it."""
    parts: list[str] = []
    setting = ""
    pieces = _JOIN.split(sentence)
    for count, piece in enumerate(pieces, start=1):
        clean = _LEAD.sub("", piece.strip()).strip(" \t\n,;:.?!")
        lone = len(_WORD.findall(clean)) == 1
        if count < len(pieces) and not parts and not setting and (lone or _SETTING.match(clean)):
            setting = f"{clean} and " if lone else f"{clean}, "
            continue
        clean, setting = setting + clean, ""
        if set(_WORD.findall(clean.lower())) <= _EMPTY:
            continue
        if parts and len(_WORD.findall(clean)) < 2:
            parts[-1] = f"{parts[-1]} and {clean}"
        else:
            parts.append(clean)
    return parts


def _hops(part: str) -> list[str]:
    """Split a chain of three things or more into its overlapping pairs.

    "The population of the city where the author was born" is such a chain. Each pair is what one call can be expected
    to know; a shorter chain is left whole.
    """
    things = _HOP.split(part)
    if len(things) < 3:
        return [part]
    return [f"{_ARTICLE.sub('', one)} {other}" for one, other in itertools.pairwise(things)]


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that is asked, of one of the things that stand side by side."""

    text: str
    """The words that ask, of one thing."""
    whole: str
    """The request with that thing alone, where several stand side by side."""
    clauses: tuple[str, ...]
    """The clauses (:func:`offline.nlp.clauses.clauses`) of the part."""
    named: str = ""
    """The thing, where it is one of several; else empty."""


@lru_cache(maxsize=64)
def parts(request: str) -> tuple[Part, ...]:
    """Split a request into its parts, in order, at most ``MOST``."""
    found: list[Part] = []
    for ask in asks(request):
        side_by_side = coordinated(ask.text)
        if not side_by_side:
            found.append(Part(ask.text, request, ask.clauses))
        for text, named in side_by_side:
            whole = request.replace(ask.text, text) if ask.text in request else text
            found.append(Part(text, whole, ask.clauses, named))
    return tuple(found[:MOST])
