"""How memories, and judgements of them, are written as points of a Qdrant collection."""

from uuid import UUID, uuid5

from domain.memory import Memory

_NAMESPACE = UUID("5d0c9a1e-6f1b-5b7a-8c55-2a9b4f0d7e33")
_ABOUT = "memory "


def point(memory: str) -> str:
    """The server's id of a memory's points: it takes UUIDs and integers only."""
    return str(uuid5(_NAMESPACE, memory))


def body_of(memory: Memory) -> dict[str, str]:
    """What a memory's point holds."""
    return {"kind": "memory", "id": memory.id, "body": memory.model_dump_json()}


def about(memory: str) -> str:
    """What a judgement is filed under: a bare id looks like a UUID, and a server would write it otherwise when it counts."""
    return f"{_ABOUT}{memory}"


def memory_of(filed: str) -> str:
    """The memory that a judgement is filed under."""
    return filed.removeprefix(_ABOUT)
