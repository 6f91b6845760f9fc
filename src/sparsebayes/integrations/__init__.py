"""Sparse Bayesian learning inside other packages: one module for each, which imports that package.

Nothing is imported here: `from sparsebayes.integrations.pysindy import SparseBayesOptimizer` needs PySINDy,
and so on. `pip install "sparsebayes[integrations]"` installs them all.
"""
