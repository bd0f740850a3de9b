"""Find the nouns for the things that functions return and lists hold."""

import re
from collections.abc import Iterable

from graph.identifiers import split_words
from offline.nlp.asked_words import find_synonyms
from offline.nlp.gazetteer import word_set
from offline.nlp.superlatives import is_comparative

_PREPOSITIONS = word_set("in of by for from near at on to with within nearby around between")
EMPTY_NOUNS = word_set(
    "detail info information list data result item entry doc response record value index all basic full each hit page"
)
"""Words at the end of a name that do not say what it is a name of."""
_METHODS = word_set("get post put patch delete head options")
"""HTTP methods, which frameworks append to names that they make of a route."""
_MOST_QUESTION = re.compile(r"\bwhat(?:['’]s| is| are| was| were) the ([^\W\d_]+) ([^\W\d_]+)", re.I)


def find_head_noun(name: str) -> frozenset[str]:
    """Find the noun of a function's or list's name; empty if it has none.

    It is *book* for ``getAuthorBooks``, and *restaurant* for ``restaurants_in_city``.
    """
    name_words: list[str] = []
    for word in split_words(name):
        if word in _PREPOSITIONS and name_words:
            break
        name_words.append(word)
    while len(name_words) > 1 and name_words[-1] in _METHODS:
        name_words.pop()
    nouns = [word for word in name_words if word not in EMPTY_NOUNS]
    return frozenset(nouns[-1:] if len(name_words) > 1 or nouns == name_words else ())


def find_list_noun(path: str) -> frozenset[str]:
    """Find the noun of a path's innermost list: *paper* of ``authors[].papers[].title``."""
    holder = path[: path.rfind("[]")] if "[]" in path else path
    return find_head_noun(holder.rpartition(".")[2].removesuffix("[]")) if holder else frozenset()


def is_of_kind(noun: str, kinds: Iterable[str]) -> bool:
    """Return whether a noun may stand for one of these kinds."""
    noun_words = frozenset(split_words(noun))
    meanings = noun_words.union(*map(find_synonyms, noun_words))
    return any(kind in meanings for kind in kinds)


def is_most_question(text: str, kinds: Iterable[str]) -> bool:
    """Return whether a text asks which thing of these kinds has the most of something: "what is the largest plot?"."""
    hit = _MOST_QUESTION.search(text)
    return hit is not None and is_comparative(hit[1].lower()) and is_of_kind(hit[2], kinds)
