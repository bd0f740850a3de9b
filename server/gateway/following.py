"""A run that is followed for a client: its events told as progress, its end awaited, and the run ended where the client takes its request back."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable

import anyio

from agent.scheduler import closing
from agent.text import clean_text
from agent.transcript import RunTranscript
from domain.event import (
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    Event,
    EventRecord,
    InputNeeded,
    ProgramFailed,
    ProgramRefused,
    ProgramStarted,
    QuestionAnswered,
    RunFinished,
    StepChosen,
    SubtaskStarted,
)
from domain.tool import split_tool_id

_log = logging.getLogger(__name__)
Told = Callable[[int, str], Awaitable[None]]
"""Hears how far a run is: the number of its event, and words."""


class Followed:
    """The runs of one backend. What is done after a run's last event, such as bringing links up to date, is waited for by nobody but :meth:`settled`."""

    def __init__(self) -> None:
        self._reading = set[asyncio.Task[None]]()

    async def to_its_end(self, records: AsyncGenerator[EventRecord], told: Told) -> tuple[str, RunTranscript]:
        """The run's id, and what it came to. It is read in a task of its own: a cancelled request breaks into each of its awaits, and a run has to
        end in order.
        """
        ended: asyncio.Future[tuple[str, RunTranscript]] = asyncio.get_running_loop().create_future()
        reading = asyncio.create_task(_read(records, told, ended))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
            raise

    async def settled(self) -> None:
        """Once all that its runs have set going is done."""
        await asyncio.gather(*self._reading, return_exceptions=True)


async def _read(
    records: AsyncGenerator[EventRecord], told: Told, ended: "asyncio.Future[tuple[str, RunTranscript]]"
) -> None:
    transcript, run = RunTranscript(), ""
    try:
        async with closing(records):
            async for record in records:
                run = record.run
                transcript.add(record)
                if words := progress(record.event):
                    await told(record.seq, words)
                if isinstance(record.event, RunFinished) and not ended.done():
                    ended.set_result((run, transcript))
    except Exception as error:  # noqa: BLE001  # whoever waits is told of it
        if ended.done():
            _log.exception("a run had ended, and what comes after it failed")
        else:
            ended.set_exception(error)
    finally:
        if not ended.done():
            ended.cancel()


def progress(event: Event) -> str:
    """An event in words, for who waits; empty for those that say nothing to them."""
    match event:
        case SubtaskStarted():
            return f"part {event.subtask}: {clean_text(event.description, 120)}"
        case CandidatesConsidered():
            return f"{len(event.candidates)} tools considered"
        case StepChosen():
            return f"chosen: {_name(event.tool)}"
        case ProgramRefused() | ProgramFailed():
            return "a program was refused or failed, and may be written anew"
        case ProgramStarted():
            return f"program {event.number} runs"
        case CallStarted():
            return f"calling {_name(event.tool)}"
        case CallFinished():
            return f"{_name(event.result.tool)}: {event.result.status}"
        case InputNeeded():
            return "waiting for its user"
        case QuestionAnswered():
            return "a question was answered" if not event.unanswered else "a question stays open"
        case _:
            return ""


def _name(tool: str) -> str:
    try:
        return clean_text(split_tool_id(tool)[2], 80)
    except ValueError:
        return clean_text(tool, 80)
