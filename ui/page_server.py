"""The page's program: Streamlit, with a route of our own that keeps a log-in in the browser.

``streamlit run ui/page_server.py`` finds ``app`` by reading this text. Code of a page runs over a WebSocket and can set no header of an answer; a route can, so that the
cookie is ``HttpOnly``: no script of the page reads it.
"""

from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit.starlette import App

from ui.login_tickets import COOKIE, HANDOVER_TYPE, SECONDS, TICKET_PATH
from ui.session import tickets

_MAX_BODY: Final = 200
"""Bytes that are read of what is said to be a code, which has 43."""


async def keep_ticket(request: Request) -> Response:
    """Set the cookie of a log-in, against the code that its page was given; it counts once.

    Pages of other origins can send no body of this type, since nothing here answers their browser's preflight: nobody is logged in to a stranger's account.
    """
    if request.headers.get("content-type") != HANDOVER_TYPE:
        return PlainTextResponse("this takes the code that the page hands over", 415)
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MAX_BODY:
            return PlainTextResponse("this is longer than any code", 413)
    ticket = tickets().redeem(body.decode(errors="replace"))
    if not ticket:
        return PlainTextResponse("this code counts no more: load the page again", 403)
    response = Response(status_code=204)
    secure = request.headers.get("origin", "").startswith("https:")
    response.set_cookie(COOKIE, ticket, max_age=SECONDS, path="/", secure=secure, httponly=True, samesite="strict")
    return response


async def forget_ticket(request: Request) -> Response:
    """Remove the cookie, after a log-out."""
    del request
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


app = App(
    Path(__file__).with_name("app.py"),
    routes=[
        Route(TICKET_PATH, keep_ticket, methods=["POST"]),
        Route(TICKET_PATH, forget_ticket, methods=["DELETE"]),
    ],
)
