"""Doable: a task list."""

from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.state import record_effect, state_of
from playground.worlds import chance, diary

router = APIRouter(prefix="/doable", tags=["Productivity"])
State = Literal["open", "in_progress", "done"]
Priority = Literal["low", "normal", "high"]


class NewTask(BaseModel):
    """A task to add."""

    title: str = Field(min_length=2, max_length=200, description="What is to be done.", examples=["Book the ferry"])
    due_date: date | None = Field(None, description="Day by which it must be done.", examples=["2026-05-12"])
    priority: Priority = Field("normal", description="How important it is.", examples=["high"])


class Task(NewTask):
    """A task."""

    task_id: str = Field(description="Identifier of the task.", examples=["tsk_21f0c9aa"])
    state: State = Field(description="How far it is.", examples=["open"])


@router.get("/tasks", operation_id="list_tasks", summary="All tasks")
async def list_tasks(
    request: Request,
    state: Annotated[
        list[State] | None, Query(description="Only tasks in one of these states.", examples=[["open", "in_progress"]])
    ] = None,
    priority: Annotated[Priority | None, Query(description="Only tasks of this priority.")] = None,
) -> list[Task]:
    """Your to-do list: every task with its state, priority and due date."""
    return [
        one
        for one in _all(request).values()
        if (not state or one.state in state) and (priority is None or one.priority == priority)
    ]


@router.post("/tasks", operation_id="create_task", summary="Add a task", status_code=201)
async def create_task(request: Request, task: NewTask) -> Task:
    """Put something on your to-do list."""
    effect = record_effect(request, task.model_dump(mode="json"))
    made = Task(task_id=f"tsk_{chance.identifier(8, 'new task', effect.at_seq)}", state="open", **task.model_dump())
    _all(request)[made.task_id] = made
    return made


@router.put(
    "/tasks/{task_id}/done",
    operation_id="complete_task",
    summary="Tick off a task",
    responses=refusals(e404="No task has this identifier."),
)
async def complete_task(
    request: Request,
    task_id: Annotated[str, Path(description="Identifier of the task.", examples=["tsk_21f0c9aa"])],
) -> Task:
    """Mark a task as done. Doing so twice changes nothing more."""
    task = _all(request).get(task_id)
    if task is None:
        refuse(404, f"No such task: {task_id}.")
    if task.state != "done":
        record_effect(request, {"task_id": task_id})
        task = task.model_copy(update={"state": "done"})
        _all(request)[task_id] = task
    return task


def _all(request: Request) -> dict[str, Task]:
    """The list; it starts with what the world has on it."""
    kept = state_of(request).table(Task)
    if state_of(request).visit("tasks filled") == 1:
        for one in diary.errands():
            given = {"task_id": one.task_id, "title": one.title, "due_date": one.due}
            kept[one.task_id] = Task.model_validate(given | {"priority": one.priority, "state": one.state})
    return kept


SERVICE = Service(router, "Doable", "To-do lists that get done.")
