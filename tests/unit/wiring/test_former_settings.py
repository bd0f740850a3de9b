from pathlib import Path

import pytest

from domain.errors import UsageError
from wiring.encoders import read_former_settings


def test_settings_of_a_former_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOOTPATH_EMBEDDING_QUERY_PREFIX", "of the new one: ")
    monkeypatch.setenv("FOOTPATH_ENCODER_FOLDER", "of the new one")
    with pytest.raises(UsageError, match="is no file"):
        read_former_settings(tmp_path / "none.env")
    file = tmp_path / "former.env"
    file.write_text('FOOTPATH_EMBEDDER=service\nFOOTPATH_EMBEDDING_DOCUMENT_PREFIX="passage: "\n')
    read = read_former_settings(file)
    assert (read.embedder, read.embedding_query_prefix, read.embedding_document_prefix) == ("service", "", "passage: ")
    assert read.encoder_folder is None
    file.write_text("FOOTPATH_ENCODER_FOLDER=former\n")
    assert read_former_settings(file).encoder_folder == Path("former")
    assert capsys.readouterr().err == ""
    file.write_text("FOOTPATH_EMBEDER=service\n")
    assert read_former_settings(file).embedder == "bundled"
    assert "FOOTPATH_EMBEDER is no setting and is ignored; is FOOTPATH_EMBEDDER meant?" in capsys.readouterr().err
    file.write_text("FOOTPATH_EMBEDDING_BATCH=none\n")
    with pytest.raises(UsageError, match="FOOTPATH_EMBEDDING_BATCH"):
        read_former_settings(file)
