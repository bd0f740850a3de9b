"""Process that reads one MCP server's listing under limits. Started by :mod:`admission.sandboxed_reader` only."""

import sys
from collections.abc import Iterator
from typing import Any

import orjson

from admission.limits import ReadLimits
from admission.reading_process import run_bounded
from domain.tool import Credential
from graph.importers.mcp import McpSource, read_listing


def main() -> int:
    """Read the listing from standard input."""
    return run_bounded(render_listing)


def render_listing(data: bytes, request: dict[str, Any], limits: ReadLimits) -> Iterator[bytes]:
    """Yield a tool a line, then a last line with what was skipped."""
    source_fields = dict(request["source"])
    credentials = tuple(Credential.model_validate(credential) for credential in source_fields.pop("credentials"))
    listing = read_listing(orjson.loads(data), McpSource(**source_fields, credentials=credentials))
    skipped = list(listing.skipped)
    for doc in listing.docs:
        line = orjson.dumps(doc.model_dump(mode="json"))
        if len(line) > limits.tool:
            skipped.append(
                f"{doc.api} is left out: it comes to more than the {limits.tool // 1024} KiB that a tool may have"
            )
            continue
        yield line
    yield orjson.dumps({"skipped": skipped})


if __name__ == "__main__":
    sys.exit(main())
