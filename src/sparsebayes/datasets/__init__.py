"""Constructed data with a known truth: the functions and signals that the papers show their results on."""

from sparsebayes.datasets.functions import make_friedman, make_sinc, make_sinc2d, sinc
from sparsebayes.datasets.mixtures import make_ripley
from sparsebayes.datasets.signals import SIGNALS, make_signal

__all__ = ["SIGNALS", "make_friedman", "make_ripley", "make_signal", "make_sinc", "make_sinc2d", "sinc"]
