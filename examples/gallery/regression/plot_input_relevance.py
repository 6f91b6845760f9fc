"""
Which inputs matter
===================

Friedman's first function depends on five of ten inputs. With `gamma="ard"` every input has a scale of its own,
learned from the evidence; an input without effect gets a width at which it does nothing.
"""

import numpy as np

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman
from sparsebayes.inspection import InputRelevanceDisplay

X, y, _ = make_friedman(1, n=240, snr=5.0, random_state=0)
X_test, _, f_test = make_friedman(1, n=1000, snr=5.0, random_state=1)
one = RelevanceVectorRegressor().fit(X, y)
ard = RelevanceVectorRegressor(gamma="ard").fit(X, y)
for name, model in [("one width", one), ("a scale for each input", ard)]:
    error = np.sqrt(np.mean((model.predict(X_test) - f_test) ** 2)) / f_test.std()
    print(f"{name}: {len(model.relevance_)} vectors, relative test error {error:.3f}")

# %%
# The effect of each input on the prediction, and the length scale that was learned for it. The function depends on
# the first five, x0 to x4.

InputRelevanceDisplay.from_estimator(ard, X)
