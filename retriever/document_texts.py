"""Text forms of a tool's document: one for the encoder, one for BM25.

Both are part of an index's identity, by ``TEMPLATE_VERSION``.
"""

from hashlib import blake2b

from domain.tool import ToolDoc
from retriever.words import split_identifier, truncate_words

TEMPLATE_VERSION = "1"
"""Version of both text forms. Change it with them: indexes of another version are refused, not mixed."""

_MAX_TEXT = 20_000
"""Characters of a field that are read: catalogue texts come from strangers and may be huge."""


def build_dense_text(tool: ToolDoc) -> str:
    """Return the text for the encoder, most informative part first, because the encoder sees 96 tokens."""
    parts = [f"{tool.toolset}: {split_identifier(tool.api)}."]
    if description := truncate_words(tool.description[:_MAX_TEXT], 40):
        parts.append(description)
    if about := truncate_words(tool.toolset_description[:_MAX_TEXT], 20):
        parts.append(about)
    parts.append(f"Category {tool.category}.")
    if names := _format_parameter_names(tool):
        parts.append(f"Parameters {', '.join(names)}")
    return " ".join(parts)


def build_lexical_text(tool: ToolDoc) -> str:
    """Return the text for BM25; names occur twice, because they say more than a word of a description."""
    parts = [tool.category, tool.toolset, tool.toolset, tool.api, tool.api]
    parts += [truncate_words(text[:_MAX_TEXT], 300) for text in (tool.description, tool.toolset_description)]
    return " ".join([*parts, *_format_parameter_names(tool)])


def hash_text(text: str) -> str:
    """Return the digest of a text, by which an index recognises that it has not changed."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _format_parameter_names(tool: ToolDoc, limit: int = 12) -> list[str]:
    return [split_identifier(parameter.name[:100]) for parameter in tool.parameters[:limit]]
