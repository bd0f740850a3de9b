"""What a call does besides answering: whether it changes something, and by which source that is known."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

Said = Literal["", "reads", "changes"]
"""What a document or an administrator says of a tool; empty: nothing."""

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
"""Methods that HTTP defines as safe: they ask for nothing to be changed."""

MCP = "MCP"
"""The method of a tool of an MCP server. It tells nothing: such a tool counts as one that changes something until a person says otherwise."""

CHANGING_VERBS = frozenset(
    {
        "buy", "cancel", "clear", "create", "delete", "destroy", "erase", "pay", "purchase", "purge", "remove", "reset",
        "revoke", "send", "terminate", "transfer", "unsubscribe",
    }
)  # fmt: skip
"""An operation whose name begins so undoes, sends or makes something, whatever its method says."""

_MAY_READ = READING_METHODS | {"POST"}
"""Methods of which a document may say that nothing is changed; of the others only an administrator or the tool's author may."""
_FIRST_WORD = re.compile(r"[^a-zA-Z]*([A-Z]?[a-z]+|[A-Z]+)(?![a-z])")


_OVERRIDE = re.compile(r"(?=.*(?:method|verb|http))(?=.*(?:overrid|tunnell?ed)).*|x(?:http|rest)?(?:method|verb)")
"""Names, without what separates their words, by which servers and proxies take another method: X-HTTP-Method-Override, X-REST-Method …"""
_OVERRIDING_FIELD = re.compile(r"[^a-z]+(?:http_?)?(?:method|verb)[^a-z]*")
"""Names of fields by which frameworks take another method: _method, $method, __method__ …"""
_SEPARATOR = re.compile(r"[\W_]+")


def override_in(names: Iterable[str]) -> str:
    """Return the first parameter by which a server may take another method than that of the request; empty where there is none."""
    return next((name for name in names if _sets_method(name.lower())), "")


def _sets_method(name: str) -> bool:
    return bool(_OVERRIDING_FIELD.fullmatch(name) or _OVERRIDE.fullmatch(_SEPARATOR.sub("", name)))


class SideEffect(NamedTuple):
    """``unknown``: the method says that it reads, and the ``name`` says otherwise. It is treated as one that changes."""

    kind: Literal["reads", "changes", "unknown"]
    by: Literal["method", "document", "name", "administrator"]
    why: str

    @property
    def reads(self) -> bool:
        """Whether it is known to change nothing."""
        return self.kind == "reads"


@lru_cache(maxsize=65_536)
def side_effect(method: str, api: str, said: Said = "", marked: Said = "", override: str = "") -> SideEffect:
    """Of an operation called ``api``: an administrator's word goes first, then its document's, its method's, a warning by its name.

    ``override``: a parameter that sets another method (:func:`override_in`). No document's word counts against it, since its values are a run's.
    """
    if marked:
        return SideEffect(marked, "administrator", "an administrator said so")
    if override and said != "changes" and method in _MAY_READ:
        return SideEffect("unknown", "name", f"its parameter “{override}” can set another method than {method}")
    if said == "changes" or (said == "reads" and method in _MAY_READ):
        return SideEffect(said, "document", "its document says so")
    if method == MCP:
        return SideEffect(
            "changes", "method", "it is a tool of an MCP server, and nobody but that server can say that it only reads"
        )
    if method not in READING_METHODS:
        return SideEffect("changes", "method", f"it is called by {method}")
    if verb := _changing_verb(method, api):
        return SideEffect("unknown", "name", f"its name begins with “{verb}”, though it is called by {method}")
    return SideEffect("reads", "method", f"it is called by {method}")


def first_word(identifier: str) -> str:
    """The first word of an identifier, in lower case: ``removeJob``, ``remove_job``, ``/REMOVE job`` → remove."""
    found = _FIRST_WORD.match(identifier)
    return found[1].lower() if found else ""


def _changing_verb(method: str, api: str) -> str:
    """What warns of a change in a name; one made of method and path has a name in each part of the path."""
    names = api.split("/")[1:] if api.startswith(f"{method} /") else (api,)
    return next((verb for verb in map(first_word, names) if verb in CHANGING_VERBS), "")
