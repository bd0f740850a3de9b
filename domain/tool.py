"""Tools: their ids, their documents and their parameters."""

from functools import lru_cache
from typing import Literal, NewType
from urllib.parse import quote, unquote, urlsplit

from pydantic.types import JsonValue

from domain.model import Model
from domain.side_effect import MCP, Said, SideEffect, override_in, side_effect

ToolId = NewType("ToolId", str)
"""``category/toolset/api``, each part percent-encoded; made by :func:`tool_id` only."""

FINISH = ToolId("Finish")
"""The node every tool is linked to; no document, never scored."""

JsonType = Literal["string", "number", "integer", "boolean", "array", "object"]
ParameterType = JsonType | Literal["any"]
"""``any``: a schema that names no type allows every JSON value, which is sent as it is given."""
Location = Literal["path", "query", "header", "cookie", "body"]
BodyType = Literal["json", "form", "multipart", "text", "binary"]
"""How a request's body is written; ``binary``: the bytes of one file."""
Style = Literal["form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject", "json"]
"""How a structured value is written outside a JSON body, in OpenAPI's words; ``json``: as JSON text (its ``content``)."""

Hint = Literal["reads", "changes", "destroys", "adds", "repeats", "open", "closed"]
"""What a server says of its own tool, which nobody has confirmed: it only reads, changes something, destroys what is there, only adds, may be
repeated, reaches others, reaches nobody.
"""
STDIO = "stdio:"
"""What the address of a server begins with that this process starts itself, and speaks with by its input and output."""

_SETTING_METHODS = frozenset({"PUT", "DELETE"})
"""They change something, and twice as once."""


def tool_id(category: str, toolset: str, api: str) -> ToolId:
    """Make an id. The only function that does; the parts may hold any character."""
    return ToolId("/".join(quote(part, safe="") for part in (category, toolset, api)))


@lru_cache(maxsize=65_536)
def tool_id_parts(tool: ToolId) -> tuple[str, str, str]:
    """``(category, toolset, api)`` of an id made by :func:`tool_id`."""
    category, toolset, api = tool.split("/")
    return unquote(category), unquote(toolset), unquote(api)


def unresolved_id(function: str, category: str = "", toolset: str = "") -> ToolId:
    """The id of a node whose name joins no document, or several.

    The category part starts with ``?``, which no document's id does, so that it never meets a real one.
    """
    return ToolId("/".join(("?" + quote(category, safe=""), quote(toolset, safe=""), quote(function, safe=""))))


def is_unresolved(tool: ToolId) -> bool:
    """Whether the id was made by :func:`unresolved_id`."""
    return tool.startswith("?")


@lru_cache(maxsize=65_536)
def host_of(url: str) -> str:
    """``host`` or ``host:port`` of a URL, in lower case, or ``stdio:NAME``; empty where it has none that can be read."""
    if url.startswith(STDIO):
        return url
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


class Flow(Model):
    """Recorded calls took a parameter's value from ``field`` of what ``source`` answered. ``share``: of all those that took
    it from that answer, in (0, 1]; ``count``: how many did.
    """

    source: ToolId
    field: str
    share: float
    count: int


class Filled(Model):
    """A link of a store says that ``field`` of what ``source`` answers can fill a parameter. ``score``: how well, in [0, 1]."""

    source: ToolId
    field: str
    score: float


class Parameter(Model):
    """One input of a tool. ``flows``: where recorded calls had it from, and ``filled``: what can fill it; evidence of a store, which no
    document holds.

    ``json_schema``: the JSON Schema (2020-12, as JSON text, without outside references) of a value that ``type``, ``enum``, ``format``
    and the bounds do not describe whole: the items of an array, the fields of an object, alternatives. ``style`` None is
    OpenAPI's default for the location, and JSON text for an object. ``whole_body``: the value is the request's body, rather than a
    field of it. ``sent_as``: the name it is sent under, where another input of the tool has taken that name.
    """

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
    style: Style | None = None
    explode: bool | None = None
    whole_body: bool = False
    spread: bool = False
    """The value is an object whose fields are sent beside the named parameters: what ``additionalProperties`` allows."""
    content_type: str = ""
    """Media type of this part of a multipart form, or of this file; empty where the form's own rules decide."""
    allow_reserved: bool = False
    """Reserved characters of a query or form value are sent as they are (OpenAPI's ``allowReserved``)."""
    flows: tuple[Flow, ...] = ()
    filled: tuple[Filled, ...] = ()
    sent_as: str | None = None

    @property
    def wire_name(self) -> str:
        """The name it is sent under."""
        return self.name if self.sent_as is None else self.sent_as


class FeedMark(Model):
    """What an administrator of the store said of a field and a parameter: ``field`` of what ``source`` answers fills it, or it does not."""

    source: ToolId
    field: str
    parameter: str
    fills: bool = True


class OAuthFlow(Model):
    """A way to obtain a token that a document names; a stranger's word, which whoever follows it looks at first."""

    grant: Literal["authorization_code", "client_credentials"]
    token_url: str
    authorize_url: str = ""
    scopes: tuple[str, ...] = ()


class EntityMark(Model):
    """What people said an input or a field of the answer is of. ``place``: the parameter's name, or the field's path; ``entity``: ``customer``."""

    place: str
    entity: str


class Credential(Model):
    """A secret that a call sends, by name; its value comes from the environment or a vault and never stands in a document.

    ``place``: the header, query parameter or cookie ``name`` that carries ``prefix`` + value. ``basic``: the value is
    ``user:password`` and is sent as HTTP Basic. ``required`` False: the call also works without.
    ``flows``: how it may be obtained.
    """

    secret: str
    place: Literal["header", "query", "cookie"] = "header"
    name: str = "Authorization"
    prefix: str = ""
    basic: bool = False
    required: bool = True
    flows: tuple[OAuthFlow, ...] = ()
    hidden: bool = True
    """False for the fixed value of an ordinary parameter, as a user's name, which answers may hold and show."""


class ToolDoc(Model):
    """A tool's document: all that is known of it before any call.

    ``function`` is its name in trajectories. ``url`` may hold ``{name}`` placeholders for path parameters; it is empty
    where the tool is known by document only and cannot be called live. ``example_response`` and ``response_schema``
    are JSON texts as their source gave them (they may be broken). ``idempotent``: repeating a call is said to be harmless
    though its method does not say so. ``body_type``: how ``body`` parameters are written; ``body_media``: the body's media type
    where it is not the usual one of that form. ``idempotency_header``: by a value that a caller puts there, the server tells a
    repeated call from a new one. ``side_effect``: what the document itself says of it; ``marked``: what an administrator of the
    store said, which goes before, and stays when the document is imported again, as ``feed_marks`` do: what was said of what fills its
    parameters. ``hints``: what the tool's own server says of it, which decides nothing. ``learnt_response``: what this store saw its answers look like, as JSON Schema, names and types only; known only where the
    document says nothing of them, or something else; it stays too. ``entity_marks``: what people said its inputs and fields are of, which goes
    before what their names tell; of a tool that was imported it stays as well.
    """

    id: ToolId
    category: str
    toolset: str
    api: str
    function: str
    method: str = "GET"
    url: str = ""
    description: str = ""
    toolset_description: str = ""
    parameters: tuple[Parameter, ...] = ()
    example_response: str | None = None
    response_schema: str | None = None
    source: str = ""
    credentials: tuple[Credential, ...] = ()
    idempotent: bool = False
    body_type: BodyType = "json"
    body_media: str = ""
    body_required: bool = False
    """A call that gives no field of the body sends an empty one, with its media type."""
    idempotency_header: str = ""
    side_effect: Said = ""
    marked: Said = ""
    learnt_response: str | None = None
    feed_marks: tuple[FeedMark, ...] = ()
    entity_marks: tuple[EntityMark, ...] = ()
    hints: tuple[Hint, ...] = ()

    @property
    def effect(self) -> SideEffect:
        """Whether calling it changes something, and by which source that is known."""
        override = override_in(name for one in self.parameters for name in (one.wire_name, one.name))
        return side_effect(self.method, self.api, self.side_effect, self.marked, override)

    @property
    def safe(self) -> bool:
        """Whether it is known to change nothing: it may be called without asking, repeated, kept and explored."""
        return self.effect.reads

    @property
    def harmless_again(self) -> bool:
        """Whether calling it twice has the effect of calling it once, whoever calls."""
        return self.safe or self.idempotent or self.method in _SETTING_METHODS

    @property
    def repeatable(self) -> bool:
        """Whether one caller may repeat a call: that is harmless, or the server tells a repeated call from a new one."""
        return self.harmless_again or bool(self.idempotency_header)

    @property
    def resource(self) -> str:
        """The URL whose path says what the operation is about; empty where a URL is that of a whole server (MCP)."""
        return "" if self.method == MCP else self.url

    @property
    def host(self) -> str:
        """``host`` or ``host:port`` of its address, in lower case, or ``stdio:NAME``; empty where it has none that can be read."""
        return host_of(self.url)

    @property
    def address(self) -> str:
        """Where its calls go, without the path: ``https://host:port``, or ``stdio:NAME``; empty where that cannot be read."""
        host = self.host
        return host if host.startswith(STDIO) or not host else f"{urlsplit(self.url).scheme.lower()}://{host}"

    @property
    def required(self) -> tuple[Parameter, ...]:
        """The parameters that a call must have."""
        return tuple(p for p in self.parameters if p.required)
