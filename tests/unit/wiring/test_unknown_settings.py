"""A variable that is no setting is told, with the one that is meant."""

from pathlib import Path

import pytest

from domain.errors import UsageError
from ui import PAGE_PROXIES, SERVER_ADDRESS
from wiring.container import open_container
from wiring.settings import PAGE_SETTINGS, find_unknown_settings, list_variables, read_settings


def test_the_nearest_setting_is_named() -> None:
    names = ["FOOTPATH_ALLOWED_HOSTS", "FOOTPATH_ALLOW_HOSTS", "FOOTPATH_SECRET_X", "PATH", "footpath_store"]
    assert find_unknown_settings(names) == [
        "FOOTPATH_ALLOWED_HOSTS is no setting and is ignored; is FOOTPATH_ALLOW_HOSTS meant?"
    ]
    assert find_unknown_settings(["FOOTPATH_ZZYZX"]) == [
        "FOOTPATH_ZZYZX is no setting and is ignored; .env.example lists the settings"
    ]


def test_what_the_page_reads_is_no_slip() -> None:
    assert {SERVER_ADDRESS, PAGE_PROXIES} == PAGE_SETTINGS
    assert find_unknown_settings([SERVER_ADDRESS, PAGE_PROXIES]) == []


def test_a_file_of_settings_is_read_as_well(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# FOOTPATH_A=1\nexport FOOTPATH_B=2\n FOOTPATH_C = 3\nOTHER=4\n", encoding="utf-8")
    assert list_variables(file) == ["FOOTPATH_B", "FOOTPATH_C"]
    assert list_variables(tmp_path / "none") == []


async def test_the_warning_goes_to_stderr_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTPATH_CANDIDATE", "3")
    async with open_container(store=tmp_path / "s", create=True) as container:
        assert container.settings.candidates == 10
    assert "is FOOTPATH_CANDIDATES meant?" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "says"), [("MODEL_URL", "http:// or https://"), ("GRAPH_URL", "bolt://host:7687")])
def test_what_a_pattern_asks_for_is_said_in_words(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"FOOTPATH_{name}", "localhost:8080")
    with pytest.raises(UsageError, match="must be an address") as caught:
        read_settings()
    assert says in str(caught.value)
    assert "pattern" not in str(caught.value)
