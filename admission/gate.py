"""Admission gate: runs all checks on a source's tools before any of them is offered. It reports and decides nothing."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from admission.address_check import Reach, check_address
from admission.auth_check import check_auth
from admission.document_check import check_document
from admission.findability import WhatIf, WithTools, findable
from admission.findings import skipped
from admission.known_names import KnownNames
from admission.made_requests import made_requests
from admission.name_check import check_name
from admission.probe import Probe
from admission.probe_arguments import documented
from admission.quality import BATCH, Judge, judged
from admission.rules_judge import RulesJudge
from agent.execution.executor import Executor
from agent.execution.secrets import Secrets
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.source import CHECKS, Finding, KeysOf
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Draft:
    """Tool to be checked."""

    doc: ToolDoc
    requests: tuple[str, ...] = ()
    """How people would ask for it."""
    arguments: JsonObject | None = None
    """For the live call; None for the values in the document."""


@dataclass(frozen=True, slots=True)
class Examined:
    """Findings about a tool, in the order of the checks."""

    tool: ToolId
    findings: tuple[Finding, ...]
    learnt: ToolDoc
    """Its document, with what its answer to the live call taught."""


@dataclass(frozen=True, slots=True)
class GateDeps:
    """Dependencies and settings of the gate, for one source."""

    executor: Executor
    secrets: Secrets
    reach: Reach
    """Checks that an address may be called."""
    known: KnownNames = field(default_factory=KnownNames)
    """The tools of other sources."""
    declared: str = ""
    """The address at which the source was declared to be."""
    keys_of: KeysOf = "caller"
    """The owner of the keys that its calls send."""
    allow_changes: bool = False
    """Tools that change something may be called, because the keys are those of a test account."""
    account_note: str = ""
    """Names the test account; without it nothing that changes something is called."""
    judge: Judge | None = None
    """Judge of quality; None for the rules alone."""
    search: WithTools | None = None
    """Builds the store's search with additional tools; None if it is unavailable."""


async def examine(drafts: Sequence[Draft], deps: GateDeps) -> AsyncGenerator[Examined]:
    """Yield each tool with its findings, batch by batch.

    Tools whose calls need no values from other answers come first, so that their answers can supply values to the calls of the rest.
    """
    looking = _Looking(deps, drafts)
    what_if, trouble = await looking.what_if()
    ordered = sorted(drafts, key=_lacking)
    for start in range(0, len(ordered), BATCH):
        batch = [await looking.at(draft) for draft in ordered[start : start + BATCH]]
        docs = [one.learnt for one in batch]
        probed = {one.tool: finding for one in batch for finding in one.findings if finding.check == "probe"}
        quality = await judged(docs, deps.judge or looking.rules, looking.rules, probed)
        found = await looking.found(ordered[start : start + BATCH], what_if, trouble)
        for one in batch:
            findings = (*one.findings, quality[one.tool], found[one.tool])
            yield Examined(
                one.tool, tuple(sorted(findings, key=lambda finding: CHECKS.index(finding.check))), one.learnt
            )


def _lacking(draft: Draft) -> int:
    """Count the values of a tool's live call that neither its document nor anybody gives."""
    return sum(one.name not in (draft.arguments or {}) and documented(one)[0] is None for one in draft.doc.required)


class _Looking:
    """Checks of one source."""

    def __init__(self, deps: GateDeps, drafts: Sequence[Draft]) -> None:
        self._deps = deps
        self._docs = [draft.doc for draft in drafts]
        self._own = KnownNames.of(self._docs)
        self._declared = urlsplit(deps.declared).netloc.rpartition("@")[2].lower()
        self._probe = Probe(deps.executor, leave=deps.allow_changes, account=deps.account_note)
        self.rules = RulesJudge(self._docs)

    async def at(self, draft: Draft) -> Examined:
        """Run the checks that need only the tool itself."""
        tool, deps = draft.doc, self._deps
        address = await check_address(tool, self._declared, deps.reach)
        auth = await check_auth(tool, deps.secrets, deps.keys_of)
        findings = [*check_document(tool, deps.known), *address, *check_name(tool, deps.known, self._own), *auth]
        if any(one.stops for one in (*address, *auth)):
            probe = skipped(
                "probe", "it was not called: its address or its keys did not pass", "mend what is said of those first"
            )
            return Examined(tool.id, (*findings, probe), tool)
        if wanted := next((one for one in auth if one.evidence.get("needed")), None):
            probe = skipped("probe", f"it was not called: {wanted.told}", wanted.advice)
            return Examined(tool.id, (*findings, probe), tool)
        probed = await self._probe.of(tool, draft.arguments)
        if any(
            one.check == "auth" for one in probed.findings
        ):  # the service rejected the key, which overrides the check
            findings = [one for one in findings if one.check != "auth"]
        return Examined(tool.id, (*findings, *probed.findings), probed.learnt)

    async def what_if(self) -> tuple[WhatIf | None, str]:
        """Return the search as it would be with all of these tools; or None, and the reason why it is unavailable."""
        if self._deps.search is None:
            return None, "there is no search to be asked"
        try:
            return await self._deps.search(self._docs), ""
        except FootpathError as error:
            return None, f"the search cannot be asked: {error}"

    async def found(self, drafts: Sequence[Draft], what_if: WhatIf | None, trouble: str) -> dict[ToolId, Finding]:
        """Check whether requests find these tools."""
        if what_if is None:
            return {
                draft.doc.id: skipped("findable", trouble, "try again when the store can be searched")
                for draft in drafts
            }
        requests: dict[ToolId, tuple[str, ...]] = {}
        for draft in drafts:
            requests[draft.doc.id] = draft.requests or await asyncio.to_thread(
                made_requests, draft.doc, draft.arguments or {}
            )
        given = frozenset(draft.doc.id for draft in drafts if draft.requests)
        try:
            return await findable(requests, given, what_if)
        except FootpathError as error:
            told = f"the search could not be asked: {error}"
            return {draft.doc.id: skipped("findable", told, "try again later") for draft in drafts}
