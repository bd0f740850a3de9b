"""A walk put together for one run: the candidates at its nodes, the policy's decisions, what its steps have given."""

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
    """``results``: of the steps that were called so far. ``expand``: makes the nodes; by default one that knows of nothing done before.
    ``options``: of the planner that walks.
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
