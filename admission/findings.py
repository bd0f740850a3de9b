"""Findings in short."""

from pydantic.types import JsonValue

from domain.source import CheckName, Finding

UNNAMED = "a tool that is for others"
"""What a tool is called to whom it is hidden from."""

PLACELESS = (
    "its document does not say where it is called",
    "add servers to the document, or give the source an address (base_url)",
)
"""What a tool without an address is told, and what to do."""


def passed(check: CheckName, told: str, **evidence: JsonValue) -> Finding:
    """What is as it should be."""
    return Finding(check=check, verdict="passed", told=told, evidence=evidence)


def warned(check: CheckName, told: str, advice: str, **evidence: JsonValue) -> Finding:
    """What somebody should look at."""
    return Finding(check=check, verdict="warned", told=told, advice=advice, evidence=evidence)


def failed(check: CheckName, told: str, advice: str, **evidence: JsonValue) -> Finding:
    """What keeps a tool out."""
    return Finding(check=check, verdict="failed", told=told, advice=advice, evidence=evidence)


def skipped(check: CheckName, told: str, advice: str = "", **evidence: JsonValue) -> Finding:
    """What could not be looked at, and why."""
    return Finding(check=check, verdict="skipped", told=told, advice=advice, evidence=evidence)
