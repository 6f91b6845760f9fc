"""`python -m sparsebayes`: the command line."""

import sys

from sparsebayes.cli import main

if __name__ == "__main__":
    sys.exit(main())
