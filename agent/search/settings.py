"""How a walk looks around, and what its planner does besides walking."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """``k``: candidates a node. ``floor``: relevance below which the retriever adds none. ``found``: tools it looks at a text.
    ``several``: the policy may name several steps at once, and is shown what follows the candidates.
    """

    k: int = 10
    floor: float = 0.25
    found: int = 20
    several: bool = False


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a planner adds to the search of the tool graph. The defaults are those of ``dfs``; :data:`THESIS` adds nothing."""

    several_steps: bool = True
    """One decision may name several steps, where the settings allow it too."""
    adopts_paths: bool = True
    """The path of a nearly identical request may be taken whole, without a search."""
    widens_nodes: bool = True
    """A node offers more than the K heaviest edges and what the retriever fills them up with: the request's offer, next steps of
    remembered paths, producers of missing inputs, related tools, substitutes, and tools that are to be tried again."""
    repeats_tools: bool = False
    """Any tool of the path may be chosen once more, for who sees what it gave."""
    ends_in_program: bool = True
    """A program is written over the tools of a path, which then is reflected on only where facts speak against it. Otherwise every
    path is reflected on, and its arguments are found step by step."""
    names_categories: bool = False
    """Whoever splits a request is shown the categories of tools that are near, and names one for each subtask."""


THESIS = SearchOptions(
    several_steps=False, adopts_paths=False, widens_nodes=False, ends_in_program=False, names_categories=True
)
"""The algorithm of the thesis as it stands (docs/adr/0030-the-thesis-planner.md)."""
