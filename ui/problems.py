"""What can go wrong between page and server: one error, with a message that says what to do."""

from collections.abc import Sequence
from math import ceil

import httpx
from pydantic import ValidationError

from domain.errors import FootpathError
from ui.language import language, message, say, say_count
from ui.replies import Fault, Problem

_SENTENCES = {
    "usage": message("The server does not take this."),
    "invalid_request": message("Something in what was sent is not right."),
    "unauthenticated": message("You are not logged in any more."),
    "wrong_password": message("The name or the password is wrong."),
    "weak_password": message("The password is too weak."),
    "locked_out": message("There were too many attempts; wait a while."),
    "registration": message("An account cannot be made so."),
    "forbidden": message("You may not do this."),
    "not_allowed": message("This was not allowed."),
    "forbidden_address": message("Calls may not go to this address."),
    "not_found": message("It is not there, or not any more."),
    "conflict": message("Something else has changed it meanwhile."),
    "busy": message("The server is busy; try again soon."),
    "over_limit": message("You have reached your limit."),
    "budget": message("It would take more than is allowed."),
    "unavailable": message("A service that it needs does not answer; try again later."),
    "no_answer": message("The other server gave no answer that can be used."),
    "model_unavailable": message("The model does not answer; try again later."),
    "grant_refused": message("The other server refused to give a key."),
    "secret": message("The key cannot be used so."),
    "invalid_arguments": message("The values do not fit the tool."),
    "broken_input": message("What was given cannot be read."),
    "too_many_operations": message("The document lists more operations than a source may have."),
    "internal": message("Something went wrong inside the server."),
}
"""By the code of the problem document, which is stable."""


class ServerError(FootpathError):
    """The server said no, or nothing. ``problem``: its stable code; ``status`` 0: there was no answer; ``faults``: each thing that is wrong with what was sent."""

    def __init__(self, message: str, *, problem: str, status: int = 0, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.problem = problem
        self.status = status
        self.faults = faults

    def __str__(self) -> str:
        """As the server says it, in English; in another language a sentence for its code comes first."""
        told = super().__str__()
        sentence = _SENTENCES.get(self.problem)
        if sentence is None or language() == "en":
            return told
        return say("{sentence} (the server: {detail})", sentence=say(sentence), detail=told)

    @property
    def logged_out(self) -> bool:
        """Whether one has to log in again; a password that was asked for once more and is wrong ends nothing."""
        return self.status == 401 and self.problem != "wrong_password"


def refused(response: httpx.Response) -> ServerError:
    """What an answer that is none says. Its body must have been read."""
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        problem = Problem(
            detail=say(
                "the server answered {status} without saying why; try again later",
                status=response.status_code,
            )
        )
    wait = response.headers.get("Retry-After", "")
    hint = f" {_again(int(wait))}" if wait.isdigit() else ""
    detail = "; ".join(_said(fault.place, fault.message) for fault in problem.errors) or problem.detail
    return ServerError(detail + hint, problem=problem.code, status=response.status_code, faults=problem.errors)


def unreached(address: str, error: httpx.HTTPError) -> ServerError:
    """No answer came."""
    told = (
        say("the server at {address} took too long to answer; see whether it runs, then try again", address=address)
        if isinstance(error, httpx.TimeoutException)
        else say("the server at {address} does not answer; see whether it runs, then try again", address=address)
    )
    return ServerError(told, problem="unreached")


def _again(seconds: int) -> str:
    """When to try again: long waits in hours and minutes."""
    if seconds < 120:
        return say_count("(try again in 1 second)", "(try again in {count} seconds)", seconds)
    hours, minutes = divmod(ceil(seconds / 60), 60)
    if not hours:
        return say("(try again in {minutes} min)", minutes=minutes)
    return say("(try again in {hours} h {minutes} min)", hours=hours, minutes=minutes)


def _said(place: str, message: str) -> str:
    """``body.password: …`` as ``password: …``."""
    return f"{place.removeprefix('body.')}: {message}"
