"""Where the tests of sdk/adapters run: a service, a proxy that counts what is sent to it, and a strict model."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from local.api_client import ApiClient
from local.running import start_server
from local.template import ROOT
from tests.loopback import server as loopback
from tests.sdk import proxy

ADAPTERS = ROOT / "sdk" / "adapters"
PYTHON_TESTS = ADAPTERS / "python"
INSTALLED = ROOT / ".venv-frameworks"
NO_FRAMEWORKS = "the frameworks are not there: "
"""How the reason of every skip for want of them begins."""
LIMIT_S = 900
PATIENT = dict.fromkeys(("prompt_budget_ms", "session_start_budget_ms", "manual_search_budget_ms"), 20_000)
"""Nothing here is about time: the machine may be busy."""
PACKAGES = (ROOT / "sdk" / "python", ADAPTERS / "openai-agents", ADAPTERS / "strands")


@contextmanager
def served(data: Path) -> Iterator[dict[str, str]]:
    """Give the environment in which tests of adapters find all they need; none of this process's own."""
    running = start_server(data)
    with closing(ApiClient(running.base_url, running.key)) as client:
        client.expect(200, "PUT", "/v1/policy", PATIENT)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEVE_", "PYTHON", "PYTEST", "ANTHROPIC_", "OPENAI_", "GOOGLE_"))
    }
    try:
        with proxy.running(running.base_url) as counted, loopback.running() as model:
            yield kept | {
                "NEVE_URL": counted.url,
                "NEVE_KEY": running.key,
                "NEVE_TEST_MODEL": model.url,
                "NEVE_DOCS": str(ROOT / "docs" / "frameworks"),
                "PYTHONPATH": os.pathsep.join(map(str, PACKAGES)),
                "PYTHONDONTWRITEBYTECODE": "1",
                # Else it asks the internet for prices when it is imported.
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            }
    finally:
        running.stop()


def run_tests(python: Path, environment: dict[str, str], *names: str) -> subprocess.CompletedProcess[str]:
    """Run test files of sdk/adapters/python by an interpreter that has their frameworks."""
    command = [str(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *names]
    return subprocess.run(
        command,
        cwd=PYTHON_TESTS,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
