# The demo on a CPU with the embedded pair, as a user without rights:
#   docker build -t specviz . && docker run -p 7860:7860 specviz
FROM python:3.12-slim

RUN useradd --create-home --uid 1000 demo
WORKDIR /home/demo/specviz

COPY requirements.txt constraints.txt ./
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
    -c constraints.txt -r requirements.txt

COPY LICENSE ./
COPY assets/ assets/
COPY specviz/ specviz/
COPY app/ app/

USER demo
# SmolLM2 in the cache, 269 MB, so that the running page needs no network. Without it the page opens with the tales pair.
RUN python -m specviz prepare --target smollm2 || true
# Compiles the passes once, for processors like this one; with a read-only root each start does it, in ten seconds.
RUN python -m specviz generate --prompt A --max-new-tokens 2
ENV GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=7860 PYTHONUNBUFFERED=1
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=40s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:7860/', method='HEAD'), timeout=4)"]
CMD ["python", "app/app.py"]
