"""Open a page on this machine where columns, kernel and prior are picked and the fit is seen at once."""

from __future__ import annotations

import argparse
from typing import Any

from sparsebayes.cli.console import Console
from sparsebayes.cli.data import add_table_arguments, table_of


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes explore`."""
    add_table_arguments(command)
    command.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    command.add_argument("--no-browser", action="store_true", help="print the address instead of opening it")


def run(arguments: Any, console: Console) -> None:
    """Serve the page until interrupted."""
    from sparsebayes.explorer import serve

    def say(text: str) -> None:
        console.text(text)
        console.put(address=text.partition("\n")[0])
        console.close()  # now, as the page ends with an interruption

    serve(table_of(arguments), arguments.port, open_browser=not arguments.no_browser, say=say)
