"""Base classes of repositories and of the models that they return."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import ConfigDict

from domain.model import Model
from server.storage.database import Database
from server.storage.table_base import TableRow

M = TypeVar("M", bound=Model)
Clock = Callable[[], datetime]
"""Returns the current time; tests pass a clock of their own."""


def get_utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


class StoredModel(Model):
    """A model of what is stored. The docstrings of its fields are their descriptions in the API's document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Repository:
    """Base of the classes that read and write the rows of one subject."""

    def __init__(self, database: Database, clock: Clock = get_utc_now) -> None:
        self._database = database
        self._clock = clock


def to_model(kind: type[M], row: TableRow, **overrides: Any) -> M:
    """Build a model from the columns of the same names, except for the fields given in ``overrides``."""
    columns = {name: getattr(row, name) for name in kind.model_fields if name not in overrides}
    return kind.model_validate(columns | overrides)
