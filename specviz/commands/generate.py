"""`generate`: write a text, coloured by where each token came from."""

from __future__ import annotations

from contextlib import suppress

from ..base.files import MOST_TRACE, __version__, check_output, printable, write_text
from ..config.run_config import RunConfig, compatible
from ..decode import blank_trace, speculate
from ..decode import run as trace_of
from ..record.step import Step
from ..record.vector_files import mismatch
from ..record.vectors import planned_with
from ..view.terminal import paint, summary
from . import options
from .arguments import Arguments, Parser, option
from .display import warn

EXAMPLE = '--prompt "Once upon a time" --builder sequoia:size=16,depth=6 --temperature 0.8'


def add_arguments(parser: Parser) -> None:
    parser.add_argument("--prompt", required=True, metavar="TEXT", help="the text to continue")
    options.add_strategy(parser, "builder", "sequoia")
    options.add_strategy(parser, "verifier", "the first one that suits builder and temperature")
    options.add_strategy(parser, "drafter", "model")
    options.add_sampling(parser)
    option(parser, "--max-new-tokens M", "tokens to write, from 1", int, 128)
    options.add_pair(parser)
    output = parser.add_mutually_exclusive_group()
    option(output, "--json", "print the trace instead of the text")
    option(output, "--trace FILE", "write the trace to a file as well")


def run(args: Arguments) -> None:
    builder = options.strategy(args, "builder", args.builder)
    drafter = options.strategy(args, "drafter", args.drafter)
    config = RunConfig(
        args.prompt,
        builder,
        args.verifier and options.strategy(args, "verifier", args.verifier),
        temperature=args.temperature,
        max_new_tokens=args.max_new_tokens,
        drafter=drafter,
        **options.sampling(args),
    )
    match = compatible(config).required()
    vector_files = getattr(args, "vector_files", [])
    if args.trace:
        check_output(args.trace, *vector_files)
    pair = options.load(args)
    config = config.for_pair(pair)
    # A vector measured with any other setting plans a tree that is good for something else.
    settings = {
        "pair": pair.info["name"],
        "dtype": pair.info.get("dtype"),
        "version": __version__,
        "drafter": config.drafter.name,
        "parameters": config.drafter.parameters,
        "verifier": config.verifier.name,
        "temperature": config.temperature,
    }
    others = filter(None, (mismatch(path, settings) for path in vector_files))
    notice = next((f"{other}; a tree planned with it may not be optimal" for other in others), "")
    if notice := planned_with(builder, config.drafter, pair.info["name"]) or notice:
        warn(notice)
    if not match.lossless:
        warn(f"lossy: {match.reason}")
    steps: list[Step] = []
    before = blank_trace(pair, config).prompt_text
    with suppress(KeyboardInterrupt):  # what was written is kept
        for step in speculate(pair, config):
            if not args.json:
                # The prompt stands before the first step only.
                print(("" if steps else printable(before)) + paint(step), end="", flush=True)
            steps.append(step)
    # From the steps so far: Ctrl-C leaves a whole trace.
    trace = trace_of(pair, config, steps)
    text = trace.to_json()
    if args.json:
        print(text)
        return
    if args.trace:
        write_text(args.trace, text)
        if len(text.encode()) > MOST_TRACE:
            warn(f"this trace has more than {MOST_TRACE:,} bytes, which replay and the page reject")
    print(f"\n\n{summary(trace)}{'' if match.lossless else ' (lossy)'}")
