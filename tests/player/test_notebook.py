"""A run in a notebook: one frame and nothing else, whatever the run's text holds."""

from html.parser import HTMLParser

import specviz
from specviz.player.offline import offline_page


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
