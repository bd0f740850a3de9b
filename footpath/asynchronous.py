"""The library for programs that have an event loop."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from pydantic.types import JsonValue

from agent.execution.executor import Executor
from agent.exporting.forms import Form, written
from agent.programs.signatures import build_signature
from agent.scheduler import closing
from domain.errors import UnavailableError, UsageError
from domain.event import EventRecord
from domain.model import JsonObject
from footpath.results import Answer, FoundTool, Offer, Tool, Verdict
from footpath.user import Changes, Reply, approver_of, asker_of
from graph.import_summary import ImportSummary
from graph.tool_description import find_category, find_tool
from wiring.ask import RunRequest, ask, choose_default_policy, read_given_files
from wiring.build import BuildOptions, build
from wiring.container import Container, load_settings, open_container
from wiring.program_export import export_program
from wiring.run_history import judge_run
from wiring.settings import Settings, read_settings
from wiring.source_fetch import is_address
from wiring.user_programs import infer_schema, plan_call, plan_user_program

Paths = Sequence[Path | str]
Policy = Literal["offline", "llm", ""]
"""Who decides: rules, or the model of the settings; empty: the model where one is set."""


class AsyncFootpath:
    """An open store: its tools are found, offered and called. Made by :meth:`open`; runs side by side are fine."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._executors: dict[str, Executor] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, store: Path | str | None = None, **settings: object) -> AsyncGenerator["AsyncFootpath"]:
        """Open the store in a folder, or without one that of the settings; closed at the end of the block.

        ``settings``: what the variables ``FOOTPATH_…`` say otherwise, by the names of the fields, as ``allow_hosts={"127.0.0.1:8765"}``.

        Raises:
            UnavailableError: there is no store, or it cannot be used. UsageError: a setting is wrong.
        """
        async with open_container(_settings(settings), _path(store)) as container:
            yield cls(container)

    @staticmethod
    async def build(
        store: Path | str,
        tools: Paths = (),
        trajectories: Paths = (),
        calls: Paths = (),
        *,
        server: str = "",
        **settings: object,
    ) -> ImportSummary:
        """Build a store, or add to it, from files as ``build_graph.py`` takes them: OpenAPI documents (addresses, too), ToolBench folders, JSONL and more. What it
        came to, in figures. ``server``: the address that an OpenAPI document's servers are relative to.
        """
        options = BuildOptions(_tools(tools), _paths(trajectories), _paths(calls), Path(store), server)
        if not (options.tools or options.trajectories or options.calls):
            raise UsageError("nothing to import: give tools, trajectories or calls")
        _, summary = await build(options, _quietly, _settings(settings))
        return summary

    async def find(self, request: str, limit: int = 10, *, category: str = "") -> list[FoundTool]:
        """The tools that a request finds, best first: search alone."""
        search = await self._container.open_search()
        within = {"category": await find_category(self._container.graph, category)} if category else None
        hits = await search.start_tools(request, limit, within)
        docs = await self._container.graph.get_tools([hit.id for hit in hits])
        return [
            FoundTool(hit.id, docs[hit.id].description if hit.id in docs else "", hit.score, tuple(hit.alike))
            for hit in hits
        ]

    async def offer(self, request: str, limit: int = 16) -> Offer:
        """The tools that a request is to be served with, by search and graph together, each with its reasons."""
        made = await (await self._container.create_offer_maker()).offer(request, limit)
        return Offer.of(made, await self._container.graph.get_tools(made.ids))

    async def tool(self, name: str) -> Tool:
        """A tool by its id, its function or its API's name. ``UsageError``: nothing is called so, or several things are."""
        tool = await find_tool(self._container.graph, name)
        doc = (await self._container.graph.get_tools([tool])).get(tool)
        if doc is None:
            raise UnavailableError(f"no document of {tool} is known: import one that describes it")
        told = build_signature(doc)
        changes = not doc.safe
        return Tool(doc.id, doc.description, doc.method, doc.url, changes, told.text, doc.model_dump(mode="json"))

    async def stream(
        self,
        request: str,
        *,
        policy: Policy = "",
        planner: str = "",
        changes: Changes = "deny",
        reply: Reply | None = None,
        learn: bool = True,
        replay: bool = False,
        after: Answer | None = None,
        files: Paths = (),
    ) -> AsyncGenerator[EventRecord]:
        """The events of a run, as they happen; the last is ``run.finished``. :meth:`Answer.of` makes an answer of them. The rest as for :meth:`ask`."""
        asked = await self._asked(request, policy, planner, changes, reply, after, files, learn=learn, replay=replay)
        async with closing(ask(self._container, asked)) as events:
            async for event in events:
                yield event

    async def ask(
        self,
        request: str,
        *,
        policy: Policy = "",
        planner: str = "",
        changes: Changes = "deny",
        reply: Reply | None = None,
        learn: bool = True,
        replay: bool = False,
        after: Answer | None = None,
        files: Paths = (),
    ) -> Answer:
        """Serve a request: tools are chosen and called, an answer is made.

        ``changes``: calls that may change something are not made (deny), made (allow), or a function is asked about each. ``reply``: answers
        what the run asks; without it nobody can be asked. ``learn``: the store learns from it. ``replay``: answers come from recorded calls.
        ``after``: the answer that it goes on from, whose files it finds as well. ``files``: CSV, JSON or text that it is about, for a program
        that a model writes. ``planner``: as of ``ask.py``.

        Raises:
            UsageError: no such policy or planner, no request, or a file that cannot be used. UnavailableError: the store cannot be used. A run that
            fails raises nothing: its answer's outcome says so.
        """
        asked = await self._asked(request, policy, planner, changes, reply, after, files, learn=learn, replay=replay)
        return Answer.of([event async for event in ask(self._container, asked)], after, asked.files.all)

    async def _asked(
        self,
        request: str,
        policy: Policy,
        planner: str,
        changes: Changes,
        reply: Reply | None,
        after: Answer | None,
        files: Paths,
        *,
        learn: bool,
        replay: bool,
    ) -> RunRequest:
        given = await read_given_files(_paths(files), self._container.settings, after.files if after else ())
        return RunRequest(
            _said(request),
            policy=policy or choose_default_policy(self._container),
            planner=planner,
            executor=await self._executor(replay=replay),
            learn=learn,
            approver=approver_of(changes),
            asker=asker_of(reply),
            earlier=after.earlier if after else (),
            earlier_texts=after.said if after else (),
            files=given,
        )

    async def run_program(
        self,
        program: str,
        values: Mapping[str, JsonValue] | None = None,
        *,
        request: str = "",
        inputs: Mapping[str, JsonObject] | None = None,
        tools: Mapping[str, str] | None = None,
        changes: Changes = "deny",
        reply: Reply | None = None,
        replay: bool = False,
    ) -> Answer:
        """Run a program over the store's tools: checked, in the sandbox, each call validated and approved as in any run.

        ``values``: of its inputs; ``inputs``: their JSON Schemas, by default those of the values. ``tools``: ids of those that the text calls by
        these names; others are found by theirs. ``request``: what it serves; with it the store learns from the run.

        Raises:
            UsageError: all that is wrong with the text, by line; nothing was called then.
        """
        given = dict(values or {})
        schemas = dict(inputs) if inputs is not None else {name: infer_schema(value) for name, value in given.items()}
        asked = RunRequest(
            request or "Run a program",
            policy=choose_default_policy(self._container),
            executor=await self._executor(replay=replay),
            learn=bool(request),
            approver=approver_of(changes),
            asker=asker_of(reply),
            plan=await plan_user_program(self._container, program, schemas, given, tools),
        )
        return Answer.of([event async for event in ask(self._container, asked)])

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, JsonValue] | None = None,
        *,
        changes: Changes = "deny",
        reply: Reply | None = None,
        learn: bool = True,
        replay: bool = False,
    ) -> Answer:
        """One call of a tool, by its id, its function or its API's name: validated, approved and recorded as any; the store learns how it went.

        ``arguments``: by the names of the signature's parameters, or the tool's own. Whoever made them may have them from answers of APIs, so an
        approver is told that no user said them.

        Raises:
            UsageError: no such tool, or all that is wrong with the arguments; nothing was called then.
        """
        called = await plan_call(self._container, tool, arguments or {})
        asked = RunRequest(
            called.request,
            policy=choose_default_policy(self._container),
            executor=await self._executor(replay=replay),
            learn=learn,
            approver=approver_of(changes),
            asker=asker_of(reply),
            plan=called.plan,
            remember=False,
        )
        return Answer.of([event async for event in ask(self._container, asked)])

    async def learn(self, run: Answer | str, verdict: Verdict | None) -> None:
        """A user's word on an answer: what was wrong is not given again to such a request, what was right is trusted more. None takes it back.

        Raises:
            UsageError: no such run is known any more.
        """
        await judge_run(self._container, run.run if isinstance(run, Answer) else run, verdict)

    async def export(self, of: Answer | str, form: Form) -> str:
        """The text of a file that carries out what an answer was found by, or a solution (by its id): for Python, MCP or LangGraph.

        Raises:
            UsageError: nothing is kept under that id, or it cannot be exported, and why.
        """
        program = await export_program(self._container, of.run if isinstance(of, Answer) else of)
        return written(program, form).text

    async def _executor(self, *, replay: bool) -> Executor:
        name = "replay" if replay else "http"
        if name not in self._executors:
            self._executors[name] = await self._container.open_executor(name)
        return self._executors[name]


def _settings(given: Mapping[str, object]) -> Settings:
    return read_settings(**given) if given else load_settings()


def _path(store: Path | str | None) -> Path | None:
    return None if store is None else Path(store)


def _paths(paths: Paths) -> tuple[Path, ...]:
    return tuple(map(Path, paths))


def _tools(sources: Paths) -> tuple[Path | str, ...]:
    return tuple(str(source) if is_address(source) else Path(source) for source in sources)


def _said(request: str) -> str:
    if not request.strip():
        raise UsageError("the request is empty; say in words what to find out or to do")
    return request


def _quietly(stage: str, done: int, total: int | None) -> None:
    """No progress bar in somebody else's program."""
    del stage, done, total
