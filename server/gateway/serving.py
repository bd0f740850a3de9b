"""The protocol's server: what each of its methods does, for whoever the request comes from. Errors say what to do, and never where in the code."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from mcp.server.lowlevel import Server
from mcp.shared.context import RequestContext
from mcp.shared.exceptions import McpError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    ErrorData,
    GetPromptResult,
    ListToolsRequest,
    ListToolsResult,
    Prompt,
)
from pydantic import ValidationError

from agent.text import clean_text
from domain.errors import FootpathError
from domain.model import describe_errors
from server.gateway.answers import fenced, said, wrong
from server.gateway.backend import Backend, OwnerApprovalNeeded
from server.gateway.finding import find_tools, show_tool
from server.gateway.following import Told
from server.gateway.functions import SessionFunctions
from server.gateway.person import ClientPerson
from server.gateway.running import Runner
from server.gateway.solutions import prompt, prompts
from server.gateway.tools import ALL, INSTRUCTIONS, Ask, CallTool, FindTools, Given, RunProgram, ShowTool, listed

_log = logging.getLogger(__name__)
T = TypeVar("T")
_FAILED = "Footpath failed in a way that nobody foresaw; its log has the details. Try again, or ask otherwise."


def _version() -> str:
    try:
        return version("footpath")
    except PackageNotFoundError:  # run from its folder, without being installed
        return "0"


_VERSION = _version()


@dataclass(slots=True)
class Session:
    """What lasts as long as a client's session: its names of functions, and at a server the conversation that its runs stand in."""

    functions: SessionFunctions = field(default_factory=SessionFunctions)
    conversation: str = ""
    waiting: dict[str, str] = field(default_factory=dict[str, str])
    """Runs that were left waiting for their owner, by the digest of their task."""


Context = RequestContext[Any, Session, Any]
BackendOf = Callable[[Context], Awaitable[Backend]]
"""The backend of whoever a request comes from."""


def gateway_server(
    backend_of: BackendOf, opened: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Server[Session, Any]:
    """One process's. ``opened``: held as long as a session lasts."""

    @asynccontextmanager
    async def session(_: Server[Session, Any]) -> AsyncGenerator[Session]:
        with opened():
            yield Session()

    server: Server[Session, Any] = Server("footpath", version=_VERSION, instructions=INSTRUCTIONS, lifespan=session)

    async def list_tools(_: ListToolsRequest) -> ListToolsResult:
        return ListToolsResult(tools=listed())

    async def call_tool(name: str, arguments: dict[str, Any]) -> CallToolResult:
        context = server.request_context
        try:
            return await _called(_given(name, arguments), await backend_of(context), context)
        except OwnerApprovalNeeded as waiting:
            return _describe_waiting(waiting)
        except FootpathError as error:
            _log.warning("a tool of the protocol failed: %s", error)  # where a store is, is not for users
            return wrong(error.public_message)
        except ValidationError as error:
            return wrong(f"{clean_text(name, 80)} was called wrongly: {describe_errors(error)}")
        except Exception:  # noqa: BLE001  # a defect of ours is told without a trace of it
            _log.exception("a tool of the protocol failed")
            return wrong(_FAILED)

    async def list_prompts() -> list[Prompt]:
        return await _or_error(prompts, backend_of(server.request_context))

    async def get_prompt(name: str, arguments: dict[str, str] | None) -> GetPromptResult:
        return await _or_error(partial(prompt, name, arguments or {}), backend_of(server.request_context))

    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(call_tool)
    server.list_prompts()(list_prompts)
    server.get_prompt()(get_prompt)
    return server


def _given(name: str, arguments: dict[str, Any]) -> Given:
    """The arguments as the tool reads them. ``ValidationError``, ``FootpathError``."""
    for one in ALL:
        if name == one.NAME:
            return one.model_validate(arguments)
    raise FootpathError(f"there is no tool {clean_text(name, 80)}; there are: {', '.join(one.NAME for one in ALL)}")


async def _called(given: Given, backend: Backend, context: Context) -> CallToolResult:
    backend.check_scope("read" if given.READS else "ask")
    functions = context.lifespan_context.functions
    runner = Runner(backend, functions, ClientPerson(context.session, context.request_id), _progress(context))
    match given:
        case FindTools():
            return await find_tools(given, backend, functions)
        case ShowTool():
            return await show_tool(given, backend, functions)
        case CallTool():
            return await runner.call_tool(given)
        case RunProgram():
            return await runner.run_program(given)
        case Ask():
            return await runner.ask(given)
        case _:
            raise FootpathError("this tool is listed and not served; tell whoever runs this server")


def _describe_waiting(waiting: OwnerApprovalNeeded) -> CallToolResult:
    """Answer a client whose run waits for its owner. Returned at once: clients give up on a request within a minute, and a person takes longer."""
    text = "\n".join(
        (
            f"Waiting for approval: run {waiting.run} has come to something that only its owner can approve, which no access token can do.",
            fenced("question", clean_text(waiting.question, 600)),
            f"Ask your user to answer it on {waiting.place}. The run then goes on by itself, and its answer is on the page. "
            "To get it here, make this same call again afterwards: it follows the same run and starts no other.",
        )
    )
    return said(text, {"run": waiting.run, "outcome": "waiting"})


def _progress(context: Context) -> Told:
    """Tells a client how far its request is, where it wants to know."""
    token = context.meta.progressToken if context.meta else None

    async def told(number: int, words: str) -> None:
        if token is not None:
            await context.session.send_progress_notification(
                token, number, message=words, related_request_id=str(context.request_id)
            )

    return told


async def _or_error(doing: Callable[[Backend], Awaitable[T]], backend: Awaitable[Backend]) -> T:
    """What is done, or an error of the protocol in words."""
    try:
        opened = await backend
        opened.check_scope("read")
        return await doing(opened)
    except FootpathError as error:
        _log.warning("a request of the protocol failed: %s", error)  # where a store is, is not for users
        raise McpError(ErrorData(code=INVALID_PARAMS, message=error.public_message)) from None
    except Exception:  # noqa: BLE001  # as above
        _log.exception("a request of the protocol failed")
        raise McpError(ErrorData(code=INTERNAL_ERROR, message=_FAILED)) from None
