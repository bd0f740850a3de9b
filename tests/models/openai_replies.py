"""What the local model server can be told to do: answer, refuse, or fail the way real endpoints fail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request as it came over the socket. ``body`` is the whole JSON; ``headers`` have lower-case names."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body.get("messages", [])

    @property
    def prompt(self) -> str:
        """All that the model sees, as one text."""
        return "\n".join(str(message.get("content", "")) for message in self.messages)

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def response_format(self) -> str:
        """``json_schema``, ``json_object`` or ``text``."""
        asked: dict[str, Any] | None = self.body.get("response_format")
        return str(asked["type"]) if asked else "text"


@dataclass(frozen=True, slots=True)
class Says:
    """A reply. ``usage``: prompt and completion tokens, None where the server gives none, ``()`` to count by characters.

    ``wait``: seconds before the first byte; ``drip``: seconds between the pieces of a stream (or of the body).
    ``cut_after``: the connection is lost after so many pieces of the stream. ``calls``: tools that are called besides, each a name and its
    arguments as text.
    """

    text: str
    usage: tuple[int, int] | tuple[()] | None = ()
    finish: str = "stop"
    wait: float = 0.0
    drip: float = 0.0
    piece: int = 16
    cut_after: int | None = None
    calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Refuses:
    """An error of the endpoint, in OpenAI's form."""

    status: int
    message: str = "refused"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Sends:
    """A body as it is, whatever it is: a web page, broken JSON, JSON of another form."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Resets:
    """The connection is reset without an answer."""


@dataclass(frozen=True, slots=True)
class Hangs:
    """No answer until the client leaves."""


Reply = Says | Refuses | Sends | Resets | Hangs
Respond = Callable[[ChatRequest], Reply | str]

WRONG_KEY = Refuses(401, "Incorrect API key provided.", "invalid_api_key")
FORBIDDEN = Refuses(403, "Your account may not use this model.")
NO_MODEL = Refuses(404, "The model `other` does not exist.", "model_not_found")
BUSY = Refuses(429, "Rate limit reached.", "rate_limit_exceeded", {"retry-after": "1"})
NO_QUOTA = Refuses(429, "You exceeded your current quota.", "insufficient_quota")
ILL = Refuses(500, "The server had an error.")
BROKEN_JSON = Sends(b'{"id": "x", "choices": [{"message": {"content": "hal')
NO_CHOICES = Sends(b'{"id": "x", "object": "chat.completion", "created": 1, "model": "rules", "choices": []}')
OTHER_JSON = Sends(b'{"status": "fine"}')
WEB_PAGE = Sends(b"<!doctype html><title>Sign in</title><p>Welcome</p>", content_type="text/html")


def scripted(*replies: Reply | str) -> Respond:
    """Answer with the replies in order; the last one answers all further requests."""
    left = list(replies)

    def respond(_request: ChatRequest) -> Reply | str:
        return left.pop(0) if len(left) > 1 else left[0]

    return respond


def as_reply(reply: Reply | str) -> Reply:
    return Says(reply) if isinstance(reply, str) else reply


def pieces(text: str, size: int) -> Sequence[str]:
    """A text cut as a model streams it."""
    return [text[at : at + size] for at in range(0, len(text), size)]
