"""Constructors of findings, and texts that several checks share."""

from pydantic.types import JsonValue

from domain.source import CheckName, Finding

UNNAMED = "a tool that is for others"
"""The name of a tool in findings for somebody it is hidden from."""

PLACELESS = (
    "its document does not say where it is called",
    "add servers to the document, or give the source an address (base_url)",
)
"""Message and advice for a tool without an address."""


def passed(check: CheckName, told: str, **evidence: JsonValue) -> Finding:
    """Return a finding that nothing is wrong."""
    return Finding(check=check, verdict="passed", told=told, evidence=evidence)


def warned(check: CheckName, told: str, advice: str, **evidence: JsonValue) -> Finding:
    """Return a finding that somebody should look at."""
    return Finding(check=check, verdict="warned", told=told, advice=advice, evidence=evidence)


def failed(check: CheckName, told: str, advice: str, **evidence: JsonValue) -> Finding:
    """Return a finding that keeps the tool out."""
    return Finding(check=check, verdict="failed", told=told, advice=advice, evidence=evidence)


def skipped(check: CheckName, told: str, advice: str = "", **evidence: JsonValue) -> Finding:
    """Return a finding that something could not be checked, with the reason."""
    return Finding(check=check, verdict="skipped", told=told, advice=advice, evidence=evidence)
