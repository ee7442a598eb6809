"""``python -m infra.audit``: every finding of parliament and checkov that ``suppressions.yaml`` does not explain, and
every suppression there that nothing needs. What the tools have found is kept in ``.cache/audit.json`` for as long as
the templates and the tools are the same."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

from infra.audit.findings import BadSuppression, Finding, complaints, read_suppressions
from infra.audit.policies import Unreadable
from infra.audit.tools import NotAudited, audit
from infra.expand import NotExpanded, expand
from local.cloudformation import read_yaml
from local.template import ROOT, TEMPLATE

INFRA = ROOT / "infra"
PLAIN = ("data", "observability", "account", "console", "pipeline")
"""The templates that need no transformation."""
BUILD_SHA = "0123456789abcdef"
HERE = Path(__file__).parent
SUPPRESSIONS = HERE / "suppressions.yaml"
CACHE_FILE = ROOT / ".cache" / "audit.json"


def main() -> int:
    try:
        findings = _findings()
        wrong = list(complaints(findings, read_suppressions(SUPPRESSIONS)))
    except (NotAudited, NotExpanded, Unreadable, BadSuppression) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print("\n".join(wrong) or f"{len(findings)} findings, each explained in {SUPPRESSIONS.relative_to(ROOT)}.")
    return bool(wrong)


def _findings() -> list[Finding]:
    """Raises what ``audit`` and ``expand`` raise."""
    total = sum_of(_inputs())
    if CACHE_FILE.exists() and (stored := json.loads(CACHE_FILE.read_bytes()))["sum"] == total:
        return [Finding(*one) for one in stored["findings"]]
    with tempfile.TemporaryDirectory(prefix="neve-audit-") as folder:
        findings = audit(_templates(), Path(folder))
    CACHE_FILE.parent.mkdir(exist_ok=True)
    CACHE_FILE.write_text(json.dumps({"sum": total, "findings": [astuple(one) for one in findings]}, indent=1))
    return findings


def _templates() -> dict[str, Any]:
    """The production stage, which the rules are for. Without the API's description, which no rule looks at and checkov
    takes longer for than for everything else (tests/infra/test_api.py asserts on it)."""
    service = expand(BuildSha=BUILD_SHA, Stage="prod")
    del service["Resources"]["Api"]["Properties"]["Body"]
    return {"service": service, **{name: read_yaml(INFRA / f"{name}.yaml") for name in PLAIN}}


def _inputs() -> Iterable[Path]:
    yield TEMPLATE
    yield from (INFRA / f"{name}.yaml" for name in PLAIN)
    yield from (INFRA / "transform.py", INFRA / "expand.py", ROOT / "local" / "cloudformation.py")
    yield from (ROOT / "requirements" / f"{name}.txt" for name in ("sam", "audit"))
    yield from (HERE / name for name in ("tools.py", "policies.py", "read_policies.py", "__main__.py"))


def sum_of(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in files:
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
