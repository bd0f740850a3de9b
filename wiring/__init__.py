"""The composition root: settings, and the only place that names concrete classes."""
