"""
Noise with sharp bounds
=======================

Targets that were rounded have errors that are spread evenly between two bounds. `GeneralizedNormal` estimates
the shape of the noise together with everything else; where the noise is Gaussian it finds that, too.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import GeneralizedNormal, RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc

X, y, f = make_sinc(100, "uniform", 0.2, random_state=0)
plain = RelevanceVectorRegressor("linear-spline").fit(X, y)
light = RelevanceVectorRegressor("linear-spline", likelihood=GeneralizedNormal()).fit(X, y)
order = np.argsort(X[:, 0])
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, model, name in [(axes[0], plain, "Gaussian"), (axes[1], light, f"shape {light.noise_shape_:.1f}")]:
    ax.plot(X, y, ".", color="0.6", label="data")
    ax.plot(X[order], f[order], "k--", lw=1, label="truth")
    ax.plot(X[order], model.predict(X)[order], label="prediction")
    error = np.sqrt(np.mean((model.predict(X) - f) ** 2))
    ax.set(title=f"{name}: error {error:.3f}, log evidence {model.log_evidence_:.1f}", xlabel="x")
axes[0].set_ylabel("y")
axes[0].legend(fontsize="small")
