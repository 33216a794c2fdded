"""The tab Papers: what the page is sent of a source, and a measurement that a visitor asks for."""

import json

import specviz
from app.tabs.papers import described, source_page
from app.tabs.papers.work import remeasured
from specviz import papers


def test_a_source_is_sent_with_its_claims_and_the_counts_of_all():
    page = json.loads(source_page("svip"))
    claims = [claim for one in page["entries"] for claim in one["claims"]]
    assert page["title"].startswith("Draft Model Knows") and sum(page["mine"].values()) == len(claims)
    assert page["sources"]["svip"] == page["mine"] and set(page["counts"]) == set(papers.VERDICTS)
    assert sum(page["counts"].values()) == sum(sum(counts.values()) for counts in page["sources"].values())
    assert {claim["verdict"] for claim in claims} <= set(papers.VERDICTS)
    residual = next(one for one in page["entries"] if one["name"] == "correct")
    assert [claim["verdict"] for claim in residual["claims"]] == ["differs", "holds by proof"]
    assert residual["state"] == "differs" and residual["claims"][0]["proof"] and residual["measurable"]
    assert json.loads(source_page({"not": "a name"}))["name"] == "sequoia"


def test_a_visitor_measures_an_entry_again():
    *sentences, (last, found) = remeasured(specviz.toy_pair(), "svip", "correct")
    assert all(data is None for _, data in sentences) and last == "Measured."
    entry = described(papers.again("svip", "correct", found, "Measured now."))
    assert entry["state"] == "differs" and entry["made"] == "Measured now."
