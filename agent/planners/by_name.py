"""Registry of planners by name.

If no program can be written, ``program`` and ``solution`` search as ``dfs`` does.
``dfs`` and ``thesis`` are the same search with different options.
"""

from agent.planners.protocol import Planner
from agent.planners.react import react
from agent.planners.retrieve import K, retrieve
from agent.planners.single_decision import at_once
from agent.search.dfs import search
from agent.search.settings import THESIS, SearchOptions
from domain.errors import UsageError

PLANNERS: dict[str, Planner] = {
    "program": search,
    "solution": search,
    "dfs": search,
    "thesis": search,
    "react": react,
    "cot": at_once(reasoned=True),
    "basic": at_once(reasoned=False),
    "retrieve": retrieve(),
}


ABOUT: dict[str, str] = {
    "program": "Writes a short program that calls the tools offered for the request, and runs it.",
    "solution": "Chooses among the solutions of the library, and writes a program after the chosen one.",
    "dfs": "Searches the tool graph step by step, and goes back where a way leads nowhere.",
    "thesis": "Finds the whole path by graph search before the first call, one step at a time, and reviews every path.",
    "react": "Sees each result before it chooses the next step.",
    "cot": "Chooses the whole path at once, with a reason for each step.",
    "basic": "Chooses the whole path at once.",
    "retrieve": "Takes the tools that are nearest to the request, without any choice.",
}
"""Description of each planner for users."""
OPTIONS: dict[str, SearchOptions] = {
    "thesis": THESIS,
    "react": SearchOptions(repeats_tools=True, ends_in_program=False),
    "retrieve": SearchOptions(adopts_paths=False, ends_in_program=False),
}
"""Search options of planners that do not have the defaults."""


def planner_named(name: str, k: int = K) -> Planner:
    """Return a planner by name. ``k`` is how many start tools ``retrieve`` takes.

    Raises:
        UsageError: there is no such planner.
    """
    if name == "retrieve":
        return retrieve(k)
    if name not in PLANNERS:
        raise UsageError(f"no planner is called {name!r}; there are: {', '.join(PLANNERS)}")
    return PLANNERS[name]


def options_of(name: str) -> SearchOptions:
    """Return the search options of a planner."""
    return OPTIONS.get(name, SearchOptions())


def default_planner(policy: str) -> str:
    """Return the planner to use if none is named.

    A model or the offline rules can write programs; any other policy, such as one that knows the answers, searches the graph.
    """
    return "program" if policy in ("llm", "offline") else "dfs"
