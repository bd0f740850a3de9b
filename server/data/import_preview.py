"""What an import would bring, as its reading tells it, and where its parts lie."""

from typing import Literal

from pydantic import BaseModel, Field

from domain.model import Model

Holds = Literal["", "tools", "trajectories", "calls", "store"]
"""What a file holds; empty: told by its name and its first line."""
FIRST = 50
"""Of what is left out or kept out, so much is shown; all is in the report."""


class Left(Model):
    """What is not imported: a record, with its file and line, or a tool. ``why`` says what is wrong."""

    file: str
    line: int | None = None
    tool: str = ""
    why: str


class ReadFile(BaseModel):
    """``holds``: what was found in it. ``count``: documents, records, or items of an export."""

    name: str
    holds: Holds
    count: int = 0


class Preview(BaseModel):
    """``tools``: documents that would come; ``changing``: those of them that change something; ``without_address``: those that can never be called. ``kept_out``: tools whose documents
    fail the gate's check of documents; ``skipped``: records that cannot be read. Of both the ``first`` ones.
    """

    files: list[ReadFile] = Field(default_factory=list[ReadFile])
    tools: int = 0
    changing: int = 0
    without_address: int = 0
    trajectories: int = 0
    calls: int = 0
    items: int = 0
    kept_out: int = 0
    skipped: int = 0
    first_kept_out: list[Left] = Field(default_factory=list[Left])
    first_skipped: list[Left] = Field(default_factory=list[Left])
    warned: int = 0
