"""Tools: their ids, their documents and their parameters."""

from functools import lru_cache
from typing import Literal, NewType
from urllib.parse import quote, unquote, urlsplit

from pydantic.types import JsonValue

from domain.model import Model
from domain.side_effect import MCP, DeclaredEffect, SideEffect, determine_side_effect, find_method_override

ToolId = NewType("ToolId", str)
"""``category/toolset/api``, each part percent-encoded; made by :func:`make_tool_id` only."""

FINISH = ToolId("Finish")
"""The node that ends a path; every tool is linked to it. It has no document and is never scored."""

JsonType = Literal["string", "number", "integer", "boolean", "array", "object"]
ParameterType = JsonType | Literal["any"]
"""``any``: a schema without a type allows every JSON value, which is sent as it is given."""
Location = Literal["path", "query", "header", "cookie", "body"]
"""Part of the request that carries a parameter."""
BodyType = Literal["json", "form", "multipart", "text", "binary"]
"""How a request's body is encoded; ``binary``: the bytes of one file."""
Style = Literal["form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject", "json"]
"""Encoding of a structured value outside a JSON body, in OpenAPI's terms; ``json``: JSON text (``content``)."""

Hint = Literal["reads", "changes", "destroys", "adds", "repeats", "open", "closed"]
"""What a server claims about its own tool, unconfirmed.

In order: it only reads, changes something, destroys what exists, only adds, may be repeated, reaches others, or reaches
nobody else.
"""
STDIO = "stdio:"
"""Prefix of the address of a server that this process starts and talks to by standard input and output."""

_IDEMPOTENT_METHODS = frozenset({"PUT", "DELETE"})
"""Methods with side effects for which calling twice equals calling once."""


def make_tool_id(category: str, toolset: str, api: str) -> ToolId:
    """Return the id of a tool, whose parts may hold any character. Make ids with this function only."""
    return ToolId("/".join(quote(part, safe="") for part in (category, toolset, api)))


@lru_cache(maxsize=65_536)
def split_tool_id(tool: ToolId) -> tuple[str, str, str]:
    """Return ``(category, toolset, api)`` of an id made by :func:`make_tool_id`."""
    category, toolset, api = tool.split("/")
    return unquote(category), unquote(toolset), unquote(api)


def make_unresolved_id(function: str, category: str = "", toolset: str = "") -> ToolId:
    """Return the id of a node whose name matches no document, or several.

    The category part starts with ``?``, which no document's id does, so it never collides with a real one.
    """
    return ToolId("/".join(("?" + quote(category, safe=""), quote(toolset, safe=""), quote(function, safe=""))))


def is_unresolved(tool: ToolId) -> bool:
    """Return whether the id was made by :func:`make_unresolved_id`."""
    return tool.startswith("?")


@lru_cache(maxsize=65_536)
def parse_host(url: str) -> str:
    """Return the ``host`` or ``host:port`` of a URL in lower case, or ``stdio:NAME``.

    Empty if it has no valid host.
    """
    if url.startswith(STDIO):
        return url
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


class Flow(Model):
    """A field of another tool's response that recorded calls took a parameter's value from."""

    source: ToolId
    field: str
    share: float
    """Share, in (0, 1], of the calls that took the value from that response."""
    count: int
    """Number of calls that took the value from this field."""


class Filled(Model):
    """A stored link: a field of what ``source`` returns can fill a parameter."""

    source: ToolId
    field: str
    score: float
    """Coupling score in [0, 1]."""


class Parameter(Model):
    """One input of a tool."""

    name: str
    type: ParameterType = "string"
    description: str = ""
    required: bool = False
    default: JsonValue = None
    example: JsonValue = None
    enum: tuple[JsonValue, ...] = ()
    format: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    location: Location = "query"
    nullable: bool = False
    json_schema: str | None = None
    """JSON Schema (2020-12, as text, no external references) for what the other fields cannot express.

    That is the case for the items of an array, the fields of an object, and alternatives.
    """
    style: Style | None = None
    """None stands for OpenAPI's default for the location, and for JSON text if the value is an object."""
    explode: bool | None = None
    whole_body: bool = False
    """The value is the request's body instead of a field of it."""
    spread: bool = False
    """The value is an object whose fields are sent next to the named parameters, as ``additionalProperties`` allows."""
    content_type: str = ""
    """Media type of this part of a multipart form, or of this file; empty if the form's rules decide."""
    allow_reserved: bool = False
    """Reserved characters of a query or form value are sent unescaped (OpenAPI's ``allowReserved``)."""
    flows: tuple[Flow, ...] = ()
    """Where recorded calls took the value from; evidence of a store, in no document."""
    filled: tuple[Filled, ...] = ()
    """What can fill the parameter; evidence of a store, in no document."""
    sent_as: str | None = None
    """The name it is sent under, if another input of the tool has taken that name."""

    @property
    def wire_name(self) -> str:
        """The name it is sent under."""
        return self.name if self.sent_as is None else self.sent_as


class FeedMark(Model):
    """An administrator's word that a field of what ``source`` returns fills a parameter, or does not."""

    source: ToolId
    field: str
    parameter: str
    fills: bool = True


class OAuthFlow(Model):
    """A way to obtain a token that a document names; untrusted until whoever follows it has checked it."""

    grant: Literal["authorization_code", "client_credentials"]
    token_url: str
    authorize_url: str = ""
    scopes: tuple[str, ...] = ()


class EntityMark(Model):
    """A person's word on which entity an input or response field belongs to."""

    place: str
    """The parameter's name, or the field's path."""
    entity: str
    """For example ``customer``."""


class Credential(Model):
    """A secret that a call sends. Only its name is stored; the value comes from the environment or a vault."""

    secret: str
    place: Literal["header", "query", "cookie"] = "header"
    """The header, query parameter or cookie ``name`` carries ``prefix`` followed by the value."""
    name: str = "Authorization"
    prefix: str = ""
    basic: bool = False
    """The value is ``user:password`` and is sent as HTTP Basic."""
    required: bool = True
    """False if the call also works without it."""
    flows: tuple[OAuthFlow, ...] = ()
    """How it may be obtained."""
    hidden: bool = True
    """False for the fixed value of an ordinary parameter, such as a user's name, which answers may hold and show."""


class ToolDoc(Model):
    """A tool's document: all that is known about it before any call."""

    id: ToolId
    category: str
    toolset: str
    api: str
    function: str
    """Its name in trajectories."""
    method: str = "GET"
    url: str = ""
    """May hold ``{name}`` placeholders for path parameters; empty if the tool cannot be called live."""
    description: str = ""
    toolset_description: str = ""
    parameters: tuple[Parameter, ...] = ()
    example_response: str | None = None
    """JSON text as the source gave it, possibly broken; the same for ``response_schema``."""
    response_schema: str | None = None
    source: str = ""
    credentials: tuple[Credential, ...] = ()
    idempotent: bool = False
    """Repeating a call is declared harmless, though the method does not imply it."""
    body_type: BodyType = "json"
    """How ``body`` parameters are encoded."""
    body_media: str = ""
    """Media type of the body, if it is not the usual one of ``body_type``."""
    body_required: bool = False
    """A call without body fields sends an empty body, with its media type."""
    idempotency_header: str = ""
    """The server tells repeated calls from new ones by a value that the caller puts in this header."""
    side_effect: DeclaredEffect = ""
    """What the document itself declares."""
    marked: DeclaredEffect = ""
    """What an administrator of the store declares. It has priority and stays when the document is imported again."""
    learnt_response: str | None = None
    """JSON Schema of observed responses, with names and types only; stays when the document is imported again.

    Set only if the document does not describe its responses, or describes them differently.
    """
    feed_marks: tuple[FeedMark, ...] = ()
    """What administrators say about what fills its parameters; stays when the document is imported again."""
    entity_marks: tuple[EntityMark, ...] = ()
    """What people say about the entities of its inputs and fields, which has priority over their names.

    For an imported tool it stays when the document is imported again.
    """
    hints: tuple[Hint, ...] = ()
    """What the tool's own server claims about it, which decides nothing."""

    @property
    def effect(self) -> SideEffect:
        """The side effects of calling it, and which source says so."""
        override = find_method_override(
            name for parameter in self.parameters for name in (parameter.wire_name, parameter.name)
        )
        return determine_side_effect(self.method, self.api, self.side_effect, self.marked, override)

    @property
    def safe(self) -> bool:
        """True if it is known to have no side effects.

        Then it may be called without approval, repeated, cached and explored.
        """
        return self.effect.reads

    @property
    def is_effectively_idempotent(self) -> bool:
        """True if calling it twice has the effect of calling it once, even if the server does not compare calls."""
        return self.safe or self.idempotent or self.method in _IDEMPOTENT_METHODS

    @property
    def repeatable(self) -> bool:
        """True if a caller may retry: calling again is harmless, or the server recognises a repeated call."""
        return self.is_effectively_idempotent or bool(self.idempotency_header)

    @property
    def resource(self) -> str:
        """The URL whose path describes the operation; empty if the URL is that of a whole server (MCP)."""
        return "" if self.method == MCP else self.url

    @property
    def host(self) -> str:
        """``host`` or ``host:port`` of its address, or ``stdio:NAME``; see :func:`parse_host`."""
        return parse_host(self.url)

    @property
    def address(self) -> str:
        """Where its calls go: ``https://host:port``, or ``stdio:NAME``; empty without a valid host."""
        host = self.host
        return host if host.startswith(STDIO) or not host else f"{urlsplit(self.url).scheme.lower()}://{host}"

    @property
    def required(self) -> tuple[Parameter, ...]:
        """The parameters that a call must have."""
        return tuple(parameter for parameter in self.parameters if parameter.required)
