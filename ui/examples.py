"""What one may ask over the store that is open: requests that solutions of it have served; those of the playground only where its tools are there."""

import re

from ui.client import Client
from ui.library import tools
from ui.problems import ServerError
from ui.solutions import Solution, solution, solutions
from ui.values import choices_of, shown

MOST = 3
_LOOKED_AT = 8
_INPUT = re.compile(r"\{(\w+)\}")
_PLAYGROUND = {
    "Festa": "Which public holidays does Caldera have in 2026?",
    "World Facts": "How many inhabitants does Meghalpet have?",
    "Doable": 'Put "Water the lemon tree" on my to-do list, please: it has to be done by 2026-07-23.',
}
"""By the tool set that serves it."""


def examples(client: Client) -> list[str]:
    """A few; none where nothing is known that this store has served, or the server does not tell."""
    try:
        served = _served(client) if client.can("/solutions") else []
        return served or (_of_playground(client) if client.can("/tools") else [])
    except ServerError as error:
        if error.logged_out:
            raise
        return []


def _served(client: Client) -> list[str]:
    found: list[str] = []
    for one in solutions(client)[:_LOOKED_AT]:
        spoken_for = one.own or one.approved  # else one stranger's words would stand on everybody's first page
        request = _request(client, one) if spoken_for and not one.suspended else ""
        if request and request not in found:
            found.append(request)
        if len(found) == MOST:
            break
    return found


def _request(client: Client, one: Solution) -> str:
    """A request as it was asked, or its pattern with values that are known to be taken; empty where there is neither."""
    pattern = next(iter(one.patterns), "")
    if not _INPUT.search(pattern):
        return pattern
    whole = solution(client, one.id)
    if whole.runs:
        return client.run(whole.runs[0]).request
    values = {
        name: [schema["default"]] if "default" in schema else choices_of(schema)
        for name, schema in whole.parameters.items()
    }
    if not all(values.get(name) for name in _INPUT.findall(pattern)):
        return ""
    return _INPUT.sub(lambda named: shown(values[named[1]][0]), pattern)


def _of_playground(client: Client) -> list[str]:
    return [request for toolset, request in _PLAYGROUND.items() if tools(client, toolset=toolset).tools]
