"""The application: operations, problems, and the life of what they work with."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from server.audit import Ends
from server.auth.passwords import Passwords
from server.bodies import Bodies
from server.examples import add_examples
from server.forwarding import Forwarding
from server.gateway.endpoint import PATH, Gateway, gateway_sessions
from server.problems import MEDIA_TYPE, Problem, handle_problems
from server.requests import Requests
from server.routes import (
    audit,
    auth,
    backups,
    choices,
    conversations,
    data,
    documents,
    embeddings,
    exported_programs,
    exports,
    files,
    forgotten_runs,
    graph,
    health,
    imports,
    inputs,
    jobs,
    key_grants,
    library,
    library_marks,
    library_neighbours,
    library_tool,
    library_try,
    me,
    metrics,
    models,
    plans,
    run_calls,
    run_history,
    run_offers,
    runs,
    shared_answers,
    solutions,
    source_checks,
    source_keys,
    source_operations,
    source_tools,
    sources,
    taken_templates,
    templates,
    usage,
    usage_report,
    users,
    verdicts,
)
from server.served_hosts import ServedHosts
from server.services import open_services
from server.watching.metrics import Metrics
from wiring.settings import Settings, read_settings

_ABOUT = """Plans and runs multi-step API calls. Errors are problem documents (RFC 9457); their `code` is stable."""

_ROUTERS = (
    health.router,
    metrics.router,
    auth.router,
    me.router,
    key_grants.router,
    usage.router,
    users.router,
    usage_report.router,
    audit.router,
    jobs.router,
    embeddings.router,
    models.router,
    data.router,
    backups.router,
    imports.router,
    conversations.router,
    files.router,
    forgotten_runs.router,
    run_offers.router,
    exports.router,
    choices.router,
    run_history.router,
    runs.router,
    shared_answers.router,
    run_calls.router,
    documents.router,
    exported_programs.router,
    inputs.router,
    plans.router,
    verdicts.router,
    templates.router,
    taken_templates.router,
    solutions.router,
    sources.router,
    source_keys.router,
    source_operations.router,
    source_tools.router,
    source_checks.router,
    library.router,
    library_tool.router,
    library_neighbours.router,
    library_try.router,
    library_marks.router,
    graph.router,
    source_keys.of_users,
)
"""In the order in which they are asked whose a path is."""


def create_app(
    settings: Settings | None = None,
    *,
    passwords: Passwords | None = None,
    failed: Callable[[Exception], None] | None = None,
) -> FastAPI:
    """Nothing is opened before the application starts. Without ``settings``, those of the process are read then.

    ``failed`` is told why it cannot start: the protocol between server and application has room for words only.
    """
    figures = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        try:
            async with (
                open_services(settings or read_settings(), passwords, figures) as services,
                gateway_sessions(services) as sessions,
            ):
                app.state.services, app.state.gateway = services, sessions
                yield
        except Exception as error:
            if failed is not None:
                failed(error)
            raise

    app = FastAPI(
        title="Footpath",
        version="1",
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # to whatever host the request names
    )
    handle_problems(app)
    for router in _ROUTERS:
        # As they stand: including them would build each anew.
        app.router.routes.extend(router.routes)
    _describe_problems(app)
    app.add_middleware(Ends)  # the innermost: it shares the scope with the operations
    app.add_middleware(Gateway, sessions=lambda: app.state.gateway)
    app.add_middleware(Bodies, body_limits=lambda: app.state.services.limits.body_limits)
    app.add_middleware(
        ServedHosts, serves=lambda: app.state.services.limits.serves
    )  # around the other: the last is the first to be asked
    routes: dict[object, str] = {one.endpoint: one.path_format for one in app.routes if isinstance(one, APIRoute)}
    routes[Gateway] = PATH
    plain = app.build_middleware_stack
    # Around all else, so that what nobody foresaw is told of, too.
    app.build_middleware_stack = lambda: Forwarding(
        Requests(plain(), routes, figures.answered, lambda: app.state.services.traces),
        lambda: app.state.services.proxies,
    )
    return app


def _describe_problems(app: FastAPI) -> None:
    """Put the schema of problems into the document, in place of the framework's own for invalid requests."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        document = plain()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        defined = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= defined.pop("$defs") | {"Problem": defined}
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        add_examples(schemas)
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"]["422"] = _only_a_problem(operation["responses"]["422"])
        return document

    app.openapi = openapi  # pyright: ignore[reportAttributeAccessIssue]  # FastAPI's own way to change it


def _only_a_problem(response: dict[str, Any]) -> dict[str, Any]:
    return response | {"content": {MEDIA_TYPE: response["content"][MEDIA_TYPE]}}
