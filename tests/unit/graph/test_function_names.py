import pytest

from domain.tool import ToolDoc, is_unresolved, make_tool_id
from graph.function_names import NameIndex, build_function_name, standardise


def doc(category: str, toolset: str, api: str, function: str | None = None) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=function or build_function_name(api, toolset),
    )


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        ("AdCopy AI - Google Ads", "adcopy_ai_google_ads"),
        ("/customers/{id}/port", "customers_id_port"),
        ("20+ Ad Descriptions", "get_20_ad_descriptions"),
        ("顔認証", "顔認証"),
        ("Создать", ""),
        ("a^b", "a^b"),
    ],
)
def test_standardise(text: str, standard: str) -> None:
    assert standardise(text) == standard


def test_function_names_keep_their_last_64_characters() -> None:
    assert build_function_name("id", "Lists") == "is_id_for_lists"
    long = build_function_name("20+ Ad Descriptions Generator", "AdCopy AI - Google Ads AI Text Generation")
    assert long == "scriptions_generator_for_adcopy_ai_google_ads_ai_text_generation"


def test_one_document_of_a_name_is_meant() -> None:
    names = NameIndex([doc("Weather", "Meteo", "Forecast")])
    name = names.resolve("forecast_for_meteo")
    assert (name.id, name.how) == (make_tool_id("Weather", "Meteo", "Forecast"), "document")


def test_a_name_of_several_is_ambiguous_until_the_call_says_which() -> None:
    names = NameIndex([doc("Finance", "Rates", "Convert"), doc("Data", "Rates", "Convert")])
    unclear = names.resolve("convert_for_rates")
    assert unclear.how == "ambiguous"
    assert is_unresolved(unclear.id)
    clear = names.resolve("convert_for_rates", "Data")
    assert (clear.id, clear.how) == (make_tool_id("Data", "Rates", "Convert"), "document")
    assert names.resolve("convert_for_rates", "Travel").how == "ambiguous"


def test_the_tool_set_decides_in_raw_and_in_file_form() -> None:
    names = NameIndex([doc("Data", "My Rates", "x", "convert"), doc("Data", "Other", "x", "convert")])
    for toolset in ("My Rates", "my_rates"):
        assert names.resolve("convert", None, toolset).id == make_tool_id("Data", "My Rates", "x")


def test_the_only_document_is_taken_and_told_where_the_call_named_another_tool_set() -> None:
    names = NameIndex([doc("Sports", "Football", "players", "players")])
    assert names.resolve("players", "Sports", "Basketball").how == "elsewhere"


def test_an_unknown_name_keeps_its_place_in_its_id() -> None:
    names = NameIndex()
    assert names.resolve("f", "a", "b").id != names.resolve("f").id
    assert names.resolve("f").how == "unresolved"


def test_recorded_calls_are_named_in_file_form() -> None:
    names = NameIndex([doc("Search", "Image Tagging/Captioning", "ID"), doc("Search", "BIN/IP Checker", "Check")])
    assert names.resolve_recorded("Search", "image_tagging_captioning", "is_id").how == "document"
    assert names.resolve_recorded("Search", "BIN/IP Checker", "check").how == "document"
    assert names.resolve_recorded("Data", "bin_ip_checker", "check").how == "unresolved"


def test_documents_alike_in_file_form_are_ambiguous() -> None:
    names = NameIndex([doc("Data", "Homes", "By Url"), doc("Data", "Homes", "/By Url")])
    assert names.resolve_recorded("Data", "homes", "by_url").how == "ambiguous"


def test_a_document_added_later_changes_the_answer() -> None:
    names = NameIndex()
    assert names.resolve("f_for_t").how == "unresolved"
    names.add(doc("C", "T", "F"))
    assert names.resolve("f_for_t").resolved
