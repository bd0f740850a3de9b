"""A catalogue of three tool sets that every test of training can read at a glance."""

from domain.tool import Parameter, ToolDoc, make_tool_id
from retriever.training.examples import DocumentCorpus, TrainingExample, build_corpus

APIS = {
    "sky": {
        "rain": "Get the rain forecast of a city",
        "wind": "Get the wind speed over a city",
        "moon": "Returns the phase of the moon on a date",
    },
    "bank": {
        "rates": "Returns the exchange rates of a currency",
        "convert": "Convert an amount between two currencies",
    },
    "books": {"search": "Search for books by an author", "lists": "Best sellers of the week"},
}

ASKED = {
    ("sky", "rain"): ("will it rain today", "do I need an umbrella", "rain tomorrow please"),
    ("sky", "wind"): ("is it a day to sail", "how strong is the wind", "wind at the coast"),
    ("sky", "moon"): ("is tonight a full moon", "when is the new moon", "phase of the moon"),
    ("bank", "rates"): ("what is a euro worth", "rates of the dollar", "how is the pound doing"),
    ("bank", "convert"): ("change 20 euros to yen", "convert my money", "how many dollars are 5 pounds"),
    ("books", "search"): ("what did Austen write", "novels by Orwell", "find books of that author"),
}
"""Requests by what serves them."""


def document(toolset: str, api: str, about: str = "", *parameters: Parameter, category: str = "c") -> ToolDoc:
    about = about or APIS.get(toolset, {}).get(api, "")
    return ToolDoc(
        id=make_tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=f"{api}_for_{toolset}",
        description=about,
        parameters=parameters,
    )


DOCUMENTS = tuple(document(toolset, api) for toolset, apis in APIS.items() for api in apis)


def catalogue() -> DocumentCorpus:
    return build_corpus(DOCUMENTS)


def row(corpus: DocumentCorpus, toolset: str, api: str, category: str = "c") -> int:
    return corpus.row_by_id[make_tool_id(category, toolset, api)]


def example(corpus: DocumentCorpus, request: str, *solved: tuple[str, str]) -> TrainingExample:
    return TrainingExample(request, tuple(row(corpus, *one) for one in solved))
