"""Find names and titles in a request, by their capitals and by the words before them."""

import re
from collections.abc import Iterator

from agent.parameter_needs import ORGANIZATION_WORDS, WORK_WORDS
from graph.identifiers import singularize
from offline.nlp.gazetteer import ARTICLES, OPENERS, ORDERS, word_set

_TOKEN = re.compile(r"[^\W_][\w'’&.+-]*[^\W_]|[^\W_]")
_JOINING = word_set("of de van von der la le del & the")
"""Small words within a name."""
_NOT_NAMES = word_set(
    "january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday "
    "url id json iso celsius fahrenheit"
)
"""Capitalised words that are no names."""
_OBJECT = re.compile(r"\s+(?:an?|the|me|us|my|our|him|his|her|them|their|it|its|another)\b")
_MAX_WORDS = 7
_TITLE_JOINING = _JOINING | word_set("in on to with from for at by and a an over under into without or")
"""Small words within a title."""
TITLED = WORK_WORDS | word_set(
    "recipe show series game dish play opera magazine podcast course documentary product headline piece painting track called titled named entitled"
)
"""Words for things with a title; what follows them may be the title."""


def find_names(request: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of capitalised words (``Bank of England``), without common first words."""
    tokens = list(_TOKEN.finditer(request))
    at = 0
    while at < len(tokens):
        if not _is_name(tokens[at], request):
            at += 1
            continue
        end = _cut_at_organization(tokens, at, _find_name_end(tokens, at, request))
        at = _skip_leading_noun(tokens, at, end, request)
        yield tokens[at].start(), _trim_possessive(request, tokens[end].end())
        at = end + 1


def _skip_leading_noun(tokens: list[re.Match[str]], at: int, end: int, request: str) -> int:
    """Return the index of the name's first word after a noun that opens a sentence: ``Population of [Some Town]``."""
    is_sentence_start = tokens[at].start() == 0 or request[: tokens[at].start()].rstrip()[-1:] in (
        ".",
        "!",
        "?",
        "\n",
        ":",
    )
    has_leading_noun = (
        is_sentence_start
        and at + 2 <= end
        and tokens[at + 1][0].lower() == "of"
        and tokens[at][0].lower() not in ORGANIZATION_WORDS
    )
    return at + 2 if has_leading_noun else at


def _trim_possessive(request: str, end: int) -> int:
    """Return the end of a name without its possessive ending."""
    return end - 2 if request[max(0, end - 2) : end] in ("'s", "’s") else end


def _is_name(token: re.Match[str], request: str) -> bool:
    """Return whether a token begins a name, rather than a sentence or an order."""
    word = token[0]
    if not word[0].isupper() or word.lower() in _NOT_NAMES or re.match(r"I['’]", word):
        return False
    is_start = token.start() == 0 or request[: token.start()].rstrip()[-1:] in ".!?:;,\n"
    if is_start and word.lower() in ORDERS and _OBJECT.match(request, token.end()):
        return False
    if word.lower() not in OPENERS:
        return True
    return not is_start and len(word) > 2 and word.lower() not in ARTICLES


def _cut_at_organization(tokens: list[re.Match[str]], at: int, end: int) -> int:
    """Return the index of a person's last name in ``Jane Doe of Some University``, which are two names."""
    of = next((i for i in range(at + 2, end) if tokens[i][0].lower() == "of"), None)
    if of is None:
        return end
    words_before, words_after = (
        {token[0].lower() for token in part} for part in (tokens[at:of], tokens[of + 1 : end + 1])
    )
    return of - 1 if words_after & ORGANIZATION_WORDS and not words_before & ORGANIZATION_WORDS else end


def _find_name_end(tokens: list[re.Match[str]], at: int, request: str) -> int:
    """Return the index of the name's last word; small words join capitalised ones."""
    end = at
    while end + 1 < len(tokens) and end - at < _MAX_WORDS:
        if request[tokens[end].start() : tokens[end].end()].endswith(("'s", "’s")):
            break
        step = 2 if tokens[end + 1][0].lower() in _JOINING and end + 2 < len(tokens) else 1
        following = tokens[end + step]
        gap = request[tokens[end].end() : following.start()]
        if (
            not following[0][0].isupper()
            or re.search(r"[,;:!?()\"“”\n]|\.\s", gap)
            or following[0].lower() in _NOT_NAMES
            or following[0] == "I"
        ):
            break
        end += step
    return end


def find_titles(request: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of titles, which may have small words in them: ``A Winter in Moonfall``.

    A title begins with a capitalised article, opens the text, or follows a word for a titled thing (``the recipe Soup
    with Rice``). "Berlin to Paris" within a sentence is therefore none.
    """
    tokens = list(_TOKEN.finditer(request))
    at = 0
    while at < len(tokens):
        end = _find_title_end(tokens, at, request) if _is_title_start(tokens, at, request) else at
        if end > at:
            yield tokens[at].start(), _trim_possessive(request, tokens[end].end())
        at = end + 1


def _is_title_start(tokens: list[re.Match[str]], at: int, request: str) -> bool:
    """Return whether a title may begin at this token."""
    word = tokens[at][0]
    if not word[0].isupper() or re.match(r"I(?:['’]|$)", word):
        return False
    before = tokens[at - 1][0].lower() if at else ""
    is_sentence_start = at == 0 or request[: tokens[at].start()].rstrip()[-1:] in (".", "!", "?", "\n")
    is_article = word.lower() in ("the", "a", "an")
    if is_sentence_start:
        following = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        return (is_article and following[:1].isupper()) or word.lower() not in OPENERS
    return is_article or singularize(before) in TITLED


def _find_title_end(tokens: list[re.Match[str]], at: int, request: str) -> int:
    """Return the index of the title's last word: the last capitalised one that is reached over small words."""
    end = at
    for step in range(at + 1, min(at + _MAX_WORDS + 3, len(tokens))):
        gap = request[tokens[step - 1].end() : tokens[step].start()]
        if re.search(r"[,;:!?()\"“”\n]|\.\s", gap) or (step - end > 2 and not tokens[step][0][0].isupper()):
            break
        if tokens[step][0][0].isupper() and tokens[step][0].lower() not in _NOT_NAMES:
            end = step
        elif tokens[step][0].lower() not in _TITLE_JOINING:
            break
    return end
