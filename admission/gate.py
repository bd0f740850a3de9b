"""Admission gate: runs all checks on a source's tools before any of them is offered. It reports and decides nothing."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from admission.address_check import ReachabilityCheck, check_address
from admission.auth_check import check_auth
from admission.document_check import check_document
from admission.findability import SearchComparison, SearchWithTools, check_findability
from admission.findings import report_skip
from admission.known_names import KnownNames
from admission.name_check import check_name
from admission.probe import ToolProbe
from admission.probe_arguments import find_documented_value
from admission.quality import BATCH, QualityJudge, RulesJudge, judge_tools
from admission.sample_requests import make_sample_requests
from agent.execution.executor import Executor
from agent.execution.secret_store import SecretStore
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from domain.tool_source import CHECKS, Finding, KeyOwner


@dataclass(frozen=True, slots=True)
class ToolDraft:
    """Tool to be checked."""

    doc: ToolDoc
    requests: tuple[str, ...] = ()
    """How people would ask for it."""
    arguments: JsonObject | None = None
    """For the live call; None for the values in the document."""


@dataclass(frozen=True, slots=True)
class ToolExamination:
    """Findings about a tool, in the order of the checks."""

    tool: ToolId
    findings: tuple[Finding, ...]
    learnt_doc: ToolDoc
    """Its document, with what its answer to the live call taught."""


@dataclass(frozen=True, slots=True)
class GateDeps:
    """Dependencies and settings of the gate, for one source."""

    executor: Executor
    secrets: SecretStore
    check_reachable: ReachabilityCheck
    """Checks that an address may be called."""
    known_names: KnownNames = field(default_factory=KnownNames)
    """The tools of other sources."""
    declared_address: str = ""
    """The address at which the source was declared to be."""
    keys_of: KeyOwner = "caller"
    """The owner of the keys that its calls send."""
    allow_changes: bool = False
    """Tools that change something may be called, because the keys are those of a test account."""
    account_note: str = ""
    """Names the test account; without it nothing that changes something is called."""
    judge: QualityJudge | None = None
    """Judge of quality; None for the rules alone."""
    search_with_tools: SearchWithTools | None = None
    """Builds the store's search with additional tools; None if it is unavailable."""


async def examine(drafts: Sequence[ToolDraft], deps: GateDeps) -> AsyncGenerator[ToolExamination]:
    """Yield each tool with its findings, batch by batch.

    Tools whose calls need no values from other answers come first, so that their answers can supply values to the calls of the rest.
    """
    examination = _SourceExamination(deps, drafts)
    what_if, problem = await examination.load_search()
    ordered = sorted(drafts, key=_count_missing_values)
    for start in range(0, len(ordered), BATCH):
        batch = [await examination.check_tool(draft) for draft in ordered[start : start + BATCH]]
        docs = [checked_tool.learnt_doc for checked_tool in batch]
        probed = {
            checked_tool.tool: finding
            for checked_tool in batch
            for finding in checked_tool.findings
            if finding.check == "probe"
        }
        quality = await judge_tools(docs, deps.judge or examination.rules, examination.rules, probed)
        findability = await examination.check_requests(ordered[start : start + BATCH], what_if, problem)
        for checked_tool in batch:
            findings = (*checked_tool.findings, quality[checked_tool.tool], findability[checked_tool.tool])
            yield ToolExamination(
                checked_tool.tool,
                tuple(sorted(findings, key=lambda finding: CHECKS.index(finding.check))),
                checked_tool.learnt_doc,
            )


def _count_missing_values(draft: ToolDraft) -> int:
    """Count the values of a tool's live call that neither its document nor anybody gives."""
    return sum(
        parameter.name not in (draft.arguments or {}) and find_documented_value(parameter)[0] is None
        for parameter in draft.doc.required
    )


class _SourceExamination:
    """Checks of one source."""

    def __init__(self, deps: GateDeps, drafts: Sequence[ToolDraft]) -> None:
        self._deps = deps
        self._docs = [draft.doc for draft in drafts]
        self._own_names = KnownNames.from_tools(self._docs)
        self._declared_host = urlsplit(deps.declared_address).netloc.rpartition("@")[2].lower()
        self._probe = ToolProbe(deps.executor, allow_changes=deps.allow_changes, account=deps.account_note)
        self.rules = RulesJudge(self._docs)

    async def check_tool(self, draft: ToolDraft) -> ToolExamination:
        """Run the checks that need only the tool itself."""
        tool, deps = draft.doc, self._deps
        address = await check_address(tool, self._declared_host, deps.check_reachable)
        auth = await check_auth(tool, deps.secrets, deps.keys_of)
        findings = [
            *check_document(tool, deps.known_names),
            *address,
            *check_name(tool, deps.known_names, self._own_names),
            *auth,
        ]
        if any(finding.is_blocking for finding in (*address, *auth)):
            probe = report_skip(
                "probe", "it was not called: its address or its keys did not pass", "mend what is said of those first"
            )
            return ToolExamination(tool.id, (*findings, probe), tool)
        if missing_key := next((finding for finding in auth if finding.evidence.get("needed")), None):
            probe = report_skip("probe", f"it was not called: {missing_key.told}", missing_key.advice)
            return ToolExamination(tool.id, (*findings, probe), tool)
        probed = await self._probe.call_tool(tool, draft.arguments)
        if any(
            finding.check == "auth" for finding in probed.findings
        ):  # the service rejected the key, which overrides the check
            findings = [finding for finding in findings if finding.check != "auth"]
        return ToolExamination(tool.id, (*findings, *probed.findings), probed.learnt_doc)

    async def load_search(self) -> tuple[SearchComparison | None, str]:
        """Return the search as it would be with all of these tools; or None, and the reason why it is unavailable."""
        if self._deps.search_with_tools is None:
            return None, "there is no search to be asked"
        try:
            return await self._deps.search_with_tools(self._docs), ""
        except FootpathError as error:
            return None, f"the search cannot be asked: {error}"

    async def check_requests(
        self, drafts: Sequence[ToolDraft], what_if: SearchComparison | None, problem: str
    ) -> dict[ToolId, Finding]:
        """Check whether requests find these tools."""
        if what_if is None:
            return {
                draft.doc.id: report_skip("findable", problem, "try again when the store can be searched")
                for draft in drafts
            }
        requests: dict[ToolId, tuple[str, ...]] = {}
        for draft in drafts:
            requests[draft.doc.id] = draft.requests or await asyncio.to_thread(
                make_sample_requests, draft.doc, draft.arguments or {}
            )
        given_tools = frozenset(draft.doc.id for draft in drafts if draft.requests)
        try:
            return await check_findability(requests, given_tools, what_if)
        except FootpathError as error:
            message = f"the search could not be asked: {error}"
            return {draft.doc.id: report_skip("findable", message, "try again later") for draft in drafts}
