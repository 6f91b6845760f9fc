"""How long `import sparsebayes` takes beyond the import of scikit-learn: python -m benchmarks.speed.import_time."""

import subprocess
import sys
from statistics import median

PROGRAM = """
import time
import sklearn.base, sklearn.pipeline
start = time.perf_counter()
import sparsebayes
print(time.perf_counter() - start)
"""
RUNS = 7


def seconds() -> float:
    """The seconds of one import, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    times = sorted(seconds() for _ in range(RUNS))
    print(f"import sparsebayes after scikit-learn: median {median(times):.3f} s, {times[0]:.3f} to {times[-1]:.3f} s")
