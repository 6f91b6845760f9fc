"""
Which inputs matter
===================

Friedman's first function depends on five of ten inputs. With `gamma="ard"` every input has a scale of its own,
learned from the evidence; an input without effect gets a width at which it does nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman

X, y, _ = make_friedman(1, n=240, snr=5.0, random_state=0)
X_test, _, f_test = make_friedman(1, n=1000, snr=5.0, random_state=1)
one = RelevanceVectorRegressor().fit(X, y)
ard = RelevanceVectorRegressor(gamma="ard").fit(X, y)
for name, model in [("one width", one), ("a scale for each input", ard)]:
    error = np.sqrt(np.mean((model.predict(X_test) - f_test) ** 2)) / f_test.std()
    print(f"{name}: {len(model.relevance_)} vectors, relative test error {error:.3f}")

# %%
# The effect of each input on the prediction.

plt.figure(figsize=(7, 3), layout="constrained")
plt.bar(np.arange(10), ard.input_relevance_, color=["C0"] * 5 + ["C7"] * 5)
plt.xticks(np.arange(10), [f"x{j}" for j in range(10)])
plt.ylabel("input_relevance_")
plt.title("blue: inputs that the function depends on")
