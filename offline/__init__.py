"""Plan, bind and answer without a model, by rules for English; agent code never imports this package."""
