"""Kernels as bases: one family per file."""
