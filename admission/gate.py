"""The gate: what is found out about a source's tools before any of them is offered. It decides nothing; it tells."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from admission.address_check import Reach, check_address
from admission.document_check import check_document
from admission.known_names import KnownNames
from admission.name_check import check_name
from agent.execution.executor import Executor
from agent.execution.secrets import Secrets
from domain.model import JsonObject
from domain.source import Finding
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Draft:
    """A tool that is looked at. ``requests``: how people would ask for it. ``arguments``: for the live call; None: what the document gives."""

    doc: ToolDoc
    requests: tuple[str, ...] = ()
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found out about a tool, in the order of the checks. ``learnt``: its document with what its answer taught."""

    tool: ToolId
    findings: tuple[Finding, ...]
    learnt: ToolDoc


@dataclass(frozen=True, slots=True)
class GateDeps:
    """What the gate works with. ``known``: the tools of other sources. ``declared``: the address at which the source was said to be.

    ``allow_changes``: tools that change something may be called, for ``account_note`` says that the keys are a test account's.
    """

    executor: Executor
    secrets: Secrets
    reach: Reach
    known: KnownNames = field(default_factory=KnownNames)
    declared: str = ""
    allow_changes: bool = False
    account_note: str = ""


async def examine(drafts: Sequence[Draft], deps: GateDeps) -> AsyncGenerator[Examined]:
    """Each tool with what was found, as soon as it is known."""
    own = KnownNames.of(draft.doc for draft in drafts)
    declared = urlsplit(deps.declared).netloc.rpartition("@")[2].lower()
    for draft in drafts:
        findings = [
            *check_document(draft.doc, deps.known),
            *await check_address(draft.doc, declared, deps.reach),
            *check_name(draft.doc, deps.known, own),
        ]
        yield Examined(draft.doc.id, tuple(findings), draft.doc)
