"""What runs of the tests work with, by the names of single fields: the groups are found by name."""

from dataclasses import fields, replace
from typing import Any

from agent.execution.executor import Executor
from agent.offer.tool_evidence import ToolFinder
from agent.policy.protocol import Policy
from agent.run_context import RunCallOptions, RunDeps, RunKnowledge, RunPlanning
from graph.store import GraphStore


def build_deps(store: GraphStore, search: ToolFinder, policy: Policy, executor: Executor, **others: Any) -> RunDeps:
    """What a run works with; ``others``: fields of any of its groups."""
    return change_deps(RunDeps(RunKnowledge(store, search), RunPlanning(policy), RunCallOptions(executor)), **others)


def change_deps(deps: RunDeps, **changed: Any) -> RunDeps:
    """The same with other values of fields of its groups."""
    for name, value in changed.items():
        (group,) = (one.name for one in fields(RunDeps) if name in {f.name for f in fields(getattr(deps, one.name))})
        deps = replace(deps, **{group: replace(getattr(deps, group), **{name: value})})
    return deps
