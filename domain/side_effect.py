"""Side effects of calling a tool: how they are determined, and which source says so."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

DeclaredEffect = Literal["", "reads", "changes"]
"""What a document or an administrator declares about a tool; empty if nothing."""

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
"""Methods that HTTP defines as safe."""

MCP = "MCP"
"""The method of tools of an MCP server.

It says nothing about side effects: such a tool counts as having them until a person says otherwise.
"""

CHANGING_VERBS = frozenset(
    {
        "buy", "cancel", "clear", "create", "delete", "destroy", "erase", "pay", "purchase", "purge", "remove", "reset",
        "revoke", "send", "terminate", "transfer", "unsubscribe",
    }
)  # fmt: skip
"""First words of operation names that indicate a side effect, whatever the method says."""

_MAY_READ = READING_METHODS | {"POST"}
"""Methods for which a document may declare that nothing is changed.

For others only an administrator or the tool's author may.
"""
_FIRST_WORD = re.compile(r"[^a-zA-Z]*([A-Z]?[a-z]+|[A-Z]+)(?![a-z])")


_OVERRIDE_NAME = re.compile(r"(?=.*(?:method|verb|http))(?=.*(?:overrid|tunnell?ed)).*|x(?:http|rest)?(?:method|verb)")
"""Names of parameters by which servers and proxies take another method, without the separators of their words.

Examples are X-HTTP-Method-Override and X-REST-Method.
"""
_OVERRIDING_FIELD = re.compile(r"[^a-z]+(?:http_?)?(?:method|verb)[^a-z]*")
"""Names of fields by which frameworks take another method: _method, $method, __method__ …"""
_SEPARATOR = re.compile(r"[\W_]+")


def find_method_override(names: Iterable[str]) -> str:
    """Return the first parameter that may override the method of the request; empty if there is none."""
    return next((name for name in names if _is_method_override(name.lower())), "")


def _is_method_override(name: str) -> bool:
    return bool(_OVERRIDING_FIELD.fullmatch(name) or _OVERRIDE_NAME.fullmatch(_SEPARATOR.sub("", name)))


class SideEffect(NamedTuple):
    """A tool's side effects, with the source that says so and the reason.

    ``unknown``: the method says that it only reads, but the name says otherwise. It is treated like ``changes``.
    """

    kind: Literal["reads", "changes", "unknown"]
    by: Literal["method", "document", "name", "administrator"]
    why: str

    @property
    def reads(self) -> bool:
        """True if it is known to have no side effects."""
        return self.kind == "reads"


@lru_cache(maxsize=65_536)
def determine_side_effect(
    method: str, api: str, declared: DeclaredEffect = "", marked: DeclaredEffect = "", override: str = ""
) -> SideEffect:
    """Return the side effect of an operation.

    The sources by priority are an administrator, the document, the method, and a warning by the name.

    Args:
        method: its HTTP method, or :data:`MCP`.
        api: its name.
        declared: what its document declares.
        marked: what an administrator declares.
        override: parameter that can set another method (:func:`find_method_override`). No document can declare such an
            operation read-only, since each run chooses the parameter's value.
    """
    if marked:
        return SideEffect(marked, "administrator", "an administrator said so")
    if override and declared != "changes" and method in _MAY_READ:
        return SideEffect("unknown", "name", f"its parameter “{override}” can set another method than {method}")
    # A document may always warn of a side effect, but deny one only where the method leaves that open.
    if declared == "changes" or (declared == "reads" and method in _MAY_READ):
        return SideEffect(declared, "document", "its document says so")
    if method == MCP:
        return SideEffect(
            "changes", "method", "it is a tool of an MCP server, and nobody but that server can say that it only reads"
        )
    if method not in READING_METHODS:
        return SideEffect("changes", "method", f"it is called by {method}")
    if verb := _find_changing_verb(method, api):
        return SideEffect("unknown", "name", f"its name begins with “{verb}”, though it is called by {method}")
    return SideEffect("reads", "method", f"it is called by {method}")


def get_first_word(identifier: str) -> str:
    """Return the first word of an identifier in lower case: ``remove`` of ``removeJob`` or ``/REMOVE job``."""
    match = _FIRST_WORD.match(identifier)
    return match[1].lower() if match else ""


def _find_changing_verb(method: str, api: str) -> str:
    """Return the verb in a name that indicates a change; empty if there is none.

    A name made of method and path is checked in each part of the path.
    """
    names = api.split("/")[1:] if api.startswith(f"{method} /") else (api,)
    return next((verb for verb in map(get_first_word, names) if verb in CHANGING_VERBS), "")
