"""The server's API for the page: typed, blocking, safe to be used from several threads."""

import ssl
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from domain.model import JsonObject
from ui.account import Account
from ui.language import say
from ui.problems import ServerError, refused, unreached
from ui.replies import Asked, Choices, Chosen, Conversation, LoggedIn, Registration, Run, User
from ui.stream import Told, follow

_API = "/api/v1"
_PAGE = 200
Shape = TypeVar("Shape", bound=BaseModel)


def opened(server: str, address: str = "", browser: str = "") -> httpx.Client:
    """Connections to the server at ``server``. ``address``: of the browser for which is asked, where it is not this machine; ``browser``: its name."""
    headers = {"User-Agent": f"Footpath page, {browser}" if browser else "Footpath page"} | (
        {"X-Forwarded-For": address} if address else {}
    )
    base = server + _API
    return httpx.Client(
        base_url=base, timeout=httpx.Timeout(30), trust_env=False, headers=headers, verify=authorities()
    )


@cache
def authorities() -> ssl.SSLContext:
    """The authorities of this machine, read once: each drawing of the log-in opens connections."""
    return httpx.create_ssl_context(trust_env=False)


def registration(http: httpx.Client) -> str:
    """Who may make an account: ``open``, ``invited`` or ``closed``."""
    return read(Registration, _asked(http, "GET", "/auth/registration")).registration


def log_in(http: httpx.Client, name: str, password: str) -> "Client":
    """Raises ServerError: name or password are wrong, or there were too many attempts."""
    return _entered(http, "/auth/login", {"name": name, "password": password})


def register(http: httpx.Client, name: str, password: str, invitation: str = "") -> "Client":
    """Make an account and log in. Raises ServerError: the name is taken, or the server lets nobody new in."""
    body = {"name": name, "password": password} | ({"invitation": invitation} if invitation else {})
    return _entered(http, "/auth/register", body)


def reset_password(http: httpx.Client, secret: str, password: str) -> None:
    """Set the password that a link of an administrator's is for. Raises ServerError: it does not count, or the password may not be used."""
    _asked(http, "POST", "/auth/reset", json={"secret": secret, "password": password})


class Client:
    """What a logged-in user may ask. Everything raises ServerError where the server refuses or does not answer."""

    def __init__(self, http: httpx.Client, account: Account) -> None:
        self._http = http
        self.account = account
        self._described = str(http.base_url).removesuffix("/").removesuffix(_API) + "/openapi.json"
        self._paths: dict[str, frozenset[str]] | None = None

    def log_out(self) -> None:
        """End the session on the server."""
        self.send("POST", "/auth/logout")

    def look_again(self) -> None:
        """See whether this user has another role meanwhile."""
        self.account.user = read(User, self.send("GET", "/me"))

    def conversations(self, search: str = "") -> list[Conversation]:
        """The latest, first those in which something was said last."""
        params: dict[str, str | int] = {"limit": 100, "search": search}
        return read_all(Conversation, self.send("GET", "/conversations", params=params))

    def begin(self, title: str = "") -> Conversation:
        """A new conversation."""
        return read(Conversation, self.send("POST", "/conversations", json={"title": title}))

    def rename(self, conversation: str, title: str) -> None:
        """Give it another title."""
        self.send("PATCH", f"/conversations/{conversation}", json={"title": title})

    def remove(self, conversation: str) -> None:
        """Remove it with its runs."""
        self.send("DELETE", f"/conversations/{conversation}")

    def runs(self, conversation: str) -> list[Run]:
        """The latest runs of a conversation, the oldest of them first."""
        path = f"/conversations/{conversation}/runs"
        return read_all(Run, self.send("GET", path, params={"limit": _PAGE}))[::-1]

    def can(self, path: str, method: str = "") -> bool:
        """Whether this server has an operation, as ``/runs/{run_id}/plan``: a page may be newer than its server. ``method``: that one, as ``delete``."""
        if self._paths is None:
            document = TypeAdapter(dict[str, Any]).validate_json(self.send("GET", self._described).content)
            paths: dict[str, dict[str, Any]] = document.get("paths", {})
            self._paths = {name: frozenset(operations) for name, operations in paths.items()}
        found = self._paths.get(_API + path)
        return found is not None and (not method or method in found)

    def choices(self) -> Choices:
        """What a run may choose."""
        return read(Choices, self.send("GET", "/choices"))

    def ask(self, conversation: str, request: str, chosen: Chosen, files: Sequence[str] = ()) -> Run:
        """Start a run; it goes on whether one follows it or not. ``files``: ids of those of the conversation that it is about."""
        body = {"request": request, **chosen.model_dump()} | ({"files": [*files]} if files else {})
        return read(Run, self.send("POST", f"/conversations/{conversation}/runs", json=body))

    def run(self, run: str) -> Run:
        """How a run stands."""
        return read(Run, self.send("GET", f"/runs/{run}"))

    def cancel(self, run: str) -> None:
        """End a run; what it found stays."""
        self.send("POST", f"/runs/{run}/cancel")

    def forget(self, run: str) -> None:
        """Remove a run that has ended, and what was kept of it to go by."""
        self.send("DELETE", f"/runs/{run}")

    def judge(self, run: str, verdict: str | None) -> None:
        """Say that its answer is ``right`` or ``wrong``; None takes that back."""
        self.send("PUT", f"/runs/{run}/verdict", json={"verdict": verdict})

    def asked(self, run: str) -> list[Asked]:
        """What a run asks and has asked, with what was answered."""
        return read_all(Asked, self.send("GET", f"/runs/{run}/inputs"))

    def open_questions(self, run: str) -> set[str]:
        """The ids of what a run asks and nobody has answered."""
        return {one.id for one in self.asked(run) if one.decision is None}

    def answer(
        self,
        run: str,
        question: str,
        decision: str,
        *,
        always: bool = False,
        said: str | int | None = None,
        corrections: Sequence[JsonObject] = (),
        version: int | None = None,
    ) -> None:
        """Say ``allow`` or ``deny`` to a call or a plan; what became of a call whose end is not known: ``happened``,
        ``did_not_happen`` or ``leave``. ``always``, with ``allow``: this tool need not ask again. ``corrections``, with ``allow``: other values for
        some of its calls, or that they are left out. ``answer`` with what is ``said``: a text, or the place of a choice, from 0.
        ``version``, with ``allow``: of the plan that was read.
        """
        besides: JsonObject = {} if said is None else {"answer": said}
        if version is not None:
            besides["version"] = version
        if corrections:
            besides["corrections"] = [*corrections]
        self.send("POST", f"/runs/{run}/inputs/{question}", json={"decision": decision, "always": always, **besides})

    def events(self, run: str, after: int = 0, wanted: Callable[[], bool] = lambda: True) -> Iterator[Told]:
        """A run's events after that number, to its end, over however many connections. ``wanted`` False: no more of them."""
        return follow(self._http, self.account, f"/runs/{run}/events", after, wanted)

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        """A request in this user's name."""
        token = self.account.bearer()
        try:
            return _asked(self._http, method, path, headers={"Authorization": f"Bearer {token}"}, **more)
        except ServerError as error:
            if not error.logged_out:
                raise
        token = self.account.bearer(stale=token)
        return _asked(self._http, method, path, headers={"Authorization": f"Bearer {token}"}, **more)


def _entered(http: httpx.Client, path: str, body: dict[str, str]) -> Client:
    return Client(http, Account(http, read(LoggedIn, _asked(http, "POST", path, json=body))))


def _asked(http: httpx.Client, method: str, path: str, **more: Any) -> httpx.Response:
    try:
        response = http.request(method, path, **more)
    except httpx.HTTPError as error:
        raise unreached(str(http.base_url), error) from error
    if not response.is_success:
        raise refused(response)
    return response


def read(shape: type[Shape], response: httpx.Response) -> Shape:
    """An answer's body. Raises ServerError: it is not of this shape."""
    try:
        return shape.model_validate_json(response.content)
    except ValidationError as error:
        raise _strange(response) from error


def read_all(shape: type[Shape], response: httpx.Response) -> list[Shape]:
    """The same, of a list."""
    try:
        return [shape.model_validate(one) for one in TypeAdapter(list[Any]).validate_json(response.content)]
    except ValidationError as error:
        raise _strange(response) from error


def _strange(response: httpx.Response) -> ServerError:
    return ServerError(
        say(
            "what answers at {host}:{port} is not a server of this version; start that one",
            host=response.url.host,
            port=response.url.port,
        ),
        problem="strange",
        status=response.status_code,
    )
