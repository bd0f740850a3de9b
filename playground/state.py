"""What calls have left behind in one running application: never in the process, so that two do not meet."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar, cast

from fastapi import FastAPI, Request

from domain.model import JsonObject
from playground.answered import Answered
from playground.ledger import Effect, Ledger

Stored = TypeVar("Stored")


@dataclass(slots=True)
class State:
    """``visits`` count calls where failures depend on them; ``healthy`` are the operations whose failures are off; ``broken``: those
    that were broken for a test, with the status they answer. ``answers``: the latest that operations gave.
    """

    ledger: Ledger = field(default_factory=Ledger)
    visits: Counter[str] = field(default_factory=Counter[str])
    healthy: set[str] = field(default_factory=set[str])
    broken: dict[str, int] = field(default_factory=dict[str, int])
    answers: list[Answered] = field(default_factory=list[Answered])
    _tables: dict[type, dict[str, object]] = field(default_factory=dict[type, dict[str, object]])

    def table(self, kind: type[Stored]) -> dict[str, Stored]:
        """What was stored of a kind, by identifier; the caller adds, changes and removes."""
        return cast(dict[str, Stored], self._tables.setdefault(kind, {}))

    def visit(self, key: str) -> int:
        """How often ``key`` was visited, this time included."""
        self.visits[key] += 1
        return self.visits[key]


def attach(app: FastAPI) -> None:
    """Give an application a state of its own, or a new one."""
    app.state.kept = State()


def state_of(request: Request) -> State:
    """The state of the application that a request came to."""
    return cast(State, request.app.state.kept)


def operation_of(request: Request) -> str:
    """The ``operationId`` of the operation that a request came to."""
    return str(request.scope["route"].operation_id)


def record_effect(request: Request, arguments: JsonObject) -> Effect:
    """Write the effect of a request into the ledger: once for each thing that changed, after it is sure to change."""
    return state_of(request).ledger.record(operation_of(request), arguments)
