"""The entry point of the command line: arguments, the command, and what the process returns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from sparsebayes import __version__
from sparsebayes.cli import comparing, demonstration, denoising, exploring, exporting, fitting, predicting, reporting
from sparsebayes.cli.console import Console, write_utf8

DONE, REFUSED, INTERRUPTED = 0, 2, 130  # exit codes
COMMANDS = {
    "fit": fitting,
    "predict": predicting,
    "denoise": denoising,
    "report": reporting,
    "compare": comparing,
    "export": exporting,
    "explore": exploring,
    "demo": demonstration,
}
EXIT_CODES = "Exit codes: 0 done, 2 wrong arguments or data (one sentence on standard error), 130 interrupted."


class _Wrong(ValueError):
    """Arguments that no command takes."""


class _Parser(argparse.ArgumentParser):
    """A parser that leaves it to `main` to say what is wrong, after the usage."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise _Wrong(message)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    main_parser = _Parser(
        prog="sparsebayes", description="Sparse Bayesian models from the command line.", epilog=EXIT_CODES
    )
    main_parser.add_argument("--version", action="version", version=f"sparsebayes {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").strip().splitlines()[0]
        command = commands.add_parser(name, help=summary, description=summary, epilog=EXIT_CODES)
        command.add_argument("--json", action="store_true", help="print one JSON object instead of text")
        command.add_argument("--quiet", action="store_true", help="warnings and errors only")
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return main_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit code: 0 done, 2 wrong arguments or data, 130 interrupted.
    """
    write_utf8()
    try:
        arguments = parser().parse_args(argv)
    except SystemExit:  # argparse has printed help or the version
        return DONE
    except _Wrong as error:
        Console(json="--json" in (sys.argv if argv is None else argv)).error(error)
        return REFUSED
    console = Console(json=arguments.json, quiet=arguments.quiet)
    try:
        with console.warnings():
            arguments.run(arguments, console)
        console.close()
    except BrokenPipeError:  # whoever reads standard output has enough, as `head` does
        return DONE
    except (ValueError, TypeError, ArithmeticError, OSError, ImportError, MemoryError) as error:
        console.error(error)
        return REFUSED
    except KeyboardInterrupt:
        console.error("interrupted; every file is complete or as it was.")
        return INTERRUPTED
    return DONE
