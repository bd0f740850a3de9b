"""Asynchronous API: open a store, find and offer tools, run requests and programs, learn from verdicts."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from pydantic.types import JsonValue

from agent.execution.executor import Executor
from agent.exporting.program_files import ExportForm, render_exported_file
from agent.programs.signatures import build_signature
from agent.scheduler import closing
from domain.errors import UnavailableError, UsageError
from domain.event import EventRecord
from domain.model import JsonObject
from footpath.results import Answer, FoundTool, Offer, Tool, Verdict
from footpath.user_callbacks import Changes, Reply, create_callback_approver, create_callback_channel
from graph.import_summary import ImportSummary
from graph.tool_description import find_category, find_tool
from wiring.ask import RunRequest, ask, choose_default_policy, read_given_files
from wiring.container import Container, load_settings, open_container
from wiring.program_export import export_program
from wiring.run_history import judge_run
from wiring.settings import Settings, read_settings
from wiring.source_fetch import is_address
from wiring.store_build import BuildOptions, build
from wiring.user_programs import infer_schema, plan_call, plan_user_program

Paths = Sequence[Path | str]
Policy = Literal["offline", "llm", ""]
"""Makes the decisions of a run: rules (``offline``) or the model of the settings (``llm``).

Empty: the model where the settings name one, else rules.
"""


class AsyncFootpath:
    """An open store whose tools can be found, offered and called. Created by :meth:`open`.

    Several runs may be in progress at the same time.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._executors: dict[str, Executor] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, store: Path | str | None = None, **settings: object) -> AsyncGenerator["AsyncFootpath"]:
        """Open a store, and close it at the end of the ``async with`` block.

        Args:
            store: Folder of the store; None for the store that the settings name.
            settings: Override the variables ``FOOTPATH_…``, by field name, e.g. ``allow_hosts={"127.0.0.1:8765"}``.

        Raises:
            UnavailableError: there is no store, or it cannot be used.
            UsageError: a setting is wrong.
        """
        async with open_container(_resolve_settings(settings), _to_path(store)) as container:
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
        """Build a store from files, or add to an existing one, and return the figures of the import.

        Args:
            store: Folder of the store.
            tools: Sources as ``build_graph.py`` takes them: OpenAPI documents (files or URLs), ToolBench folders,
                JSONL and more.
            trajectories: Files of recorded runs.
            calls: Files of recorded calls.
            server: Base URL for OpenAPI documents whose servers are relative.
            settings: As for :meth:`open`.

        Raises:
            UsageError: no source is given, or one does not exist.
            UnavailableError: the store cannot be used.
        """
        options = BuildOptions(_to_tool_sources(tools), _to_paths(trajectories), _to_paths(calls), Path(store), server)
        if not (options.tools or options.trajectories or options.calls):
            raise UsageError("nothing to import: give tools, trajectories or calls")
        _, summary = await build(options, _ignore_progress, _resolve_settings(settings))
        return summary

    async def find(self, request: str, limit: int = 10, *, category: str = "") -> list[FoundTool]:
        """Search for tools, best first, without using the graph. ``category`` limits the search to one category."""
        search = await self._container.open_search()
        filters = {"category": await find_category(self._container.graph, category)} if category else None
        hits = await search.find_tools(request, limit, filters)
        docs = await self._container.graph.get_tools([hit.id for hit in hits])
        return [
            FoundTool(hit.id, docs[hit.id].description if hit.id in docs else "", hit.score, tuple(hit.alike))
            for hit in hits
        ]

    async def offer(self, request: str, limit: int = 16) -> Offer:
        """Return the tools to serve a request with, best first, chosen by search and graph, each with its reasons."""
        tool_offer = await (await self._container.create_offer_maker()).offer(request, limit)
        return Offer.of(tool_offer, await self._container.graph.get_tools(tool_offer.ids))

    async def tool(self, name: str) -> Tool:
        """Return a tool by its id, its function name or the name of its API.

        Raises:
            UsageError: no tool has this name, or several have.
            UnavailableError: the tool is known from calls only, and has no document.
        """
        tool = await find_tool(self._container.graph, name)
        doc = (await self._container.graph.get_tools([tool])).get(tool)
        if doc is None:
            raise UnavailableError(f"no document of {tool} is known: import one that describes it")
        signature = build_signature(doc)
        changes = not doc.safe
        return Tool(doc.id, doc.description, doc.method, doc.url, changes, signature.text, doc.model_dump(mode="json"))

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
        """Yield the events of a run as they happen; the last one is ``run.finished``.

        Arguments and errors are those of :meth:`ask`. :meth:`Answer.of` turns the events into an answer.
        """
        run_request = await self._build_run_request(
            request, policy, planner, changes, reply, after, files, learn=learn, replay=replay
        )
        async with closing(ask(self._container, run_request)) as events:
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
        """Serve a request: choose tools, call them and answer.

        A run that fails raises nothing; see :attr:`footpath.results.Answer.outcome`.

        Args:
            request: The request in plain language.
            policy: Makes the decisions of the run.
            planner: Name of a planner, as for ``ask.py``; empty for the default of the policy.
            changes: What to do with calls that may have side effects: refuse them (``deny``), make them (``allow``),
                or decide each one by a function.
            reply: Answers the questions of the run; without it, the run cannot ask.
            learn: Let the store learn from the run.
            replay: Answer calls from recordings instead of the network.
            after: The answer that this request follows up on. Its files are available too.
            files: CSV, JSON or text files that the request is about, for programs that a model writes.

        Raises:
            UsageError: the policy or planner is unknown, the request is empty, or a file cannot be used.
            UnavailableError: the store cannot be used.
        """
        run_request = await self._build_run_request(
            request, policy, planner, changes, reply, after, files, learn=learn, replay=replay
        )
        return Answer.of(
            [event async for event in ask(self._container, run_request)], after, run_request.files.all_files
        )

    async def _build_run_request(
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
        given_files = await read_given_files(_to_paths(files), self._container.settings, after.files if after else ())
        return RunRequest(
            _require_request(request),
            policy=policy or choose_default_policy(self._container),
            planner=planner,
            executor=await self._get_executor(replay=replay),
            learn=learn,
            approver=create_callback_approver(changes),
            user_channel=create_callback_channel(reply),
            earlier=after.earlier if after else (),
            earlier_texts=after.said if after else (),
            files=given_files,
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
        """Check a program and run it in the sandbox; its calls are validated and approved as in any run.

        Args:
            program: Text of the program.
            values: Values of its inputs, by name.
            request: The request that the program serves. The store learns from the run only if it is given.
            inputs: JSON Schemas of the inputs; by default inferred from ``values``.
            tools: Ids of tools by the names under which the program calls them. Other tools are found by their own
                names.
            changes: As for :meth:`ask`.
            reply: As for :meth:`ask`.
            replay: As for :meth:`ask`.

        Raises:
            UsageError: the program has errors, which are listed by line; nothing was called.
        """
        input_values = dict(values or {})
        schemas = (
            dict(inputs) if inputs is not None else {name: infer_schema(value) for name, value in input_values.items()}
        )
        run_request = RunRequest(
            request or "Run a program",
            policy=choose_default_policy(self._container),
            executor=await self._get_executor(replay=replay),
            learn=bool(request),
            approver=create_callback_approver(changes),
            user_channel=create_callback_channel(reply),
            plan=await plan_user_program(self._container, program, schemas, input_values, tools),
        )
        return Answer.of([event async for event in ask(self._container, run_request)])

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
        """Call a tool once; the call is validated, approved and recorded as in any run.

        Args:
            tool: Id of the tool, its function name or the name of its API.
            arguments: Values by the parameter names of the signature, or by the tool's own. They may stem from
                responses of APIs, so an approver is told that no user gave them.
            changes: As for :meth:`ask`.
            reply: As for :meth:`ask`.
            learn: Let the store learn whether the call succeeded.
            replay: As for :meth:`ask`.

        Raises:
            UsageError: there is no such tool, or the arguments are wrong; nothing was called.
        """
        call_plan = await plan_call(self._container, tool, arguments or {})
        run_request = RunRequest(
            call_plan.request,
            policy=choose_default_policy(self._container),
            executor=await self._get_executor(replay=replay),
            learn=learn,
            approver=create_callback_approver(changes),
            user_channel=create_callback_channel(reply),
            plan=call_plan.plan,
            remember=False,
        )
        return Answer.of([event async for event in ask(self._container, run_request)])

    async def learn(self, run: Answer | str, verdict: Verdict | None) -> None:
        """Record a user's verdict on an answer, given as the answer or the id of its run.

        A wrong answer is not given to such a request again; what led to a right one is trusted more. The verdict None
        withdraws an earlier one.

        Raises:
            UsageError: the run is not in the history any more.
        """
        await judge_run(self._container, run.run if isinstance(run, Answer) else run, verdict)

    async def export(self, of: Answer | str, form: ExportForm) -> str:
        """Export the program behind an answer, or a solution given by its id, as the text of a file.

        The file works without Footpath's planner; ``form`` is Python, MCP or LangGraph.

        Raises:
            UsageError: there is no run or solution with this id, or it cannot be exported; the message says why.
        """
        program = await export_program(self._container, of.run if isinstance(of, Answer) else of)
        return render_exported_file(program, form).text

    async def _get_executor(self, *, replay: bool) -> Executor:
        name = "replay" if replay else "http"
        if name not in self._executors:
            self._executors[name] = await self._container.open_executor(name)
        return self._executors[name]


def _resolve_settings(overrides: Mapping[str, object]) -> Settings:
    return read_settings(**overrides) if overrides else load_settings()


def _to_path(store: Path | str | None) -> Path | None:
    return None if store is None else Path(store)


def _to_paths(paths: Paths) -> tuple[Path, ...]:
    return tuple(map(Path, paths))


def _to_tool_sources(sources: Paths) -> tuple[Path | str, ...]:
    return tuple(str(source) if is_address(source) else Path(source) for source in sources)


def _require_request(request: str) -> str:
    if not request.strip():
        raise UsageError("the request is empty; say in words what to find out or to do")
    return request


def _ignore_progress(stage: str, done: int, total: int | None) -> None:
    """Ignore the progress: a library prints no progress bar."""
    del stage, done, total
