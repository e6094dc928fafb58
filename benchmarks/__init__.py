"""Ratios, measured side by side in one process. Absolute times are no target: machines differ."""
