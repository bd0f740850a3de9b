"""Assembly of a search for one run: expansion of nodes, the policy's decisions, and the results of steps."""

from collections.abc import Callable

from agent.offer.expansion import Expander
from agent.offer.tool_facts import Evidence
from agent.policy.protocol import Policy, Results
from agent.search.dfs import SearchDeps
from agent.search.followers import Followers
from agent.search.settings import SearchOptions, WalkSettings


def walk_deps(
    request: str,
    evidence: Evidence,
    settings: WalkSettings,
    policy: Policy,
    results: Callable[[], Results] = tuple,
    expand: Expander | None = None,
    options: SearchOptions | None = None,
) -> SearchDeps:
    """Build what a search works with.

    ``results`` returns the results of the steps called so far. ``expand`` builds the nodes; the default knows of no earlier steps.
    ``options`` are those of the planner.
    """
    options = options or SearchOptions()
    return SearchDeps(
        expand=expand or Expander(request, evidence, settings, options=options),
        choose=policy.decide,
        whole_path=policy.decide,
        followers=Followers(request, evidence),
        several=settings.several and options.several_steps,
        results=results,
    )
