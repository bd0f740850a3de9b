"""What the services share: how one is described, and how it refuses."""

from dataclasses import dataclass
from typing import Any, NoReturn

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field


@dataclass(frozen=True, slots=True)
class Service:
    """A tool set: its routes, and what a catalogue says about it."""

    router: APIRouter
    name: str
    description: str


class Problem(BaseModel):
    """The body of every refusal but a validation error, which is FastAPI's own."""

    detail: str = Field(
        description="What is wrong, and what to do about it.", examples=["No such place: plc_00000000."]
    )


def refusals(**meanings: str) -> dict[int | str, dict[str, Any]]:
    """Documented error responses: ``refusals(e404="…")``."""
    return {int(key[1:]): {"model": Problem, "description": text} for key, text in meanings.items()}


def refuse(status: int, detail: str, headers: dict[str, str] | None = None) -> NoReturn:
    """End the request with an error body."""
    raise HTTPException(status, detail, headers)
