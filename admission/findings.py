"""Constructors of findings, and texts that several checks share."""

from pydantic.types import JsonValue

from domain.tool_source import CheckName, Finding

HIDDEN_TOOL = "a tool that is for others"
"""The name of a tool in findings for somebody it is hidden from."""

MISSING_ADDRESS = (
    "its document does not say where it is called",
    "add servers to the document, or give the source an address (base_url)",
)
"""Message and advice for a tool without an address."""


def report_pass(check: CheckName, message: str, **evidence: JsonValue) -> Finding:
    """Return a finding that nothing is wrong."""
    return Finding(check=check, verdict="passed", told=message, evidence=evidence)


def report_warning(check: CheckName, message: str, advice: str, **evidence: JsonValue) -> Finding:
    """Return a finding that somebody should look at."""
    return Finding(check=check, verdict="warned", told=message, advice=advice, evidence=evidence)


def report_failure(check: CheckName, message: str, advice: str, **evidence: JsonValue) -> Finding:
    """Return a finding that keeps the tool out."""
    return Finding(check=check, verdict="failed", told=message, advice=advice, evidence=evidence)


def report_skip(check: CheckName, message: str, advice: str = "", **evidence: JsonValue) -> Finding:
    """Return a finding that something could not be checked, with the reason."""
    return Finding(check=check, verdict="skipped", told=message, advice=advice, evidence=evidence)
