"""Written by hand."""
