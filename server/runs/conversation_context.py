"""Context of a run: earlier runs of its conversation, statements of its user, and values that a template fixed."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from agent.conversation import MAX_EARLIER_RUNS, EarlierRun, build_earlier_run
from agent.execution.provenance import FixedArgument, RunStatements
from agent.files.given_files import GivenFiles
from agent.plans.planned_arguments import collect_fixed_values, collect_given_texts
from domain.given_file import GivenFile
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolId
from server.runs.call_corrections import collect_corrected_values
from server.runs.event_journal import parse_events
from server.runs.given_plans import load_given_plan
from server.storage.run_records import RunQuestion
from server.storage.runs import Run
from server.storage.storage import Storage
from wiring.lazy import Lazy

ALONE = "alone"
"""Key in a run's settings: it ignores what was said before in its conversation."""
_MAX_EARLIER_RUNS = 20
_EARLIER_RUN_KINDS = ("subtask.started", "step.backtracked", "call.finished", "program.ended", "run.finished")


class EarlierRuns:
    """Earlier runs of a run's conversation, loaded once for all readers.

    Empty where the run ignores its conversation.
    """

    def __init__(self, run: Run, storage: Storage) -> None:
        self._run = run
        self._storage = storage
        self._runs = Lazy(self._load)

    async def get(self) -> list[Run]:
        """Return the runs, the latest first."""
        return await self._runs.get()

    async def _load(self) -> list[Run]:
        return [] if self._run.settings.get(ALONE) else await self._storage.runs.list_before(self._run, _MAX_MESSAGES)


async def load_earlier_runs(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> list[EarlierRun]:
    """Load the latest earlier runs that emitted any relevant event, the oldest first."""
    earlier_runs: list[EarlierRun] = []
    before = await (earlier or EarlierRuns(run, storage)).get()
    for previous in before[:_MAX_EARLIER_RUNS]:
        if previous.finished_at is None or previous.finished_at > run.created_at:
            continue
        events = await storage.events.list_kinds(previous.id, _EARLIER_RUN_KINDS)
        if events:
            earlier_runs.append(build_earlier_run(await parse_events(events)))
        if len(earlier_runs) == MAX_EARLIER_RUNS:
            break
    return earlier_runs[::-1]


_AUTHOR_VALUES = "others"
"""Key in a run's settings: values that another user, the author of its template, fixed.

Earlier versions lack it.
"""
_MAX_MESSAGES = 50
"""Number of latest messages of a conversation that count as statements of its user."""


def mark_values_fixed_by_author(plan: ProgramPlan, user_inputs: Collection[str]) -> JsonObject:
    """Return the settings entry of a run of another user's template, which records the values that the author fixed.

    ``user_inputs``: the inputs for which the user gave values. The entry is stored with the run, since the template may
    change hands, change or be removed before the run ends.
    """
    fixed: list[JsonObject] = [
        {"tool": tool, "parameter": name, "value": value}
        for tool, name, value in collect_fixed_values(plan, user_inputs)
    ]
    return {_AUTHOR_VALUES: [*fixed]}


async def collect_statements(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> RunStatements:
    """Collect what the run's user and the author of its template said and fixed.

    The result is the same each time the run is resumed: later messages and answers do not count, but corrections made
    meanwhile do.
    """
    before, inputs = await asyncio.gather(
        (earlier or EarlierRuns(run, storage)).get(), storage.run_questions.list_all(run.id)
    )
    runs = [*before[::-1], run]
    others_run_ids = await _find_runs_of_others_templates(runs, storage)
    answered = await _load_answered_questions(before, run, storage)
    fixed = await asyncio.to_thread(_get_fixed_values, run)
    fixed_by_others = _get_values_fixed_by_author(run, fixed) if run.id in others_run_ids else []
    plan_values = [] if run.id in others_run_ids else collect_given_texts(load_given_plan(run))
    return RunStatements(
        user_messages=[
            *plan_values,
            *(text for context_run in runs for text in _iterate_user_texts(context_run, answered, others_run_ids)),
        ],
        user_values=[
            *(context_run for context_run in fixed if context_run not in fixed_by_others),
            *collect_corrected_values(inputs),
        ],
        author_messages=[run.request] if run.id in others_run_ids else [],
        author_values=fixed_by_others,
    )


async def _load_answered_questions(
    before: Sequence[Run], run: Run, storage: Storage
) -> Mapping[str, Sequence[RunQuestion]]:
    """Load the questions of earlier runs that were answered when the run was requested, by run.

    The run's own answers are in its events.
    """
    by_run: defaultdict[str, list[RunQuestion]] = defaultdict(list)
    if not before:
        return by_run
    for question in await storage.run_questions.list_answered([question.id for question in before], run.created_at):
        by_run[question.run_id].append(question)
    return by_run


def _iterate_user_texts(
    run: Run, answered: Mapping[str, Sequence[RunQuestion]], by_others: Collection[str]
) -> Iterator[str]:
    """Yield the user's own words in one run: the request and their answers.

    In a run of another user's template, neither the request nor a choice that it proposed is worded by them.
    """
    if run.id not in by_others:
        yield run.request
    for stored_question in answered.get(run.id, ()):
        answer, question_content = (
            cast("dict[str, Any]", stored_question.answer),
            cast("dict[str, Any]", stored_question.question),
        )
        text = answer.get("answer", "")
        proposed = question_content.get("choices" if run.id in by_others else "theirs", ())
        if text and text not in proposed:
            yield text


async def _find_runs_of_others_templates(runs: Sequence[Run], storage: Storage) -> set[str]:
    """Return the ids of the runs that use a template of another user."""
    unmarked = {run.template_id for run in runs if run.template_id is not None and _AUTHOR_VALUES not in run.settings}
    others_templates = (
        await storage.templates.find_owned_by_others(unmarked, runs[0].user_id) if unmarked else set[str]()
    )
    return {run.id for run in runs if _AUTHOR_VALUES in run.settings or run.template_id in others_templates}


def _get_fixed_values(run: Run) -> list[FixedArgument]:
    """Return the values in the plan that the run was asked to carry out."""
    return collect_fixed_values(load_given_plan(run))


def _get_values_fixed_by_author(run: Run, fixed: list[FixedArgument]) -> list[FixedArgument]:
    """Return the values of a run that the author of its template fixed.

    Where the run does not record which values are the author's: all values of its plan.
    """
    if _AUTHOR_VALUES not in run.settings:
        return fixed
    stored = cast("list[JsonObject]", run.settings.get(_AUTHOR_VALUES) or [])
    return [(ToolId(str(entry["tool"])), str(entry["parameter"]), entry["value"]) for entry in stored]


FILES = "files"
"""Key in a run's settings: the ids of the files that it was asked with."""
_MAX_FILE_RUNS = 10
"""Number of earlier questions of a conversation whose files are offered to a new one."""
_MAX_EARLIER_FILES = 5


async def load_run_files(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> GivenFiles:
    """Load a run's files; the result is the same each time the run is resumed, as long as no file is removed.

    No file of a run can be removed while the run is under way. ``NotFoundError``: a file that it was asked with is
    gone.
    """
    new = await storage.files.load_files(run.conversation_id, run.user_id, _get_file_ids(run))
    return GivenFiles(tuple(new), tuple(await _load_earlier_files(run, new, storage, earlier)))


async def _load_earlier_files(
    run: Run, new: Sequence[GivenFile], storage: Storage, runs: EarlierRuns | None
) -> Sequence[GivenFile]:
    """Load the files of the latest earlier questions, the latest first, without those that were removed meanwhile."""
    new_ids = {file_id.id for file_id in new}
    earlier = (await (runs or EarlierRuns(run, storage)).get())[:_MAX_FILE_RUNS]
    ids = list(
        dict.fromkeys(file_id for before in earlier for file_id in _get_file_ids(before) if file_id not in new_ids)
    )[:_MAX_EARLIER_FILES]
    files_by_id = (
        {
            file_id.file.id: file_id.file
            for file_id in await storage.files.list_all(run.conversation_id, run.user_id, ids)
        }
        if ids
        else {}
    )
    return [files_by_id[file_id] for file_id in ids if file_id in files_by_id]


def _get_file_ids(run: Run) -> list[str]:
    stored_ids = run.settings.get(FILES)
    return [str(file_id) for file_id in stored_ids] if isinstance(stored_ids, list) else []
