"""`import sparsebayes` imports no integration, and none of the packages that they need."""

import subprocess
import sys


def test_the_library_imports_no_integration():
    program = (
        "import sys, sparsebayes; print(*(name for name in sys.modules if 'integrations' in name or name in names))"
    )
    names = "names = {'pysindy', 'chaospy', 'openturns', 'trainstation', 'mne'}; "
    done = subprocess.run([sys.executable, "-c", names + program], capture_output=True, text=True, check=True)
    assert not done.stdout.strip()
