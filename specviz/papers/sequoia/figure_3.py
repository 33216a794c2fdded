"""Figure 3: rejection rate against the number of children, at three temperatures."""

from ...acceptance.on_nodes import rejection_rates
from ...theory.bounds import fit_power_law
from ..entry import Entry, Lines, Series, judge, tab

TEMPERATURES, WIDTHS = (0.2, 0.6, 1.0), (1, 2, 4, 8, 16, 32)
RULES = {"sequoia": "Sequoia", "specinfer": "SpecInfer", "spectr": "SpecTr", "target-match": "Top-k", "naive": "Naive"}


def measure(bench):
    by_temperature = {}
    for temperature in TEMPERATURES:
        texts = [text for text, _ in bench.texts(temperature)]
        bench.report(f"Rejection rates at temperature {temperature:g}.")
        rates = rejection_rates(bench.pair, texts, bench.config(temperature), WIDTHS)
        by_temperature[f"{temperature:g}"] = {
            "widths": rates.widths,
            "positions": rates.positions,
            **{name: rates.rates[name] for name in RULES},
        }
    return by_temperature


def verdict(data):
    beaten = []
    for temperature, rates in data.items():
        for name, title in RULES.items():
            above = [ours > other + 0.005 for ours, other in zip(rates["sequoia"], rates[name], strict=True)]
            if any(above):
                beaten.append(
                    f"{title} at temperature {temperature} with {rates['widths'][above.index(True)]} children"
                )
    slopes = [fit_power_law(rates["widths"], rates["sequoia"])[1] for rates in data.values()]
    first = "".join(beaten[:1])
    tail = f"Its rate falls about as k^-{min(slopes):.2f} to k^-{max(slopes):.2f}."
    return judge(
        not beaten,
        f"At all three temperatures no rule rejects less than Sequoia's at any width. {tail}",
        f"Sequoia's rate falls as a power law (k^-{min(slopes):.2f} to k^-{max(slopes):.2f}), but it is not lowest "
        f"everywhere: {first} rejects less{f', and so do {len(beaten) - 1} more' if len(beaten) > 1 else ''}. A draft "
        "trained on this target ranks so well that taking its best tokens outright can cover more than drawing them.",
    )


def shown(data):
    return [
        Lines(
            f"children, temperature {temperature}",
            "rejection rate",
            [Series(title, list(zip(rates["widths"], rates[name], strict=True))) for name, title in RULES.items()],
            log_x=True,
            log_y=True,
        )
        for temperature, rates in data.items()
    ]


ENTRY = Entry(
    "figure-3",
    "Figure 3",
    "Rejection rate against the number of children",
    "At temperatures 0.2, 0.6 and 1.0 Sequoia's rule rejects least of all at every number of children and follows a "
    "power law; SpecTr and SpecInfer do well at high and badly at low temperatures, top-k the opposite "
    "(WikiText-103).",
    verdict,
    measure=measure,
    shown=shown,
    opens=(tab("acceptance"),),
)
