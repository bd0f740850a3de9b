"""The encoder that searches go by, and a change of it, as the page needs them; for administrators."""

from datetime import datetime

from pydantic import BaseModel, Field

from domain.encoder_comparison import EncoderComparison
from ui.client import Client, read
from ui.jobs import Job


class Vectors(BaseModel):
    """The vectors of one encoder. ``at`` None: since the store was made."""

    key: str
    name: str = ""
    identity: str
    dimension: int
    at: datetime | None = None


class Choice(BaseModel):
    """An encoder that may be taken, with what is known of it. ``unusable``: why it may not; empty: it may."""

    key: str
    kind: str
    name: str = ""
    identity: str = ""
    dimension: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    texts_a_second: float | None = None
    price: float | None = None
    unusable: str = ""


class Embeddings(BaseModel):
    """``ready``: what is beside is of all tools."""

    tools: int = 0
    in_use: Vectors | None = None
    beside: Vectors | None = None
    ready: bool = False
    former: Vectors | None = None
    comparison: EncoderComparison | None = None
    job: Job | None = None
    choices: list[Choice] = Field(default_factory=list[Choice])


def embeddings(client: Client) -> Embeddings:
    """How it stands. Raises ServerError: there is no store yet, or it cannot be reached."""
    return read(Embeddings, client.send("GET", "/embeddings"))


def prepare(client: Client, encoder: str) -> Job:
    """Begin, or go on. Raises ServerError: it cannot be prepared; it says why."""
    return read(Job, client.send("POST", "/embeddings/prepare", json={"encoder": encoder}))


def compare(client: Client) -> Job:
    """Compare again."""
    return read(Job, client.send("POST", "/embeddings/compare"))


def switch(client: Client) -> None:
    """To what is prepared."""
    client.send("POST", "/embeddings/switch", timeout=600)


def switch_back(client: Client) -> None:
    """To what was in use before."""
    client.send("POST", "/embeddings/switch-back", timeout=600)


def discard(client: Client) -> None:
    """What is prepared."""
    client.send("DELETE", "/embeddings/prepared")


def drop(client: Client) -> None:
    """What was in use before: then nobody can switch back."""
    client.send("DELETE", "/embeddings/former")
