"""The wording of errors, in one place: `python -m tests.wording` renews tests/wording.json after a
change.

Other tests assert the class of an error and the parameter that it names, not its sentence.
"""

import contextlib
import io
import json
from pathlib import Path

import specviz
from specviz.commands.cli import main

SNAPSHOT = Path(__file__).with_name("wording.json")
TRACE = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=6)).to_json()


def config(**values):
    return lambda: specviz.RunConfig(**values)


def trace(**changes):
    return lambda: specviz.Trace.from_json(json.dumps(json.loads(TRACE) | changes))


def command(line):
    def call():
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(io.StringIO()):
            code = main(line.split())
        assert code, line
        raise ValueError(stderr.getvalue().strip().splitlines()[-1])

    return call


CASES = {
    "temperature below 0": config(temperature=-1),
    "temperature is a truth value": config(temperature=True),
    "temperature is no number": config(temperature=float("nan")),
    "draft_temperature": config(draft_temperature="hot"),
    "top_p": config(top_p=0),
    "top_k": config(top_k=0),
    "top_k is a truth value": config(top_k=True),
    "max_new_tokens": config(max_new_tokens=0),
    "seed": config(seed=-1),
    "seed is a fraction": config(seed=0.5),
    "prompt is empty": config(prompt=""),
    "prompt is a number": config(prompt=7),
    "builder is unknown": config(builder="oak"),
    "builder is misspelt": config(builder="sequioa"),
    "builder is a number": config(builder=3),
    "builder has its parameters beside its name": config(builder={"name": "chain", "depth": 3}),
    "vocabulary is a fraction": lambda: specviz.toy_pair(vocab=2.5),
    "rule is unknown": config(verifier="maybe"),
    "drafter is unknown": config(drafter="painter"),
    "parameter is unknown": config(builder="sequoia:sise=4"),
    "parameter is twice": config(builder="sequoia:size=4,size=5"),
    "parameter is no number": config(builder="sequoia:size=big"),
    "parameter is out of range": config(builder="sequoia:size=0"),
    "parameter is a fraction": config(builder="chain:depth=2.5"),
    "flag": config(drafter="several:drafters=model,oak"),
    "widths": config(builder="branching:widths=4,x"),
    "acceptance above 1": config(builder="sequoia:acceptance=1.5"),
    "text form is broken": config(builder="sequoia:=4"),
    "trace is no JSON": lambda: specviz.Trace.from_json("{"),
    "trace is a list": lambda: specviz.Trace.from_json("[]"),
    "trace lacks steps": lambda: specviz.Trace.from_json("{}"),
    "trace has other steps": trace(steps=3),
    "rule without the right tree": lambda: specviz.run(
        specviz.toy_pair(), specviz.RunConfig("ab", "k-ary", "speculative-sampling")
    ),
    "command is unknown": command("calbrate"),
    "option is unknown": command("generate --promt x"),
    "file is missing": command("replay missing.json"),
}


def sentence(name):
    """What the error of a case says."""
    try:
        CASES[name]()
    except ValueError as error:
        return str(error)
    return "no error"


if __name__ == "__main__":
    sentences = {name: sentence(name) for name in CASES}
    SNAPSHOT.write_text(
        json.dumps(sentences, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
