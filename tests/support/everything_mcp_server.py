"""A server of the Model Context Protocol with a tool of every kind, made with the official SDK. Run as a program it speaks by its input and output.

Nothing of Footpath is imported here: it is a stranger.
"""

import sys
from typing import Any

import anyio
from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field


class Berth(BaseModel):
    """A berth of a harbour."""

    number: int
    free: bool = True


class Notes(BaseModel):
    """What was noted."""

    kept: list[str]


def everything(**settings: Any) -> FastMCP:
    """A new server. ``settings``: of FastMCP."""
    server = FastMCP(
        "everything", instructions="Berths, and notes of the harbour master.", log_level="ERROR", **settings
    )
    noted: list[str] = []

    @server.tool(annotations=ToolAnnotations(readOnlyHint=True))
    def berth_of(ship: str = Field(description="The ship's name.")) -> Berth:
        """The berth of a ship."""
        return Berth(number=len(ship), free=ship != "Argo")

    @server.tool(annotations=ToolAnnotations(destructiveHint=False))
    def note(text: str, tags: list[str] | None = None) -> Notes:
        """Note something for the harbour master."""
        noted.append(" ".join([text, *(tags or [])]))
        return Notes(kept=noted)

    @server.tool()
    def plain(name: str) -> str:
        """Greets somebody in words."""
        return f"Hello {name}"

    @server.tool(structured_output=False)
    def picture() -> list[Any]:
        """A picture and a word on it."""
        return ["a boat", Image(data=b"\x89PNG", format="png")]

    @server.tool()
    def refuses(ship: str) -> str:
        """Fails whatever is asked."""
        raise ValueError(f"{ship} is not known here")

    @server.tool()
    async def slow(seconds: float) -> str:
        """Answers after a while."""
        await anyio.sleep(seconds)
        return "at last"

    @server.tool()
    def huge(size: int) -> str:
        """Answers with so many characters."""
        return "x" * size

    @server.tool()
    async def learns(name: str, ctx: Context[Any, Any, Any]) -> str:
        """Gets another tool, and says so."""
        server.add_tool(lambda: name, name=name, description="A tool that was learnt.")
        await ctx.session.send_tool_list_changed()
        return f"{name} is there"

    _ = (berth_of, note, plain, picture, refuses, slow, huge, learns)
    return server


if __name__ == "__main__":
    everything().run(sys.argv[1] if len(sys.argv) > 1 else "stdio")  # pyright: ignore[reportArgumentType]
