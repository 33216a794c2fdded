"""`prepare`: download and convert a model of the catalogue, so that later runs need no network."""

from __future__ import annotations

from ..models.catalogue import CATALOGUE
from ..models.hub import prepared_folder
from .arguments import Arguments, Parser, option

EXAMPLE = "--target smollm2"


def add_arguments(parser: Parser) -> None:
    option(parser, "--target NAME", f"{', '.join(CATALOGUE)}, or a .gguf file", default="smollm2")


def run(args: Arguments) -> None:
    folder = prepared_folder("target", args.target)
    print(f"{args.target} is ready in {folder}")
