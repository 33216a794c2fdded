"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.codec import JsonObject
from ..base.errors import ParameterError
from ..builders import BUILDERS
from ..config.run_config import RunConfig
from ..config.strategy import REGISTRIES, strategy_of
from ..measure.grid import LOADING, ROWS
from ..measure.prompt_files import read_prompts
from ..measure.this_machine import prompts
from ..models.catalogue import CATALOGUE, default_draft
from ..record.vector_files import read_vector
from .arguments import SEVERAL, Arguments, Parser, option
from .display import warn

if TYPE_CHECKING:
    from ..models.huggingface_pair import HuggingFacePair

TEMPERATURE = RunConfig.temperature  # so that what one command measures is what another uses
HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
WHAT = {
    "builder": "tree builder",
    "verifier": "verification rule",
    "drafter": "drafter of the tokens",
}


def add_strategy(parser: Parser, kind: str, default: str, several: bool = False) -> None:
    """--builder, --verifier or --drafter; `default` is a name, or how one is chosen."""
    menu = REGISTRIES[kind]
    option(
        parser,
        f"--{kind} NAME:PARAMETERS",
        f"{WHAT[kind]}{SEVERAL * several}: {', '.join(menu)} (default: {default}); parameters as "
        "in sequoia:size=16,depth=6",
        default=default if default in menu else None,
        several=several,
    )


def add_temperature(parser: Parser, several: str = "") -> None:
    """--temperature; where there may be several, `several` is the default in words."""
    option(
        parser,
        "--temperature T",
        f"temperature of the target{SEVERAL * bool(several)}: 0 for greedy decoding, or from "
        f"0.001; 1 is the model's own distribution (default: {several or TEMPERATURE})",
        float,
        None if several else TEMPERATURE,
        bool(several),
    )


def add_sampling(parser: Parser, several: str = "") -> None:
    """Options of the sampling and the seed; `several` as for `add_temperature`."""
    add_temperature(parser, several)
    option(
        parser,
        "--draft-temperature T",
        "temperature of the draft, 0 or from 0.001 (default: the target's, or 0.6 if that is 0)",
        float,
    )
    option(
        parser, "--top-p P", "keep the fewest tokens of total probability P, above 0", float, 1.0
    )
    option(parser, "--top-k K", "keep the K most probable tokens, from 1 (default: keep all)", int)
    option(parser, "--seed S", "random seed, from 0; the same one gives the same text", int, 0)


def add_pair(parser: Parser, drafts: bool = False) -> None:
    """Target, draft and how they are loaded; with `drafts`, --draft may be given several times."""
    option(
        parser,
        "--target ID",
        f"{', '.join(CATALOGUE)}, or a folder, .gguf file or hub name of the target "
        "(default: the embedded pair)",
    )
    option(
        parser,
        "--draft ID",
        "folder or hub name of the draft, or early-exit:N for the target's first N layers"
        f"{SEVERAL * drafts} (default: the target's own draft, or none)",
        several=drafts,
    )
    option(parser, "--device WHERE", "auto (the fastest), cpu, cuda, cuda:N or mps", default="auto")
    option(
        parser, "--dtype FORMAT", "auto (the fastest), float32, bfloat16 or float16", default="auto"
    )
    option(
        parser, "--offload WHERE", "a target larger than the device: auto, balanced, cpu or disk"
    )
    option(parser, "--offload-folder DIR", "folder for weights that cannot be read in place")
    parser.add_argument(
        "--chat",
        action=argparse.BooleanOptionalAction,
        help="ask a prompt as a message of a user, by the target's chat template, instead of "
        "continuing it as text (default: where the target has such a template)",
    )


def add_prompts(parser: Parser, group: argparse._ActionsContainer | None = None) -> None:
    """--prompts, in a group if one is given, and --column: texts to continue."""
    option(
        group or parser,
        "--prompts FILE",
        "texts to continue: a prompt a line, a JSON list of texts, or a file of Spec-Bench, "
        "MT-Bench, HumanEval, GSM8K, ShareGPT, Alpaca, or a table (default: openings of tales "
        "and code, or questions for a chat model)",
    )
    option(
        parser,
        "--column NAME",
        "entry of a table or of JSON records in --prompts that holds the prompts (default: "
        "the known ones)",
    )


def source_of(args: Arguments) -> str:
    """Where the prompts come from, in words."""
    if args.prompts:
        return Path(args.prompts).name
    if _asks(args):
        return "the built-in questions"
    return "the built-in prompts"


def _asks(args: Arguments) -> bool:
    """Whether prompts are questions of a user, as far as the options say before a model is
    loaded."""
    if args.chat is None:
        return args.target in CATALOGUE
    return args.chat


def prompts_of(args: Arguments, count: int | None = None) -> list[str]:
    """The prompts in the file of the option, or the first `count` built-in ones."""
    if args.prompts:
        return read_prompts(args.prompts, args.column)
    if args.column:
        raise ValueError("--column is not used without --prompts. Omit it.")
    return prompts(count, _asks(args))


def load(args: Arguments, **other: Any) -> HuggingFacePair:
    """The pair of `add_pair`; `other` are arguments of `load_pair` in place of the options."""
    check_draft(args, other.get("draft", getattr(args, "draft", None)))
    from ..models.pair import load_pair  # torch, which parsing does not need

    # Every option of `add_pair` has the name of an argument of `load_pair`.
    pair = load_pair(**{name: getattr(args, name) for name in LOADING} | other)
    if pair.chat and args.chat is None:
        warn(
            f"{pair.info['target']['name']} is a chat model, so a prompt is asked as a message of "
            "a user; --no-chat continues it as text"
        )
    return pair


def check_draft(args: Arguments, draft: str | None) -> None:
    """Check that target and draft belong together, before anything is loaded."""
    if draft is not None and not draft.startswith(("early-exit:", "random:")):
        if not Path(draft).expanduser().exists() and not HUB_NAME.fullmatch(draft):
            raise ValueError(f"--draft {draft} is not here. Check the path.")
        if not args.target and not _target_of_head(draft):
            raise ValueError(
                f"--draft {draft} needs its target. Add --target, or use --draft early-exit:N "
                "alone."
            )
    # The option may be given once or several times, by the command.
    builders = getattr(args, "builder", "sequoia") or ()
    names = builders
    if isinstance(builders, str):
        names = [builders]
    trees = [BUILDERS[name.partition(":")[0]] for name in names if name != "all"]
    drafters = getattr(args, "drafter", None) or "model"
    # Builders that draft nothing need no draft, nor do drafters that read the text.
    needs_model = drafters == "model" or "model" in list(drafters)
    has_draft = draft or default_draft(args.target or "")
    if args.target and not has_draft and needs_model and any(one.reads_draft for one in trees):
        raise ValueError(
            "--target needs a draft. Add --draft, such as --draft early-exit:3, or --drafter ngram."
        )


def _target_of_head(draft: str | None) -> str | None:
    from ..models.heads.loading import target_of_head  # torch, which parsing does not need

    return target_of_head(draft)


def strategy(args: Arguments, kind: str, text: str) -> Any:
    """The builder, rule or drafter that a text on the command line names; a vector may be in a
    file."""

    def read(path: str) -> tuple:
        # A file on the command line, so it is read here and nowhere where a page or a link could
        # name one.
        args.vector_files = [*getattr(args, "vector_files", []), path]  # for messages about them
        rule = getattr(args, "verifier", None)
        temperature = getattr(args, "temperature", None)
        rule = rule.partition(":")[0] if isinstance(rule, str) else None
        if isinstance(temperature, list):
            temperature = None
        return read_vector(path, rule, temperature).plan

    try:
        if text == "all":
            return text
        return strategy_of(kind, text, read)
    except ParameterError as error:
        raise (error.named(f"--{kind}") if error.name == kind else error) from None


def strategies(args: Arguments, kind: str) -> list[Any]:
    """Those of an option that may be given several times, each once."""
    return [*dict.fromkeys(strategy(args, kind, text) for text in getattr(args, kind) or ())]


def sampling(args: Arguments) -> JsonObject:
    """What `add_sampling` adds but the temperature, as fields of `RunConfig`."""
    return {name: getattr(args, name) for name in (*ROWS, "seed")}


def reject(args: Arguments, names: Iterable[str], where: str) -> None:
    """Raise for an option that has no effect somewhere, "with a grid file" say."""
    for name in sorted(names):
        if getattr(args, name) != args.defaults[name]:
            raise ValueError(f"--{name.replace('_', '-')} is not used {where}. Omit it.")
