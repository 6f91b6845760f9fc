"""
Choosing a kernel without cross-validation
==========================================

`select` ranks bases by evidence and by leave-one-out in closed form, and fits the best one.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor, select

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(-3, 3, 90))[:, None]
f = np.abs(X[:, 0]) + 0.3 * X[:, 0]
y = f + 0.1 * rng.standard_normal(90)
candidates = [
    (kernel, RelevanceVectorRegressor(kernel)) for kernel in ("rbf", "matern", "linear-spline", "cubic-spline")
]
choice = select(X, y, [*candidates, ("straight line", SparseBayesRegressor())])
print(choice)

# %%
# The function has a corner. The linear spline kernel, a cubic between the points, has the highest evidence; a
# Matérn kernel is ahead by leave-one-out, and `by="loo"` would have taken it.

model = choice.best_estimator_
grid = np.linspace(-3, 3, 300)[:, None]
mean, std = model.predict(grid, return_std=True)
plt.figure(figsize=(6, 3.4), layout="constrained")
plt.plot(X, y, ".", color="0.6", label="data")
plt.plot(grid, mean, label="mean")
plt.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.3, label="± 2 std")
plt.xlabel("x")
plt.ylabel("y")
plt.legend()
plt.title(f"{model.kernel}: {len(model.relevance_)} functions")
