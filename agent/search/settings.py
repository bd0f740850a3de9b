"""Settings of a search, and the options that a planner adds to it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings of a search."""

    k: int = 10
    """Number of candidates at a node (K in the thesis)."""
    floor: float = 0.25
    """Least relevance of a candidate that the retriever adds, in [0, 1]."""
    found: int = 20
    """Number of tools that the retriever returns for each text."""
    several: bool = False
    """True if the policy may name several steps at once; it is then shown the tools that may follow the candidates."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Extensions of the search that a planner uses.

    The defaults are those of the planner ``dfs``; :data:`THESIS` has none of them.
    """

    several_steps: bool = True
    """One decision may name several steps if the settings allow it."""
    adopts_paths: bool = True
    """The path of a nearly identical earlier request may be used without a search."""
    widens_nodes: bool = True
    """A node offers more than the K heaviest edges and the retriever's tools that fill them up.

    Added are the request's offer, next steps of remembered paths, producers of missing inputs, related tools,
    substitutes, and tools that are due to be tried again.
    """
    repeats_tools: bool = False
    """Any tool of the path may be chosen again, by a planner that sees its results."""
    ends_in_program: bool = True
    """A program is written that calls the tools of the path; reflection happens only if facts speak against the path.

    Otherwise the policy reflects on every path, and arguments are found step by step.
    """
    names_categories: bool = False
    """The decomposition sees the categories of the most relevant tools, and names one for each subtask."""


THESIS = SearchOptions(
    several_steps=False, adopts_paths=False, widens_nodes=False, ends_in_program=False, names_categories=True
)
"""Options of the unchanged algorithm of the thesis (docs/adr/0030-the-thesis-planner.md)."""
