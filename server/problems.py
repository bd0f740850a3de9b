"""Errors as problem documents (RFC 9457), in one place. ``code`` is stable; ``detail`` is for people and may change."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from domain import errors
from server.json_words import said
from server.requests import path_template

_log = logging.getLogger(__name__)

STATUS: Mapping[type[errors.FootpathError], int] = {
    errors.FootpathError: 500,
    errors.UsageError: 400,
    errors.WeakPasswordError: 422,
    errors.BrokenInputError: 422,
    errors.UnavailableError: 503,
    errors.InvalidDecisionError: 502,
    errors.ForbiddenAddressError: 422,
    errors.SecretError: 422,
    errors.InvalidArgumentsError: 422,
    errors.NoAnswerError: 502,
    errors.GrantRefusedError: 422,
    errors.BudgetExceededError: 422,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.UnauthenticatedError: 401,
    errors.ForbiddenError: 403,
    errors.NotAllowedError: 403,
    errors.LockedOutError: 429,
    errors.BusyError: 429,
    errors.OverLimitError: 429,
}
"""The status of an error is that of the nearest class here."""

_CODES = {400: "usage", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 405: "method_not_allowed"}
ROLE = "footpath.role"
"""Of a request's scope: the role of who asks, once that is known."""
MEDIA_TYPE = "application/problem+json"
MOST_FAULTS = 100
"""Told at a time."""


class Fault(BaseModel):
    """One thing that is wrong with a request. ``place``: where in it, as ``body.name``."""

    place: str
    message: str


class Problem(BaseModel):
    """What is answered in place of what was asked for."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Not Found",
                "status": 404,
                "code": "not_found",
                "detail": "there is no such conversation",
            }
        }
    )

    type: str = "about:blank"
    title: str
    status: int
    code: str = Field(description="Which problem it is, for programs; stable.")
    detail: str = Field(description="What it is and what to do, for people.")
    errors: list[Fault] = Field(default_factory=list[Fault], description="What is wrong with the request, each part.")


def status_of(kind: type[errors.FootpathError]) -> int:
    """The HTTP status of a class of errors."""
    return next(STATUS[one] for one in kind.__mro__ if one in STATUS)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For an operation's ``responses``: problems that it may answer with."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


def handle_problems(app: FastAPI) -> None:
    """Every error leaves the application as a problem; none shows where in the program it arose."""
    app.add_exception_handler(errors.FootpathError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


async def _ours(request: Request, given: Exception) -> JSONResponse:
    return told(cast("errors.FootpathError", given), request.scope.get(ROLE))


def told(error: errors.FootpathError, role: str | None = None) -> JSONResponse:
    """One of our errors as a problem. ``role``: of who asks; None: nobody is known to ask."""
    status = status_of(type(error))
    if status == 500:
        _log.error("an error without a status of its own", exc_info=error)
    headers: dict[str, str] = {}
    if isinstance(error, errors.LockedOutError | errors.OverLimitError):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    elif isinstance(error, errors.UnauthenticatedError):
        headers["WWW-Authenticate"] = "Bearer"
    elif status in (429, 503):
        headers["Retry-After"] = "5"
    wrong = error.faults if isinstance(error, errors.UsageError) else ()
    faults = [Fault(place=place, message=message) for place, message in wrong[:MOST_FAULTS]]
    return answer(status, error.code, _detail(error, role), faults, headers)


def _detail(error: errors.FootpathError, role: str | None) -> str:
    """The message; of a part that is down only which it is, unless an administrator asks: it may name hosts, ports and accounts."""
    if not isinstance(error, errors.UnavailableError) or role == "admin":
        return str(error)
    infrastructure = bool(error.part) or isinstance(error, errors.StoreUnreachableError | errors.StoreRefusedError)
    if role is not None and not infrastructure:
        return str(error)
    _log.warning("answered as not ready: %s", error)
    return f"not ready: {error.part or ('store' if infrastructure else 'server')}; try again later, the server's log says why"


async def _invalid(_: Request, given: Exception) -> JSONResponse:
    """What was sent is not repeated: it may hold a password."""
    all_of_them = cast("RequestValidationError", given).errors()
    wrong = [said(error) for error in all_of_them[:MOST_FAULTS]]
    if len(all_of_them) > MOST_FAULTS:
        wrong.append(("body", f"has {len(all_of_them) - MOST_FAULTS:,} further faults"))
    faults = [Fault(place=place, message=message) for place, message in wrong]
    return answer(422, "invalid_request", "; ".join(f"{place}: {message}" for place, message in wrong), faults)


async def _http(_: Request, given: Exception) -> JSONResponse:
    error = cast("HTTPException", given)
    code = _CODES.get(error.status_code, "http_error")
    return answer(error.status_code, code, str(error.detail), headers=dict(error.headers or {}))


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    _log.error("%s %s failed", request.method, path_template(request.scope), exc_info=error)
    return answer(500, "internal", "something went wrong inside the server; its log says what")


def answer(
    status: int, code: str, detail: str, faults: list[Fault] | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A problem as it is sent."""
    problem = Problem(title=HTTPStatus(status).phrase, status=status, code=code, detail=detail, errors=faults or [])
    content = problem.model_dump(exclude_defaults=False, exclude=None if faults else {"errors"})
    return JSONResponse(content, status, dict(headers or {}), media_type=MEDIA_TYPE)
