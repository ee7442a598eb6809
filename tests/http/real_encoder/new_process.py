"""A recall that a process of its own asks for: it knows nothing but an address, a key and the question."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from local.template import ROOT
from tests.http.driving.people import Json
from tests.http.driving.stage import Stage
from tests.patience import PATIENCE_S

WITHIN_S = PATIENCE_S
ASKED_FOR_S = PATIENCE_S / 2
"""A process that has just begun may be too slow for a recall's budget."""

CLIENT = """
import json, os, sys, time
from local.api_client import ApiClient
client = ApiClient(os.environ["T0_URL"], os.environ["T0_KEY"])
end = time.monotonic() + float(sys.argv[3])
while True:
    answer = client.expect(200, "POST", sys.argv[1], {"query": sys.argv[2]})
    if answer["hits"] or time.monotonic() > end:
        break
    time.sleep(0.25)
print(json.dumps(answer))
"""


def recall_in_a_new_process(stage: Stage, path: str, question: str) -> Json:
    """The answer to ``POST <path>`` once it has hits, or the last one after ``ASKED_FOR_S``."""
    paths = os.pathsep.join([str(ROOT / "layers" / "core"), str(ROOT)])
    asked = subprocess.run(
        [sys.executable, "-c", CLIENT, path, question, str(ASKED_FOR_S)],
        env={**os.environ, "PYTHONPATH": paths, "T0_URL": stage.base_url, "T0_KEY": stage.key},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    return dict(json.loads(asked.stdout))
