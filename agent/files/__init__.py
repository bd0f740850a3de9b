"""Files attached to a question: parsing, the preview in the prompt, and the search for where a value came from."""
