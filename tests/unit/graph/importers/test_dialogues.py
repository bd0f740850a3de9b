"""API-Bank's published layout: a file for each dialogue, a turn a line, in folders of levels."""

import asyncio
from pathlib import Path

import orjson
import pytest

from domain.tool import FINISH, ToolDoc, make_tool_id
from domain.trajectory import RecordedOutcome
from graph.backends.in_memory import InMemoryGraph
from graph.importers import apibank_dialogues
from graph.importers.records import RecordError
from graph.ingest import GraphImporter
from graph.input_files import read_records, read_tools

CSV = (
    "类型,应用场景,API名称,类名,input_parameters,api_info\n"
    "对外影响 - 数据库操作 - 查,账户管理,x,OpenDoor,\"(name: str, pin: str)\",\"output_parameters = {'key': {'type': 'str', 'description': 'd'}}\"\n"
    '对外影响 - 数据库操作 - 增,日程安排和管理,x,BookRoom,"(key: str, room: int)",.\n'
)
OPEN, BOOK = (
    make_tool_id("Account_Management", "API-Bank", "OpenDoor"),
    make_tool_id("Scheduling", "API-Bank", "BookRoom"),
)
LEVEL = "level-1-given-desc"


def turn(api: str, output: object, exception: str | None = None, **given: object) -> dict[str, object]:
    result = {"api_name": api, "input": given, "output": output, "exception": exception}
    return {"role": "API", "api_name": api, "param_dict": given, "result": result}


DIALOGUE: list[dict[str, object]] = [
    {"role": "User", "text": "A room for two, please."},
    {"role": "AI", "text": "Who are you?"},
    {"role": "User", "text": "Ilse, with the pin 4711."},
    turn("OpenDoor", None, "wrong pin", name="Ilse", pin="4712"),
    turn("OpenDoor", {"key": "k-1-abc"}, name="Ilse", pin="4711"),
    turn("BookRoom", "success", key="k-1-abc", room=2),
    {"role": "AI", "text": "Done."},
]


def written(path: Path, turns: list[dict[str, object]], end: bytes = b"\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(end.join(map(orjson.dumps, turns)))
    return path


@pytest.fixture
def published(tmp_path: Path) -> Path:
    root = tmp_path / "api-bank"
    written(root / "lv1-lv2-samples" / LEVEL / "OpenDoor-BookRoom-1.jsonl", DIALOGUE)
    written(
        root / "lv1-lv2-samples" / "level-2-toolsearcher" / "BookRoom-2.jsonl", [DIALOGUE[0], DIALOGUE[5]], b"\r\n\n"
    )
    (root / "all_apis.csv").write_text(CSV, encoding="utf-8")
    return root


async def ingested(tools: Path, records: Path) -> tuple[InMemoryGraph, GraphImporter]:
    graph = InMemoryGraph()
    run = GraphImporter(graph, None, lambda stage, done, total: None)
    names = await run.import_tools([tools])
    await run.import_records(await asyncio.to_thread(read_records, records, "trajectories"), names)
    return graph, run


@pytest.mark.parametrize(
    "inner", ["", "lv1-lv2-samples", f"lv1-lv2-samples/{LEVEL}", f"lv1-lv2-samples/{LEVEL}/OpenDoor-BookRoom-1.jsonl"]
)
async def test_it_is_read_from_every_height(published: Path, inner: str) -> None:
    graph, run = await ingested(published, published / inner)
    both = inner in ("", "lv1-lv2-samples")
    assert (run.result.tally.trajectories, run.result.skipped) == (2 if both else 1, [])
    edges = {(edge.source, edge.target): edge.imported async for edge in graph.stream_edges()}
    assert edges == {(OPEN, BOOK): 1, (BOOK, FINISH): 2 if both else 1}
    assert (await graph.get_facts([OPEN]))[OPEN].successes == 1


async def test_read_again_from_another_height_it_is_known(published: Path) -> None:
    graph, _ = await ingested(published, published)
    again = GraphImporter(graph, None, lambda stage, done, total: None)
    names = await again.import_tools([published])
    folder = published / "lv1-lv2-samples" / LEVEL
    await again.import_records(await asyncio.to_thread(read_records, folder, "trajectories"), names)
    assert again.result.already_known == 1


def test_an_answer_is_what_was_put_out_and_no_echo_of_what_was_given() -> None:
    found = apibank_dialogues.parse_dialogue_file(b"\n".join(map(orjson.dumps, DIALOGUE)), "d")
    assert (found.id, found.query) == ("d", "A room for two, please.")
    assert [call.outcome for call in found.path] == [RecordedOutcome.FAILED, RecordedOutcome.OK, RecordedOutcome.OK]
    assert [call.observation for call in found.path] == ["wrong pin", '{"key":"k-1-abc"}', "success"]


def test_the_table_beside_the_dialogues_tells_responses(published: Path) -> None:
    door, _ = (one for one in read_tools(published) if isinstance(one, ToolDoc))
    assert orjson.loads(door.response_schema or "") == {
        "type": "object",
        "properties": {"key": {"type": "string", "description": "d"}},
    }


async def test_a_broken_dialogue_is_named_with_its_line(published: Path) -> None:
    folder = published / "lv1-lv2-samples" / LEVEL
    broken = folder / "broken.jsonl"
    broken.write_bytes(orjson.dumps(DIALOGUE[0]) + b"\n{")
    (folder / "cut.jsonl").write_bytes(b'{"role": "Us')
    _, run = await ingested(published, folder)
    assert [str(one).removeprefix(str(folder)).split("(")[0].strip() for one in run.result.skipped] == [
        "/broken.jsonl: line 2: not JSON",
        "/cut.jsonl: line 1: not JSON",
    ]
    with pytest.raises(RecordError, match="line 1"):
        apibank_dialogues.parse_dialogue_file(b"3", "d")


def test_lines_of_another_kind_are_no_dialogue(tmp_path: Path) -> None:
    assert not apibank_dialogues.is_dialogue(written(tmp_path / "calls.jsonl", [{"function": "f"}]))
    assert not apibank_dialogues.is_dialogue(tmp_path / "missing.jsonl")
    assert list(apibank_dialogues.find_dialogue_files(tmp_path)) == []
