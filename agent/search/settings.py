"""Settings of a search, and the options that a planner adds to it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings of a search."""

    k: int = 10
    """Candidates of a node."""
    floor: float = 0.25
    """Relevance below which the retriever adds no candidate."""
    found: int = 20
    """Tools that the retriever examines for each text."""
    several: bool = False
    """The policy may name several steps at once, and is shown what follows the candidates."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options that a planner adds to the search.

    The defaults are those of ``dfs``; :data:`THESIS` adds none.
    """

    several_steps: bool = True
    """One decision may name several steps, where the settings allow it too."""
    adopts_paths: bool = True
    """The path of a nearly identical request may be taken whole, without a search."""
    widens_nodes: bool = True
    """A node offers more than the K heaviest edges and what the retriever fills them up with: the request's offer, next steps of
    remembered paths, producers of missing inputs, related tools, substitutes, and tools that are to be tried again."""
    repeats_tools: bool = False
    """Any tool of the path may be chosen again, by a planner that sees its results."""
    ends_in_program: bool = True
    """A program is written over the tools of a path, and the path is reflected on only if facts speak against it. Otherwise every
    path is reflected on, and its arguments are found step by step."""
    names_categories: bool = False
    """The decomposition is shown the categories of the nearest tools, and names one for each subtask."""


THESIS = SearchOptions(
    several_steps=False, adopts_paths=False, widens_nodes=False, ends_in_program=False, names_categories=True
)
"""The algorithm of the thesis, unchanged (docs/adr/0030-the-thesis-planner.md)."""
