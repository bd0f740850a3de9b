"""What can go wrong between page and server: one error, with a message that says what to do."""

from collections.abc import Sequence

import httpx
from pydantic import ValidationError

from domain.errors import FootpathError
from ui.language import say
from ui.replies import Fault, Problem


class ServerError(FootpathError):
    """The server said no, or nothing. ``problem``: its stable code; ``status`` 0: there was no answer; ``faults``: each thing that is wrong with what was sent."""

    def __init__(self, message: str, *, problem: str, status: int = 0, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.problem = problem
        self.status = status
        self.faults = faults

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
    hint = f" {say('(try again in {wait} seconds)', wait=wait)}" if wait.isdigit() else ""
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


def _said(place: str, message: str) -> str:
    """``body.password: …`` as ``password: …``."""
    return f"{place.removeprefix('body.')}: {message}"
