"""What mining wrote down: whole lines count, and triplets are written whole or not at all."""

from pathlib import Path

from synthesis.journal import MiningJournal, MiningRecord, MiningReport
from synthesis.triplets import Triplet, build_triplet, read_triplets, write_triplets


def test_a_line_that_was_cut_off_was_not_written(tmp_path: Path) -> None:
    path = tmp_path / "mined.jsonl"
    journal = MiningJournal(path)
    assert list(journal.read_records()) == []
    journal.add(MiningRecord(key="a", way="live", kept=("1",)))
    whole = path.read_bytes()
    journal.add(MiningRecord(key="b", way="live"))
    for end in range(len(whole) + 1, path.stat().st_size - 1):
        path.write_bytes((whole + MiningRecord(key="b", way="live").model_dump_json().encode())[:end])
        assert [one.key for one in journal.read_records()] == ["a"]
    journal.add(MiningRecord(key="c", way="live"))
    assert [one.key for one in journal.read_records()] == ["a", "c"]


def test_a_query_that_was_written_down_twice_is_one_triplet(tmp_path: Path) -> None:
    journal = MiningJournal(tmp_path / "mined.jsonl")
    one = build_triplet("Who is Ada?", ["search"], "await search(name=name)\n", {"name": "Ada"})
    for way in ("recorded", "live"):
        journal.add(MiningRecord(key="a", way=way, triplets=(one,)))
    assert [*journal.read_triplets()] == [one]
    assert one.code == "name = 'Ada'\nawait search(name=name)\n"


def test_triplets_are_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "triplets.jsonl"
    one = Triplet(query="谁?", solution=("search",), code="1\n")
    assert write_triplets(path, [one, one]) == 2
    assert read_triplets(path) == [one, one]
    assert write_triplets(path, []) == 0
    assert read_triplets(path) == []
    assert [each.name for each in tmp_path.iterdir()] == ["triplets.jsonl"]


def test_a_report_counts_by_stage() -> None:
    report = MiningReport()
    report.add(
        MiningRecord(
            key="a", way="live", kept=("1", "2"), intents=3, questions=12, tried=2, dropped={"nothing was found": 1}
        )
    )
    report.add(MiningRecord(key="b", way="live", intents=1, questions=4, dropped={"nothing was found": 1}))
    assert dict(report.counts) == {"combinations": 2, "intents": 4, "questions": 16, "executed": 2, "kept": 2}
    assert dict(report.dropped) == {"nothing was found": 2}
