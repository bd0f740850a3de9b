import pytest

from retriever.words import normalize_name, split_identifier, split_sentences, split_terms, split_words, truncate_words


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("getUserByID2", "get User By ID 2"),
        ("HTTPServer_error-code", "HTTP Server error code"),
        ("météo du jour", "m é t é o du jour"),
        ("天气 forecast", "天气 forecast"),
        ("___", ""),
    ],
)
def test_identifiers_are_split(name: str, parts: str) -> None:
    assert split_identifier(name).replace(" ", "") == parts.replace(" ", "")
    if name.isascii():
        assert split_identifier(name) == parts


def test_words_keep_order_and_repeats() -> None:
    assert split_words("Rain, rain in Spain") == ["rain", "rain", "in", "spain"]
    assert split_terms("Could you please find the rain in Spain?") == ["find", "rain", "spain"]


def test_spellings_of_one_name_are_one() -> None:
    assert normalize_name("Get User-ID") == normalize_name("getUserID") == "get_user_id"


def test_sentences() -> None:
    text = "I plan a trip to Rome. What is the weather there? Thanks!\nConvert 100 dollars to euros."
    assert split_sentences(text) == [
        "I plan a trip to Rome.",
        "What is the weather there?",
        "Convert 100 dollars to euros.",
    ]
    assert split_sentences("What is the weather in Rome?") == []
    assert len(split_sentences("one two three four. " * 50)) == 6


def test_first_words() -> None:
    assert truncate_words("  a\n b\tc d", 3) == "a b c"
    assert truncate_words("", 3) == ""
