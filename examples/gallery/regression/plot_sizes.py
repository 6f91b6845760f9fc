"""
How many functions does the model need?
=======================================

`path` gives the nested models from one function to all that were selected, with evidence and leave-one-out
error; `max_vectors` fits the best model of a size.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman
from sparsebayes.inspection import SparsityPathDisplay

X, y, _ = make_friedman(2, n=300, snr=5.0, random_state=0)
X_test, _, f_test = make_friedman(2, n=2000, snr=5.0, random_state=1)
model = RelevanceVectorRegressor().fit(X, y)
SparsityPathDisplay.from_estimator(model, X, y)
plt.gcf().set_size_inches(7, 4)

# %%
# The smallest size within 5 % of the least leave-one-out error, fitted anew.

size = model.path(X, y).smallest(0.05)
small = RelevanceVectorRegressor(max_vectors=size).fit(X, y)
for name, each in [("free", model), (f"max_vectors={size}", small)]:
    error = np.sqrt(np.mean((each.predict(X_test) - f_test) ** 2)) / f_test.std()
    print(f"{name}: {len(each.relevance_)} vectors, relative test error {error:.3f}")
