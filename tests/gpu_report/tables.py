"""The report in Markdown: the tables of a machine."""


def markdown(lines):
    """The text of a report of these lines; the latest of each check counts."""
    latest = {}
    for line in lines:
        if line["check"] != "warning":
            latest[line["part"], line["check"]] = line
    by_part = {}
    for (part, check), line in latest.items():
        by_part.setdefault(part, {})[check] = line
    parts = ["# What this machine's GPU computes, and how fast\n"]
    if "machine" in by_part:
        parts.append(machine(by_part["machine"]))
    for title, table in (("Right", right(by_part)), ("Wrong, or not found out", wrong(lines))):
        if table:
            parts.append(f"## {title}\n\n{table}")
    for part, checks in by_part.items():
        if part.startswith(("fast", "compiled")):
            parts.append(speeds(checks))
    return "\n".join(parts)


def table(head, rows):
    """A Markdown table; "" without rows. Columns after the first are numbers."""
    if not rows:
        return ""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(map(shown, line))} |\n" for line in lines)


def shown(value):
    """A cell."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"
    return str(value).replace("|", "/").replace("\n", " ")


def machine(checks):
    """What the machine is."""
    facts = checks.get("machine", {})
    rows = [[name, facts[name]] for name in facts if name not in KNOWN]
    rows.append(["copy, GB a second", checks.get("copy", {}).get("gb_per_s")])
    rows.append(["bfloat16 product, TFLOP a second", checks.get("product", {}).get("tflop_per_s")])
    return table(["machine", ""], rows)


KNOWN = {"part", "check", "ok", "took_s", "trace"}


def right(by_part):
    """A line for each check of what is computed."""
    rows = []
    for part, checks in by_part.items():
        for check, line in checks.items():
            if "ok" in line:
                verdict = "yes" if line["ok"] else "**no**"
                rows.append([f"{part}: {check}", verdict, summary(line)])
    return table(["check", "right", "found"], rows)


def summary(line):
    """The numbers of a check in a few words."""
    if "same_best" in line:
        return (
            f"largest difference {shown(line['largest'])} of the largest logit, same best token "
            f"{100 * line['same_best']:.1f} %"
        )
    if "uses" in line:
        again = "replayed" if line["captured"] else "not captured"
        worst = shown(max([*line["uses"], *line["features"]]))
        return f"{worst} from a plain pass, {again} {shown(line['replay_to_first'])} from the first"
    if "parted" in line:
        margins = ", ".join(shown(one["margin"]) for one in line["parted"])
        return f"{line['equal']} of {line['texts']} texts equal" + f"; margins {margins}" * bool(
            margins
        )
    if "share" in line:
        return f"{100 * line['share']:.0f} % of the tokens before the first that differs"
    return ""


def wrong(lines):
    """Errors, what is not right, and warnings."""
    rows = []
    for line in lines:
        if "error" in line:
            rows.append([f"{line['part']}: {line['check']}", line["error"]])
        elif line.get("ok") is False:
            rows.append([f"{line['part']}: {line['check']}", summary(line) or "not as it must be"])
        elif line["check"] == "warning":
            rows.append([f"{line['part']}: warning", line["text"]])
    return table(["check", "what"], rows)


def speeds(checks):
    """The measurements of one pair."""
    text = []
    pair = checks.get("pair")
    if pair:
        info = pair["info"]
        random = "Random weights: text and acceptance mean nothing. " * pair["random"]
        text.append(f"## {info['name']}, {info['dtype']}, {pair['device']}\n\n{random}")
    first = checks.get("first steps", {}).get("ms")
    if first:
        text.append(f"First steps of plain decoding, ms: {', '.join(map(shown, first))}.\n")
    text.append(passes(checks.get("passes", {})))
    grown = checks.get("growing text", {})
    if "with_cudnn" in grown:
        rows = [[name, *grown[name].values()] for name in ("with_cudnn", "without_cudnn")]
        text.append(table(["plain passes behind a growing text", "median ms", "longest ms"], rows))
    for line in checks.values():
        if "longest" in line:
            head = f"{line['kernels']:.0f} kernels of a pass of {line['nodes']} nodes"
            rows = [["all", line["kernels"], line["ms"]], *line["longest"]]
            text.append(table([head, "calls", "ms"], rows))
    text.append(costs(checks.get("costs", {}).get("table")))
    text.append(runs(checks))
    rows = []
    for check, line in checks.items():
        if check.startswith("transformers") and "tokens_per_s" in line:
            numbers = ("tokens_per_s", "plain_tokens_per_s", "plain_over_transformers")
            rows.append([check, *(line[name] for name in numbers)])
    head = ["beside transformers, T 0", "its tokens a second", "plain decoding here", "ratio"]
    text.append(table([*head], rows) + "\nGoal: a ratio of at least 1.\n" * bool(rows))
    return "\n".join(filter(None, text))


def passes(line):
    """Passes by their nodes."""
    rows = []
    for row in line.get("rows", ()):
        first = line["rows"][0]
        columns = [str(row["nodes"])]
        for way in ("graph", "plain"):
            columns += [row[way], row[way] / first[way]]
        rows.append(columns)
    head = ["nodes of a pass", "with graphs, ms", "of one node", "without, ms", "of one node"]
    goal = ""
    if rows:
        goal = f"\n128 nodes cost {shown(line['ratio_128'])} of one; goal: {line['goal']}.\n"
    return table(head, rows) + goal


def costs(cost):
    """A cost table's draft passes, in milliseconds."""
    if not cost:
        return ""
    rows = []
    for width, seconds in zip(cost["widths"], cost["draft_s"], strict=True):
        rows.append([str(width), 1000 * seconds])
    return table(["nodes of a draft pass", "ms"], rows)


def runs(checks):
    """Whole runs, with the shares of a step."""
    rows = []
    for check, line in checks.items():
        for row in line["rows"] if check.startswith("runs") and "rows" in line else ():
            spread = ""
            if row["speedup_margin"] is not None:
                spread = f" ± {row['speedup_margin']:.2f}"
            columns = [f"{row['name']}, {check.removeprefix('runs, ')}", row["tokens_per_s"]]
            columns += [row["plain_tokens_per_s"], f"{row['speedup']:.2f}{spread}"]
            shares = [f"{100 * share:.0f} %" for share in row["shares"].values()]
            rows.append([*columns, row["tokens_per_pass"], row["step_ms"], *shares])
    head = ["run", "tokens a second", "plain", "ratio", "tokens a pass", "step, ms"]
    goal = "\nGoal: verify and other at most 10 % of a step at T 0.\n" * bool(rows)
    return table([*head, "draft", "target", "verify", "other"], rows) + goal
