"""
Trend and season, and their limits
==================================

Sea surface temperatures of the El Niño region: a season that repeats, and slower movements that do not. A
kernel of bounded range knows nothing beyond the data; a periodic one goes on. The picture shows what each of
them says about four years that were not seen.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pywt

from sparsebayes import RBF, Columns, ExtrapolationWarning, Periodic, RelevanceVectorRegressor

# %%
# PyWavelets ships the series, four values a year: time in years, and the deviation of the temperature from its
# mean in °C.

time, temperature = (np.asarray(values, dtype=float) for values in pywt.data.nino())
recent = time > 1970
time, temperature = time[recent], temperature[recent]
known = time < time.max() - 4
X, y = time[known][:, None], temperature[known]

# %%
# A local kernel alone, and a dictionary of a trend, a season of one year, and a local kernel for what remains.

local = RelevanceVectorRegressor("rbf").fit(X, y)
seasonal = RelevanceVectorRegressor(Columns(degree=1) + Periodic(period=1.0) + RBF(width=1.0), gamma="scale").fit(X, y)
print(local)
print(seasonal)

# %%
# Beyond the data the local kernel returns to the intercept, with an `ExtrapolationWarning`; its variance is that of
# the Gaussian process if `variance="gp"` is given. The season goes on. Neither foresees El Niño: the intervals
# have to say so.

warnings.simplefilter("ignore", ExtrapolationWarning)
grid = np.linspace(time.max() - 12, time.max(), 600)[:, None]
figure, axes = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
for ax, model, title in zip(axes, [local, seasonal], ["RBF", "trend + season + RBF"], strict=True):
    mean, std = model.predict(grid, return_std=True)
    ax.plot(time, temperature, ".", color="0.4", ms=4, label="data")
    ax.plot(grid, mean, label="mean")
    ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.25, label="± 2 std")
    ax.axvspan(time[known].max(), time.max(), color="C1", alpha=0.1, label="not seen")
    ax.set(title=title, ylabel="deviation (°C)", xlim=(grid[0, 0], grid[-1, 0]))
axes[0].legend(ncols=4, loc="upper left", fontsize="small")
axes[0].set_ylim(-3.5, 4.5)
axes[1].set_xlabel("year")
for name, model in [("RBF", local), ("trend + season + RBF", seasonal)]:
    mean, std = model.predict(time[~known][:, None], return_std=True)
    error = mean - temperature[~known]
    print(f"{name}: error {np.sqrt(np.mean(error**2)):.2f} °C, within two standard deviations", end=" ")
    print(f"{np.mean(np.abs(error) < 2 * std):.2f}")
