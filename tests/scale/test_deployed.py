"""The examples of clusters in `deploy/ray`: they parse, and name what there is."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer

from demur.cli.main import app

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
HERE = Path(__file__).parents[2]
RAY = HERE / "deploy" / "ray"
DOCS = (HERE / "docs" / "scale.md").read_text("utf-8")


def read(name: str) -> Any:
    return yaml.safe_load((RAY / name).read_text("utf-8"))


def scored(text: str) -> list[str]:
    """The command lines of `demur score` on a cluster, from its options on."""
    return re.findall(r"demur score (/shared[^'#\n]*)", text)


@pytest.mark.parametrize("text", [DOCS, (RAY / "job.yaml").read_text("utf-8")], ids=["docs", "job.yaml"])
def test_the_commands_are_ones_that_demur_has(text: str) -> None:
    command = typer.main.get_command(app).commands["score"]  # type: ignore[attr-defined]
    lines = scored(text)
    for line in lines:
        given = command.make_context("score", shlex.split(line)).params
        assert (given["source"], given["output"], given["engine"]) == (
            "/shared/pairs",
            "/shared/scored",
            "ray",
        )
        assert given["address"]
    assert lines


def test_files_and_extras_that_are_named_are_there() -> None:
    texts = [DOCS, *(path.read_text("utf-8") for path in RAY.iterdir())]
    files = {name for text in texts for name in re.findall(r"deploy/ray/\w[\w.]*\w", text)}
    assert files == {f"deploy/ray/{path.name}" for path in RAY.iterdir()}
    extras = re.search(r"\[project.optional-dependencies\]\n(.*?)\n\[", project(), re.DOTALL)
    for extra in {each for text in texts for each in re.findall(r"(?:demur|wheel})\[(\w+)\]", text)}:
        assert extras and re.search(rf"^{extra} = ", extras[1], re.MULTILINE), extra


def project() -> str:
    return (HERE / "pyproject.toml").read_text("utf-8")


def test_the_job_runs_the_image_that_is_built() -> None:
    job, dockerfile = read("job.yaml"), (RAY / "Dockerfile").read_text("utf-8")
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    version = cluster["rayVersion"]
    assert f"FROM rayproject/ray:{version}-py312" in dockerfile
    assert f"ray=={version}" in (HERE / "constraints.txt").read_text("utf-8").splitlines()
    (image,) = re.findall(r"docker build -f deploy/ray/Dockerfile -t (\S+) \.", dockerfile)
    assert f"-t {image} ." in DOCS
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        assert container["image"] == image and group["rayStartParams"] == {}
        mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        assert mounts == {each["name"]: "/shared" for each in pod["volumes"]}
        assert container["resources"]["requests"] == container["resources"]["limits"]


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed; pip install 'demur[ray]'")
def test_ray_takes_the_file_of_its_cluster() -> None:
    pytest.importorskip("jsonschema")
    from ray.autoscaler._private import util

    config = util.prepare_config(read("cluster.yaml"))
    util.validate_config(config)
    assert config["available_node_types"]["local.cluster.node"]["min_workers"] == 2
    with pytest.raises(Exception, match="Additional properties"):
        util.validate_config(config | {"wrong": 1})
