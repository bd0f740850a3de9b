"""A batch that takes a while to apply."""

import random

from domain.tool import ToolId
from graph.facts import GraphBatch


def large_batch(key: str, transitions: int = 60_000) -> GraphBatch:
    """About ``transitions`` distinct edges, each counted once, among 20,000 tools."""
    numbers = random.Random(7)
    tools = [ToolId(f"category/tool set/{n}") for n in range(20_000)]
    batch = GraphBatch(key)
    for _ in range(transitions):
        batch.transitions[numbers.choice(tools), numbers.choice(tools)] = 1
    return batch
