"""Which tools a request is served with: candidates, the pool they come from, what is known of each, what stands in for a failed one."""
