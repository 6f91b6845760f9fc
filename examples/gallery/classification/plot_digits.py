"""
Handwritten digits: ten classes, one model
==========================================

Ten classes are one softmax model, not ten separate ones. The relevance vectors are digits themselves, and can
be looked at.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from sparsebayes import RelevanceVectorClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=600, random_state=0, stratify=y)
model = RelevanceVectorClassifier(gamma=0.05).fit(X_train, y_train)
p = model.predict_proba(X_test)
print(f"{len(model.relevance_)} vectors, error {np.mean(model.predict(X_test) != y_test):.3f}, ", end="")
print(f"log loss {log_loss(y_test, p):.3f}")

# %%
# A support vector machine errs less on these images, with many times as many vectors and without probabilities.

svm = SVC(C=10).fit(X_train, y_train)
print(f"SVC: {len(svm.support_)} vectors, error {np.mean(svm.predict(X_test) != y_test):.3f}")

# %%
# Some relevance vectors, and the test digits that the model is least certain of, with its two best guesses.

doubtful = np.argsort(p.max(axis=1))[:10]
figure, axes = plt.subplots(2, 10, figsize=(10, 2.8), layout="constrained")
for ax, digit in zip(axes[0], model.relevance_vectors_, strict=False):
    ax.imshow(digit.reshape(8, 8), cmap="gray_r")
for ax, row in zip(axes[1], doubtful, strict=True):
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    first, second = np.argsort(-p[row])[:2]
    ax.set_title(f"{first}: {p[row, first]:.0%}\n{second}: {p[row, second]:.0%}", fontsize=8)
axes[0, 0].set_ylabel("vectors")
axes[1, 0].set_ylabel("doubtful")
for ax in axes.ravel():
    ax.set(xticks=[], yticks=[])
