"""The tables and figures of the five papers, one module per paper: `python -m benchmarks.papers`."""
