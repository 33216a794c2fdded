"""A notebook: a run is one frame and nothing else, whatever its text holds; the rest is a line of
text or a figure."""

import subprocess
import sys
from html.parser import HTMLParser
from importlib import reload

import plotly.io as pio

import specviz
from specviz.view import figures as plots
from specviz.view.offline import offline_page


class Seen(HTMLParser):
    """Every element that a browser would make of a text."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def test_a_trace_shows_itself_in_a_frame_without_origin():
    config = specviz.RunConfig('</iframe>"><script>x</script>', max_new_tokens=6)
    trace = specviz.run(specviz.toy_pair(vocab=12), config)
    ((tag, frame),) = Seen(trace._repr_html_()).elements
    assert tag == "iframe" and frame["srcdoc"] == offline_page(trace)
    assert frame["sandbox"].split() == ["allow-scripts", "allow-downloads"]


def test_records_and_pairs_have_a_short_text():
    pair = specviz.toy_pair(vocab=12)
    trace = specviz.run(pair, specviz.RunConfig("abc", max_new_tokens=200))
    name = "'toy tables (vocabulary 12, seed 0)'"
    assert repr(pair) == f"TablePair({name})"
    assert (
        repr(trace) == f"Trace({name}, {len(trace.steps)} steps, 200 tokens, {trace.text[:60]!r})"
    )
    step = trace.steps[0]
    assert (
        repr(step) == f"Step(0: {step.drafted} drafted, {len(step.path)} accepted, "
        f"{''.join(step.emitted_texts)!r})"
    )


def test_a_figure_in_a_notebook_is_html_as_well():
    before = pio.renderers.default
    try:
        pio.renderers.default = "plotly_mimetype"  # what plotly chooses in a kernel
        reload(plots)
        assert pio.renderers.default == "plotly_mimetype+notebook"
        pio.renderers.default = "png"  # what somebody chose
        reload(plots)
        assert pio.renderers.default == "png"
    finally:
        pio.renderers.default = before


KERNEL = """
import sys, types
kernel = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: kernel)
for widgets in ("ipywidgets", "IPython.display", "IPython.html"):
    sys.modules[widgets] = None
import specviz.models, tqdm.auto
"""


def test_models_load_in_a_kernel_without_a_warning_of_missing_widgets():
    done = subprocess.run([sys.executable, "-c", KERNEL], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_page_names_its_prompt_and_what_was_gained():
    pair = specviz.toy_pair(vocab=12)
    trace = specviz.run(pair, specviz.RunConfig("<b>abc", max_new_tokens=12))
    page = offline_page(trace)
    assert "<h2>“&lt;b&gt;abc”</h2>" in page and "<b>abc" not in page
    assert f"<p>{trace.tokens_per_pass:.1f} tokens per target pass." in page


def test_a_page_leads_back_to_the_run_by_its_link_and_to_no_other_kind_of_address():
    run = specviz.run(specviz.toy_pair(vocab=12), specviz.RunConfig("abc", max_new_tokens=8))
    page = offline_page(run, 'https://example.org/?a="1"&b=<2>')
    link = "https://example.org/?a=&quot;1&quot;&amp;b=&lt;2&gt;"
    assert f'<a href="{link}">Open it again</a>' in page
    assert "Open it again" not in offline_page(run, "javascript:alert(1)")
