"""Pairs of operations that do the same job with other words: by a walk either will do."""

EQUIVALENTS = (
    ("search_places", "geocode"),
    ("convert_currency", "fx_convert"),
    ("get_stock_quote", "ticker_last"),
    ("lookup_symbol", "ticker_find"),
    ("get_public_holidays", "list_feasts"),
    ("define_word", "lookup_headword"),
)
