"""Reads what a stage is to be given, and sums up what makes a version of its functions a new one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from infra.deploy.cloud import NotReady
from local.template import ROOT, TEMPLATE

SUM_LENGTH = 16
"""Characters of BuildSha, of which SAM reads the first ten."""
BUILD_SUM = ROOT / "build" / "BuildSha"
"""The sum over layers and functions, which `make build` writes."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """``more``: parameters of the service that its file does not name. ``stores``, ``account``: those of the data stack
    and of the account's, each of which is deployed again where there are any. ``template``: expanded already, and to be
    taken as it is; None: build it. ``sam_options``: of every deployment."""

    stage: str
    more: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    account: tuple[str, ...] = ()
    data_again: bool = False
    template: Path | None = None
    sam_options: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        return ROOT / "infra" / "parameters" / f"{self.stage}.yaml"

    @property
    def service(self) -> str:
        return f"neve-{self.stage}"

    def parameters(self) -> Mapping[str, str]:
        """Give the parameters of the service by name, those of ``more`` last. Raises NotReady."""
        if not self.file.is_file():
            known = ", ".join(sorted(path.stem for path in self.file.parent.glob("*.yaml")))
            raise NotReady(f"no stage is called '{self.stage}'. Cure: one of {known}")
        if wrong := [one for one in (*self.more, *self.stores, *self.account) if "=" not in one]:
            raise NotReady(f"'{wrong[0]}' is no parameter. Cure: NAME=VALUE, separated by spaces")
        named: dict[str, str] = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        return named | dict(one.split("=", 1) for one in self.more)


def build_sum(wanted: Wanted, stored: Mapping[str, str]) -> str:
    """Sum up everything that a version of a function is made of: code, templates, parameters, and what Parameter Store
    says (``stored``). A setting that is not in the sum would reach no alias."""
    total = hashlib.sha256()
    code = BUILD_SUM if wanted.template is None else wanted.template
    for path in (code, TEMPLATE, ROOT / "infra" / "observability.yaml", wanted.file):
        total.update(path.read_bytes())
    for line in (*sorted(wanted.more), *sorted(f"{name}\t{value}" for name, value in stored.items())):
        total.update(line.encode() + b"\n")
    return total.hexdigest()[:SUM_LENGTH]
