"""What generated classes share: parameters and their finishing, pytrees, constraints, mathematics.

These modules depend on JAX, NumPy and distrax only. `distgen build` copies them beside the classes it
generates, so that generated code never imports distgen.
"""
