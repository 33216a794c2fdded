"""Write the recorded run that the page opens with: `python -m app.record`.

A run of the pair with its defaults, and plain decoding of the same prompt beside it for the measured speedup.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import specviz

from .models import offered
from .session import PLAIN_TOKENS
from .stage import ASSETS


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the recorded run that the page opens with.")
    parser.add_argument("--prompt", default="Once upon a time there was a little")
    parser.add_argument("--temperature", type=float, default=0.6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-new-tokens", type=int, default=96)
    config = specviz.RunConfig(**vars(parser.parse_args()))
    pair = next(iter(offered().values()))()
    short = replace(config, max_new_tokens=PLAIN_TOKENS)
    specviz.run(pair, short), specviz.autoregress(pair, short)  # the first passes of a process are slow
    folder = ASSETS / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    for name, trace in (("story", specviz.run(pair, config)), ("plain", specviz.autoregress(pair, short))):
        path = folder / f"{name}.json"
        path.write_text(trace.to_json() + "\n", encoding="utf-8")
        print(
            f"{path.relative_to(ASSETS.parent)}: {len(trace.tokens)} tokens, {len(trace.steps)} steps: {trace.text!r}"
        )


if __name__ == "__main__":
    main()
