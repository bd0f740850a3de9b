"""Twenty documents, six of which should not be offered: vague, misleading, or with a plain sentence that wants something of a model. Of the others some look alike."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.support.source_tree import ROOT

_FILE = ROOT / "tests" / "data" / "judged_documents.json"


@dataclass(frozen=True)
class Judged:
    """A document, and what is wrong with it; empty: nothing."""

    tool: ToolDoc
    wrong: str


@cache
def judged_documents() -> tuple[Judged, ...]:
    """In the order of the file: bad ones among good ones."""
    return tuple(Judged(_document(one), one["bad"]) for one in json.loads(_FILE.read_text(encoding="utf-8")))


def _document(one: dict[str, Any]) -> ToolDoc:
    given = [
        Parameter(name=name, type=kind, required=required, description=text)
        for name, kind, required, text in one["parameters"]
    ]
    toolset, api = one["toolset"], one["api"]
    return ToolDoc(
        id=make_tool_id("various", toolset, api), category="various", toolset=toolset, api=api, function=api, description=one["description"],
        method=one.get("method", "GET"), url="https://various.example/it", parameters=tuple(given),
    )  # fmt: skip
