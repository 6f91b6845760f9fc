"""
A model for a small device
==========================

How many functions a model needs, how many bytes they are in C, and what single precision costs.
"""

# %%
# Models of several sizes
# -----------------------
# `max_vectors` bounds the number of functions. `export_c` writes each model as one file of C, which allocates nothing,
# and says how far its predictions are from those of `predict`.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman
from sparsebayes.export import export_c

X, y, _ = make_friedman(2, n=400, snr=5.0, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)
train, test = slice(0, 200), slice(200, 400)
sizes, errors, lengths, rounding = [3, 6, 12, 24], [], [], []
with tempfile.TemporaryDirectory() as folder:
    for size in sizes:
        model = RelevanceVectorRegressor(gamma=0.25, max_vectors=size).fit(X[train], y[train])
        found = export_c(model, Path(folder) / "model.c", X_sample=X[test], dtype="float", std=False)
        errors.append(np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2)) / y[test].std())
        lengths.append(found.size / 1000)
        rounding.append(found.error)

# %%
# The error of the smallest models is that of their size, not of their arithmetic: single precision costs less than
# a thousandth of it.
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.semilogy(sizes, errors, "o-", label="error of the model")
left.semilogy(sizes, rounding, "s-", label="error of single precision")
left.set(xlabel="max_vectors", ylabel="error / std of y")
left.legend()
right.plot(sizes, lengths, "o-")
right.set(xlabel="max_vectors", ylabel="source in C, kB", ylim=(0, None))
plt.show()
assert max(rounding) < 1e-3 * min(errors)
