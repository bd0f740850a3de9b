"""Keys that compare a relevant API with a found tool: tool set and API in ToolBench's file-name form.

Categories are left out: catalogues list one API under several, and such copies count as one.
"""

from domain.tool import ToolId, split_tool_id
from graph.function_names import standardise

ApiName = tuple[str, str]
"""Key of an API: names of tool set and API in a standard form."""


def normalize_api_name(toolset: str, api: str) -> ApiName:
    """Return the key of an API from its names, in any spelling."""
    return standardise(toolset), standardise(api)


def get_api_name(tool: ToolId) -> ApiName:
    """Return the key of a tool from its id."""
    _, toolset, api = split_tool_id(tool)
    return normalize_api_name(toolset, api)
