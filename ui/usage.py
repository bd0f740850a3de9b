"""Usage, limits and performance as the page needs them, for administrators."""

from datetime import date

from pydantic import BaseModel, Field

from ui.client import Client, read


class Line(BaseModel):
    """Sums of a day, or of a user. ``cost`` None: no prices are set."""

    day: date | None = None
    user_id: str = ""
    name: str = ""
    runs: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.prompt_tokens + self.completion_tokens


class Usage(BaseModel):
    days: list[Line] = Field(default_factory=list[Line])
    users: list[Line] = Field(default_factory=list[Line])


class Limits(BaseModel):
    """Of a day. None: as for everybody; 0: no limit."""

    runs: int | None = None
    tokens: int | None = None
    cost: float | None = None


class UserLimits(BaseModel):
    """``counts``: what holds."""

    own: Limits
    counts: Limits


class Figure(BaseModel):
    """Of runs or calls of one kind; ``median`` and ``p95`` in seconds."""

    name: str
    count: int
    failed: int
    median: float
    p95: float


class Performance(BaseModel):
    planners: list[Figure] = Field(default_factory=list[Figure])
    tools: list[Figure] = Field(default_factory=list[Figure])
    most: int = 0


def usage(client: Client, days: int, name: str = "") -> Usage:
    """Of the last so many days; of users whose names begin so."""
    params: dict[str, str | int] = {"days": days} | ({"name": name} if name else {})
    return read(Usage, client.send("GET", "/usage", params=params))


def performance(client: Client, days: int) -> Performance:
    """The same days."""
    return read(Performance, client.send("GET", "/usage/performance", params={"days": days}))


def limits_of(client: Client, user: str) -> UserLimits:
    """What a user may use in a day."""
    return read(UserLimits, client.send("GET", f"/users/{user}/limits"))


def set_limits(client: Client, user: str, limits: Limits) -> UserLimits:
    """Raises ServerError: no prices are set for a limit of costs."""
    return read(UserLimits, client.send("PUT", f"/users/{user}/limits", json=limits.model_dump()))
