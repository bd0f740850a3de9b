"""A recorded search: calls go over HTTP to the running playground, and every one becomes part of the tree."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from domain.model import JsonObject
from domain.tool import ToolDoc
from playground.calls import send
from playground.trees import FINISH_CODE, GIVE_UP_CODE, Json, Node, document, dump, observation


@dataclass(frozen=True, slots=True)
class Scenario:
    """A request and the search for its answer. ``meteo_in_service``: recorded before Meteo Classic was switched off."""

    query: str
    search: Callable[["Session"], None]
    meteo_in_service: bool = False


class CallFailedError(Exception):
    """An answer that the scenario did not expect."""


class Session:
    """One search tree in the making. ``tools`` are the catalogue's documents by operation."""

    def __init__(self, client: httpx.Client, tools: Mapping[str, ToolDoc], query: str) -> None:
        self._client = client
        self._tools = tools
        self._query = query
        self._root = Node("Action Input", "", 0)
        self._at = self._root
        self._order = 0
        self._used: dict[str, ToolDoc] = {}
        self._final: Json | None = None
        self._keys = False

    def call(self, api: str, /, **arguments: Any) -> Any:
        """Call an operation and go on from there; returns the parsed body, None where it is empty.

        Raises:
            CallFailedError: the answer is an error.
        """
        status, body = self._call(api, arguments)
        if status >= 400:
            raise CallFailedError(f"{self._query!r}: {api} answered {status}: {body}")
        return orjson.loads(body) if body else None

    def fails(self, api: str, /, **arguments: Any) -> int:
        """Call an operation that is expected to fail and go on from there; returns the HTTP status.

        Raises:
            CallFailedError: the call worked.
        """
        status, body = self._call(api, arguments)
        if status < 400:
            raise CallFailedError(f"{self._query!r}: {api} was to fail, and answered {body}")
        return status

    def at_second_try(self, api: str, /, **arguments: Any) -> Any:
        """Call an operation that fails once and then works; both calls are recorded, the first is turned back from.

        Raises:
            CallFailedError: the first call worked, or the second did not.
        """
        status = self.fails(api, **arguments)
        self.turn_back(f"The service answered {status}. That may pass: I try once more.")
        return self.call(api, **arguments)

    def with_keys(self) -> None:
        """From here on calls carry the test keys of the services that want one; trajectories never show them."""
        self._keys = True

    def turn_back(self, thought: str) -> None:
        """Prune the last call and go on from the one before it, with a thought."""
        self._at.pruned = True
        action = self._at.parent
        before = action.parent if action else None
        if before is None:
            raise CallFailedError(f"{self._query!r}: there is no call to turn back from")
        self._at = before.add("Thought", thought)

    def answer(self, text: str) -> None:
        """End the search with an answer; the branch that leads to it is the accepted one."""
        self._end({"return_type": "give_answer", "final_answer": text}, FINISH_CODE)
        node = self._at
        while node.parent is not None:
            node.finished = True
            node = node.parent

    def give_up(self) -> None:
        """End the search without an answer."""
        self._end({"return_type": "give_up_and_restart"}, GIVE_UP_CODE)
        self._at.pruned = True

    def written(self) -> Json:
        """The file of this search.

        Raises:
            CallFailedError: it has not ended.
        """
        if self._final is None:
            raise CallFailedError(f"{self._query!r}: the search has no end")
        return document(self._root, self._query, list(self._used.values()), self._final)

    def _call(self, api: str, arguments: JsonObject) -> tuple[int, str]:
        tool = self._tools[api]
        self._used[api] = tool
        response = send(self._client, tool, arguments, keys=self._keys)
        self._step(tool.function, dump(arguments), *observation(response.status_code, response.text))
        return response.status_code, response.text

    def _end(self, final: Json, code: int) -> None:
        said = "successfully giving the final answer." if code == FINISH_CODE else "chose to give up and restart"
        self._step("Finish", dump(final), dump({"response": said}), code)
        self._final = final

    def _step(self, action: str, arguments: str, seen: str, code: int) -> None:
        self._order += 1
        node = self._at.add("Action", action).add("Action Input", arguments)
        node.observation, node.code, node.order = seen, code, self._order
        self._at = node
