"""The kinds of things that functions give: what their lists are of."""

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
"""What a name ends in without saying what it is of."""
_METHODS = word_set("get post put patch delete head options")
"""What a name ends in that a framework made of path and method."""
_THE_MOST = re.compile(r"\bwhat(?:['’]s| is| are| was| were) the ([^\W\d_]+) ([^\W\d_]+)", re.I)


def head_of(name: str) -> frozenset[str]:
    """The noun that a function or a list goes by: of ``getAuthorBooks`` book, of ``restaurants_in_city`` restaurant; empty where it has none."""
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
    """The noun of the innermost list of a path: of ``authors[].papers[].title`` paper."""
    holder = path[: path.rfind("[]")] if "[]" in path else path
    return head_of(holder.rpartition(".")[2].removesuffix("[]")) if holder else frozenset()


def goes_by(noun: str, kinds: Iterable[str]) -> bool:
    """Whether something of one of these kinds may be called so."""
    own = frozenset(words(noun))
    meant = own.union(*map(synonyms, own))
    return any(kind in meant for kind in kinds)


def asks_for_most(text: str, kinds: Iterable[str]) -> bool:
    """Whether it asks for the thing of one of these kinds that has the most of something: what is the largest plot?"""
    asked = _THE_MOST.search(text)
    return asked is not None and compares(asked[1].lower()) and goes_by(asked[2], kinds)
