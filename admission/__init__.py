"""The gate: what is looked at before a custom API's tools are offered, and whether they stay what they were."""
