"""SQLite's rows are counted in every locale. A Turkish one is compiled for the test, since few machines have it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT

SOURCE = Path("/usr/share/i18n/locales/tr_TR")
STORES = """
import asyncio, locale, sqlite3, sys
from pathlib import Path

from sqlalchemy import text

from graph.backends.sqlite_graph import SqliteGraph
from graph.facts import LiveBatch
from server.storage.database import Database, build_sqlite_url

folder = Path(sys.argv[1])


def knows_inserts():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x)")
    return connection.execute("INSERT INTO t VALUES (1)").rowcount == 1


async def use():
    graph = SqliteGraph(folder / "graph.db")
    await graph.setup()
    batch = LiveBatch("run", {("a", "b"): 1}, (("a", 1.0),), (("a", "ok"),))
    assert await graph.learn(batch)
    assert not await graph.learn(batch)
    await graph.close()
    locale.setlocale(locale.LC_CTYPE, "tr_TR.UTF-8")
    rows = Database(build_sqlite_url(folder / "server.db"))
    async with rows.write_session() as session:
        await session.execute(text("CREATE TABLE t (x)"))
        await session.execute(text("INSERT INTO t VALUES (:x)"), [{"x": 1}, {"x": 2}])
    await rows.close()


if knows_inserts():
    sys.exit("nothing to mend")
asyncio.run(use())
assert locale.getpreferredencoding(False).lower() == "utf-8"
"""


@pytest.mark.skipif(
    shutil.which("localedef") is None or not SOURCE.is_file(),
    reason="no localedef, or no source of the Turkish locale (Debian: apt install locales)",
)
def test_rows_are_counted_where_the_capital_of_i_is_another_letter(tmp_path: Path) -> None:
    compiled = tmp_path / "locales"
    compiled.mkdir()
    define = ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(compiled / "tr_TR.UTF-8")]
    subprocess.run(define, check=True, capture_output=True)
    turkish = os.environ | {"LOCPATH": str(compiled), "LC_ALL": "tr_TR.UTF-8", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", STORES, str(tmp_path)], env=turkish, cwd=tmp_path, capture_output=True, text=True
    )
    if done.stderr.strip() == "nothing to mend":
        pytest.skip("this Python knows an INSERT in every locale")
    assert done.returncode == 0, done.stderr
