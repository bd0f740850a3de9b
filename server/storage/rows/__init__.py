"""The tables, by what they are about. Importing this package knows them all."""

from server.storage.columns import Row
from server.storage.rows import (
    accounts,
    audit,
    conversations,
    days,
    grants,
    jobs,
    library,
    model_services,
    runs,
    sources,
    workflows,
)

__all__ = [
    "Row",
    "accounts",
    "audit",
    "conversations",
    "days",
    "grants",
    "jobs",
    "library",
    "model_services",
    "runs",
    "sources",
    "workflows",
]
