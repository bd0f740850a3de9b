"""The tool library: what a server's tools are, what is known of them, and what people say of them."""
