"""Making encoders: needs the extra ``neural``; never imported when tools are searched."""
