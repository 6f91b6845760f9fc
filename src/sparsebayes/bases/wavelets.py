"""Wavelets as a basis: the samples are the rows of X, in their order."""

from __future__ import annotations

from sparsebayes.bases.samples import SampledBasis
from sparsebayes.bases.transforms import WaveletOperator


class Wavelet(SampledBasis):
    """Periodised orthonormal wavelets over the rows of X: row n is sample n of the signal.

    What X holds (times, positions) is only used to find the sample nearest to a new x, where the functions
    have the value they have at that sample. Rows should differ. On the training rows the functions are an
    orthonormal basis, so that a fit without intercept is in closed form (`solvers.Orthonormal`). With an
    intercept the scaling functions, whose mean is not zero, are no longer orthogonal once centred, and the
    general solvers take over; so they do with weights and in sums of bases.

    Parameters
    ----------
    wavelet : str
        Any orthogonal wavelet of PyWavelets: "haar", "db4", "sym8", "coif2", …
    level : int, optional
        How often the signal is halved; by default log2(N) − 3 times [SE07].
    shape : int or tuple of ints, optional
        The shape of an image or a volume whose samples are the rows of X in C order.
    """

    def __init__(
        self, wavelet: str = "sym8", level: int | None = None, shape: int | tuple[int, ...] | None = None
    ) -> None:
        self.wavelet = wavelet
        self.level = level
        self.shape = shape

    def transform(self, shape: tuple[int, ...]) -> WaveletOperator:
        """The wavelets on a signal of this shape."""
        return WaveletOperator(shape, self.wavelet, self.level)
