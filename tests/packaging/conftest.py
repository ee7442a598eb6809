"""The layers, built once a run: for Lambda, to be looked at, and for this machine, to be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from infra.lambda_runtime.opt import lay_over
from infra.lambda_runtime.process import Sandbox
from infra.packaging.build import HERE, LAMBDA, Target, build_layer, install
from infra.packaging.functions import DeployedFunction, deployed_functions
from infra.packaging.layers import LAYERS, LOCKS

FUNCTIONS = deployed_functions()
Layers = Mapping[str, Path]
"""Folders by the names of the layers."""


def _built(target: Target, folder: Path) -> Layers:
    for name, layer in LAYERS.items():
        build_layer(layer, target, folder / name)
    return {name: folder / name for name in LAYERS}


@pytest.fixture(scope="session")
def lambda_layers(tmp_path_factory: pytest.TempPathFactory) -> Layers:
    return _built(LAMBDA, tmp_path_factory.mktemp("lambda"))


@pytest.fixture(scope="session")
def layers_here(tmp_path_factory: pytest.TempPathFactory) -> Layers:
    return _built(HERE, tmp_path_factory.mktemp("here"))


@pytest.fixture(scope="session")
def sandbox_of(layers_here: Layers, tmp_path_factory: pytest.TempPathFactory) -> Callable[[DeployedFunction], Sandbox]:
    """A function with its layers; functions with the same layers share a folder."""
    runtime = tmp_path_factory.mktemp("runtime")
    install(LOCKS / "runtime.txt", HERE, runtime)
    made: dict[tuple[str, ...], Path] = {}

    def sandbox(function: DeployedFunction) -> Sandbox:
        if function.layers not in made:
            opt = tmp_path_factory.mktemp("opt")
            made[function.layers] = lay_over([layers_here[name] for name in function.layers], opt)
        return Sandbox(function.code, made[function.layers], runtime)

    return sandbox
