"""Nouns for what functions return and what lists hold."""

import re
from collections.abc import Iterable

from graph.identifiers import words
from offline.nlp.asked_words import synonyms
from offline.nlp.gazetteer import word_set
from offline.nlp.superlatives import compares

_PREPOSITIONS = word_set("in of by for from near at on to with within nearby around between")
EMPTY = word_set(
    "detail info information list data result item entry doc response record value index all basic full each hit page"
)
"""Words that a name ends in without saying what it is of."""
_METHODS = word_set("get post put patch delete head options")
"""HTTP methods at the end of names that a framework made of path and method."""
_THE_MOST = re.compile(r"\bwhat(?:['’]s| is| are| was| were) the ([^\W\d_]+) ([^\W\d_]+)", re.I)


def head_of(name: str) -> frozenset[str]:
    """Find the noun of a function or list: *book* of ``getAuthorBooks``, *restaurant* of ``restaurants_in_city``.

    Empty if the name has none.
    """
    spoken: list[str] = []
    for word in words(name):
        if word in _PREPOSITIONS and spoken:
            break
        spoken.append(word)
    while len(spoken) > 1 and spoken[-1] in _METHODS:
        spoken.pop()
    telling = [word for word in spoken if word not in EMPTY]
    return frozenset(telling[-1:] if len(spoken) > 1 or telling == spoken else ())


def of_list(path: str) -> frozenset[str]:
    """Find the noun of a path's innermost list: *paper* of ``authors[].papers[].title``."""
    holder = path[: path.rfind("[]")] if "[]" in path else path
    return head_of(holder.rpartition(".")[2].removesuffix("[]")) if holder else frozenset()


def goes_by(noun: str, kinds: Iterable[str]) -> bool:
    """Return whether a noun may stand for one of these kinds."""
    own = frozenset(words(noun))
    meant = own.union(*map(synonyms, own))
    return any(kind in meant for kind in kinds)


def asks_for_most(text: str, kinds: Iterable[str]) -> bool:
    """Return whether a text asks for the thing of these kinds with the most of something: what is the largest plot?"""
    asked = _THE_MOST.search(text)
    return asked is not None and compares(asked[1].lower()) and goes_by(asked[2], kinds)
