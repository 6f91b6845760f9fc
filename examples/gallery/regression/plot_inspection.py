"""
Looking at a fitted regression
==============================

What the model is made of, what each input does, and whether its predictive distributions are right: the displays of
`sparsebayes.inspection` take a fitted estimator, a pipeline or a data frame, and draw.
"""

import pandas as pd

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_friedman
from sparsebayes.inspection import (
    EvidenceDisplay,
    InputRelevanceDisplay,
    PartialDependenceDisplay,
    PITDisplay,
    ResidualsDisplay,
    WeightsDisplay,
)

X, y, _ = make_friedman(1, n=150, snr=5.0, random_state=0)
X_test, y_test, _ = make_friedman(1, n=400, snr=5.0, random_state=1)
X, X_test = (pd.DataFrame(each).add_prefix("x") for each in (X, X_test))
model = RelevanceVectorRegressor(gamma="ard").fit(X, y)

# %%
# Which inputs matter, and on which length scale. The function depends on the first five of ten.

InputRelevanceDisplay.from_estimator(model, X)

# %%
# What each of them does: the prediction averaged over the data, with the posterior band of that average.

PartialDependenceDisplay.from_estimator(model, X, ["x0", "x1", "x2", "x3", "x4", "x5"])

# %%
# Whether predictive distributions are right, on rows that the model has not seen. In the grey bands lies what chance
# alone would do to a model that is right.

PITDisplay.from_estimator(model, X_test, y_test)

# %%
# The residuals of the same rows.

ResidualsDisplay.from_estimator(model, X_test, y_test)

# %%
# The largest weights, and how the solver came to them.

WeightsDisplay.from_estimator(model, max_weights=10)

# %%

EvidenceDisplay.from_estimator(model)
