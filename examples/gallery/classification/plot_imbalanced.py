"""
A rare class
============

One row in fifty belongs to the class of interest. Probabilities should say so: their mean is the rate of the
class, and among rows with a probability of 20 % one in five is positive. No resampling, no class weights, no
calibration set.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.metrics import average_precision_score, log_loss
from sklearn.svm import SVC

from sparsebayes import RelevanceVectorClassifier

rng = np.random.default_rng(3)


def sample(n):
    """Points of two classes; the log odds are a function of two inputs."""
    X = rng.standard_normal((n, 2))
    logit = -6.5 + 2.0 * X[:, 0] + 0.8 * X[:, 1] ** 2
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-logit))).astype(int)


X, y = sample(1500)
X_test, y_test = sample(20_000)
model = RelevanceVectorClassifier().fit(X, y)
p = model.predict_proba(X_test)[:, 1]
print(f"rate {y_test.mean():.4f}, mean probability {p.mean():.4f}, vectors {len(model.relevance_)}")
print(f"log loss {log_loss(y_test, p):.4f}, average precision {average_precision_score(y_test, p):.3f}")

# %%
# A support vector machine with Platt scaling, which needs an inner cross-validation, on the same data.

svm = CalibratedClassifierCV(SVC(), ensemble=False).fit(X, y)
q = svm.predict_proba(X_test)[:, 1]
print(f"SVC: mean probability {q.mean():.4f}, log loss {log_loss(y_test, q):.4f}", end=", ")
print(f"average precision {average_precision_score(y_test, q):.3f}")

# %%
# Reliability: the share of positives against the probability.

plt.figure(figsize=(5, 4), layout="constrained")
for name, values, mark in [("RelevanceVectorClassifier", p, "o-"), ("SVC, Platt scaling", q, "s--")]:
    share, middle = calibration_curve(y_test, values, n_bins=12, strategy="quantile")
    plt.loglog(middle[share > 0], share[share > 0], mark, label=name)
plt.plot([1e-4, 1], [1e-4, 1], color="0.6", lw=1, label="as it should be")
plt.xlabel("predicted probability")
plt.ylabel("share of positives")
plt.legend()
