#!/usr/bin/env bash
# Build the image and run it as another user, with a read-only file system and 16 GB, until it has decoded a text.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in docker podman buildah; do "$tool" info >/dev/null 2>&1 && break || tool=; done
[ "$tool" ] || { echo "Neither docker, podman nor buildah is available here, so the image was not built."; exit 0; }

decode='
import time
from gradio_client import Client
for _ in range(60):
    try:
        client = Client("http://127.0.0.1:7860", verbose=False, download_files=False)
        break
    except Exception:
        time.sleep(2)
*_, (text, _, trace) = client.submit("Once upon a time", max_new_tokens=8, plain_rounds=0, api_name="/generate")
assert text and trace, (text, trace)
print("decoded:", text)
'
if [ "$tool" = buildah ]; then # which runs no container with a read-only root
  buildah build -q -t specviz-test .
  container=$(buildah from specviz-test)
  trap 'buildah rm "$container" >/dev/null' EXIT
  buildah run --user 12345:12345 "$container" sh -c 'python app/app.py & python -c "$1"' - "$decode"
else
  "$tool" build -q -t specviz-test .
  container=$("$tool" run --detach --rm --read-only --tmpfs /tmp --user 12345:12345 --memory 16g specviz-test)
  trap '"$tool" kill "$container" >/dev/null' EXIT
  "$tool" exec "$container" python -c "$decode"
fi
