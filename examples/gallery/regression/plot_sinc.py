"""
A function of one input
=======================

The width, the noise and the number of functions are estimated.
"""

import matplotlib.pyplot as plt

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc
from sparsebayes.inspection import RegressionDisplay

X, y, _ = make_sinc(n=100, random_state=0)
model = RelevanceVectorRegressor().fit(X, y)
RegressionDisplay.from_estimator(model, X, y)
plt.legend(loc="upper left", fontsize="small")
plt.title(f"{len(model.relevance_vectors_)} relevance vectors")
