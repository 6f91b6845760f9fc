"""
A table with categories
=======================

Rents that depend on area, age and district, but not on the heating. The dummies of a factor belong together: with
`groups` a factor is kept or dropped as a whole, and the evidence decides which factors matter.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sparsebayes import SparseBayesRegressor

# %%
# Four hundred flats. The heating and the day of the week on which a flat was advertised have no effect.

rng = np.random.default_rng(0)
n = 400
flats = pd.DataFrame(
    {
        "area": rng.uniform(25, 140, n),
        "age": rng.uniform(0, 80, n),
        "district": rng.choice(["centre", "harbour", "hills", "north", "station"], n),
        "heating": rng.choice(["gas", "heat pump", "district heat"], n),
        "weekday": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], n),
    }
)
place = flats["district"].map({"centre": 260, "harbour": 120, "hills": 180, "north": 0, "station": 40})
rent = 150 + 9.5 * flats["area"] - 1.8 * flats["age"] + place + 60 * rng.standard_normal(n)

# %%
# Numbers are scaled, text becomes dummies, and each column is labelled with the factor that it comes from.

numbers, factors = ["area", "age"], ["district", "heating", "weekday"]
encoder = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(sparse_output=False), factors))
train, test, y_train, y_test = train_test_split(flats, rent, random_state=0)
X_train, X_test = encoder.fit_transform(train), encoder.transform(test)
names = [name.split("__")[1] for name in encoder.get_feature_names_out()]
groups = [name.split("_")[0] for name in names]

model = SparseBayesRegressor(prior="bic", groups=groups).fit(X_train, y_train)
print("factors kept:", sorted({groups[j] for j in model.relevance_}))
print(f"noise: {np.sqrt(model.noise_variance_):.0f} (truth 60)")
low, high = model.predict_interval(X_test, level=0.95)
print(f"95 % intervals that contain the rent: {np.mean((low <= y_test) & (y_test <= high)):.2f}")

# %%
# What a district adds to the rent, compared with the average district. The dummies of a factor sum to one, so that a
# constant may move from their weights to the intercept: single weights have wide error bars, while differences between
# them do not.

kept = np.array([names[j] for j in model.relevance_])
rows = np.flatnonzero(np.char.startswith(kept, "district_"))
centred = np.eye(len(rows)) - 1 / len(rows)
effect = centred @ model.active_coef_[rows]
std = np.sqrt(np.diag(centred @ model.covariance_[np.ix_(rows, rows)] @ centred))
district = [name.removeprefix("district_") for name in kept[rows]]
truth = flats.assign(place=place).groupby("district")["place"].first()[district].to_numpy()

height = np.arange(len(rows))
plt.figure(figsize=(7, 3), layout="constrained")
plt.plot(truth - truth.mean(), height, "k|", ms=16, label="truth")
plt.errorbar(effect, height, xerr=2 * std, fmt="o", capsize=3, label="estimate ± 2 std")
plt.yticks(height, district)
plt.axvline(0, color="0.7", lw=1)
plt.xlabel("effect on the rent (€ a month)")
plt.legend()
