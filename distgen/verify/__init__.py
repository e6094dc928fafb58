"""The laws that every generated class keeps, as properties over cases drawn from its spec."""
