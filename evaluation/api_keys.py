"""Keys that compare a relevant API with a found tool: tool set and API in ToolBench's file-name form.

Categories are left out: catalogues list one API under several, and such copies count as one.
"""

from domain.tool import ToolId, tool_id_parts
from graph.function_names import standardise

Key = tuple[str, str]


def key(toolset: str, api: str) -> Key:
    """Return the key of an API from its names, in any spelling."""
    return standardise(toolset), standardise(api)


def key_of(tool: ToolId) -> Key:
    """Return the key of a tool from its id."""
    _, toolset, api = tool_id_parts(tool)
    return key(toolset, api)
