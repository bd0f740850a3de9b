from retriever.document_texts import build_dense_text, build_lexical_text, hash_text
from tests.support.tool_samples import document


def test_dense_text_holds_what_is_known() -> None:
    text = build_dense_text(document("getForecast", "Forecast   for\nfive days"))
    assert text == "Weather Station: get Forecast. Forecast for five days Category Weather. Parameters city Name"


def test_lexical_text_says_names_twice() -> None:
    text = build_lexical_text(document("getForecast", "five days"))
    assert text.count("getForecast") == 2
    assert text.count("Weather Station") == 2
    assert "city Name" in text


def test_long_and_empty_descriptions() -> None:
    long = document("a", "word " * 1_000_000)
    assert len(build_dense_text(long)) < 400
    assert len(build_lexical_text(long)) < 3_000
    assert build_dense_text(document("a", "")) == "Weather Station: a. Category Weather. Parameters city Name"


def test_digest_follows_the_text() -> None:
    assert hash_text("a") == hash_text("a") != hash_text("b")
    assert hash_text("\ud800")
