"""The Kubernetes manifests: valid by Kubernetes' own schemas, and no pod may do more than it was measured to need."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
KUBERNETES_VERSION = "1.33"
NOT_KUBERNETES_OWN = {"Component", "Kustomization", "ScaledObject"}
DOCUMENTS: list[tuple[str, dict[str, Any]]] = [
    (
        f"{path.relative_to(FOLDER)} {document['kind']} {document.get('metadata', {}).get('name', '')}",
        document,
    )
    for path in sorted(FOLDER.rglob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
WORKLOADS = [
    pytest.param(document["spec"]["template"]["spec"], id=name)
    for name, document in DOCUMENTS
    if "template" in document.get("spec", {})
]


def named(kind: str, name: str) -> dict[str, Any]:
    (found,) = [
        document
        for _, document in DOCUMENTS
        if document["kind"] == kind and document["metadata"]["name"] == name
    ]
    return found


@pytest.mark.parametrize(
    "document",
    [pytest.param(one, id=name) for name, one in DOCUMENTS if one["kind"] not in NOT_KUBERNETES_OWN],
)
def test_every_object_is_valid_and_has_no_unknown_field(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, KUBERNETES_VERSION, strict=True)


def test_an_object_that_is_not_valid_would_be_seen() -> None:
    document = yaml.safe_load(yaml.safe_dump(named("Deployment", "worker")))
    document["spec"]["template"]["spec"]["containers"][0]["privilged"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, KUBERNETES_VERSION, strict=True)


@pytest.mark.parametrize("folder", ["base", "overlays/keda", "seccomp-profile"])
def test_kustomize_puts_it_together(folder: str) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("no kubectl here")
    built = subprocess.run(
        [kubectl, "kustomize", "--load-restrictor", "LoadRestrictionsNone", str(FOLDER / folder)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    objects = list(yaml.safe_load_all(built.stdout))
    for one in objects:
        if one["kind"] not in NOT_KUBERNETES_OWN:
            kubernetes_validate.validate(one, KUBERNETES_VERSION, strict=True)
    if folder == "overlays/keda":
        (worker,) = [
            one for one in objects if (one["kind"], one["metadata"]["name"]) == ("Deployment", "worker")
        ]
        assert "replicas" not in worker["spec"]


@pytest.mark.parametrize("pod", WORKLOADS)
def test_no_pod_has_a_power_that_it_does_not_need(pod: dict[str, Any]) -> None:
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert pod["automountServiceAccountToken"] is False
    for container in [*pod["containers"], *pod.get("initContainers", [])]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert "privileged" not in context
        assert container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"]["cpu"]


@pytest.mark.parametrize("name", ["api", "worker"])
def test_a_pod_of_the_service_is_nobodys_root(name: str) -> None:
    pod = named("Deployment", name)["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 1000
    assert not [volume for volume in pod["volumes"] if "hostPath" in volume]


def test_workers_run_under_our_own_list_of_system_calls() -> None:
    context = named("Deployment", "worker")["spec"]["template"]["spec"]["securityContext"]
    assert context["seccompProfile"] == {"type": "Localhost", "localhostProfile": "microcoder/worker.json"}
    (path,) = [
        volume["hostPath"]["path"]
        for volume in named("DaemonSet", "microcoder-seccomp")["spec"]["template"]["spec"]["volumes"]
        if "hostPath" in volume
    ]
    assert path == "/var/lib/kubelet/seccomp/microcoder"


def test_a_restart_needs_more_than_not_being_ready() -> None:
    (container,) = named("Deployment", "api")["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_nothing_talks_to_anything_but_what_is_named() -> None:
    assert named("NetworkPolicy", "nothing")["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
    }
    worker = named("NetworkPolicy", "worker")["spec"]
    assert worker["policyTypes"] == ["Egress"]
    assert [port["port"] for rule in worker["egress"] for port in rule["ports"]] == [6379]


@pytest.mark.parametrize("name", ["api", "worker"])
def test_a_drained_node_does_not_take_all_of_a_kind(name: str) -> None:
    budget = named("PodDisruptionBudget", name)["spec"]
    labels = named("Deployment", name)["spec"]["template"]["metadata"]["labels"]
    assert budget["selector"]["matchLabels"].items() <= labels.items()
    assert {"minAvailable", "maxUnavailable"} & set(budget)


def test_workers_follow_the_queue() -> None:
    scaling = named("ScaledObject", "worker")["spec"]
    assert scaling["scaleTargetRef"] == {"name": "worker"}
    assert scaling["minReplicaCount"] >= 1
    (trigger,) = scaling["triggers"]
    assert "microcoder_queue_submissions" in trigger["metadata"]["query"]
