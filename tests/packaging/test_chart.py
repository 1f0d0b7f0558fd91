"""The Helm chart: what it renders with every part on (tests/golden/chart.yaml), and what it refuses to render."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cutter.catalogue import LONGEST_CAP_SECONDS, WorkerRole
from cutter.settings import Settings
from cutter.stack import workers
from starter.command_table import COMMANDS
from starter.commands.keys import KeyRole, install_key, make_key
from tests.support.database import short_folder

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "cutter"
GOLDEN = ROOT / "tests" / "golden" / "chart.yaml"
DOCUMENTS: list[dict[str, Any]] = [
    document for document in yaml.safe_load_all(GOLDEN.read_text(encoding="utf-8")) if document
]

PROBES = {"health_port", "probe_host"}
"""The settings of the probes. `healthPort: 0` leaves them out."""

HELM = ROOT / "deploy" / "helm" / "helm"
CACHED = Path.home() / ".cache" / "cutter" / "bin"
has_helm = shutil.which("helm") is not None or any(CACHED.glob("helm-v*"))
rendered_here = pytest.mark.skipif(not has_helm, reason="helm is missing: deploy/helm/helm says how to get it")


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {
        document["metadata"]["name"].removeprefix("law-"): document
        for document in DOCUMENTS
        if document["kind"] == kind
    }


PODS = {
    name: workload["spec"]["template"]
    for name, workload in {**named("Deployment"), **named("Job")}.items()
}  # fmt: skip
every_pod = pytest.mark.parametrize("process", sorted(PODS))


def containers(process: str) -> list[dict[str, Any]]:
    spec = PODS[process]["spec"]
    return [*spec.get("initContainers", ()), *spec["containers"]]


def seen(process: str, name: str) -> dict[str, set[str]]:
    """By secret volume: the files that one container of the pod sees."""
    (container,) = (container for container in containers(process) if container["name"] == name)
    volumes = {volume["name"]: volume for volume in PODS[process]["spec"]["volumes"]}
    mounted = [volumes[mount["name"]] for mount in container["volumeMounts"]]
    secrets = {volume["name"]: volume["secret"].get("items", ()) for volume in mounted if "secret" in volume}
    return {name: {item["path"] for item in items} for name, items in secrets.items()}


def test_the_rendered_chart_is_that_of_the_present_files() -> None:
    listed = subprocess.run(["git", "ls-files", "-z", "--", CHART], cwd=ROOT, capture_output=True, check=True)
    names = sorted(name for name in listed.stdout.decode().split("\0") if name)
    lines = "".join(f"{hashlib.sha256((ROOT / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    head = GOLDEN.read_text(encoding="utf-8").partition("\n")[0]
    assert head.endswith(hashlib.sha256(lines.encode()).hexdigest()), "type `deploy/helm/render`"


def test_it_has_the_processes_of_a_deployment() -> None:
    assert set(PODS) == {*WorkerRole, "setup", "notify", "desk"}
    for kind in ("ServiceAccount", "NetworkPolicy", "ExternalSecret"):
        assert set(named(kind)) == set(PODS), kind
    assert set(named("PodDisruptionBudget")) == set(WorkerRole)


@pytest.mark.parametrize("worker", WorkerRole)
def test_a_worker_does_not_see_its_secret_and_reads_what_its_first_container_made(worker: WorkerRole) -> None:
    assert seen(worker, "worker") == {"tls": set()}
    for container in containers(worker):
        assert {"name": "CUTTER_SECRETS_DIR", "value": "/run/cutter/secrets"} in container["env"]
        assert {"name": "home", "mountPath": "/run/cutter"} in container["volumeMounts"]


@pytest.mark.parametrize("worker", WorkerRole)
def test_the_first_container_has_its_own_passwords_and_all_that_its_home_needs(
    worker: WorkerRole, tmp_path: Path
) -> None:
    (keys,) = (container for container in containers(worker) if container["name"] == "keys")
    assert keys["args"] == ["keys", "import", "--role", workers.HOMES[worker], "/run/secrets/cutter"]
    for each in (KeyRole.EXECUTOR, KeyRole.VERIFIER, KeyRole.BACKUP):
        make_key(each, tmp_path / "made", expire="1d")
    (tmp_path / "handed").mkdir()
    handed = seen(worker, "keys")
    assert set(handed) == {"secrets"}
    passwords = {name for name in handed["secrets"] if name.endswith(".password")}
    assert passwords == {f"{role}.password" for role in workers.database_roles(worker)}
    for name in handed["secrets"] - passwords:
        shutil.copy(tmp_path / "made" / name, tmp_path / "handed")
    with short_folder() as homes:
        install_key(KeyRole(workers.HOMES[worker]), tmp_path / "handed", homes, tmp_path / "secrets")
        subprocess.run(["gpgconf", "--homedir", str(homes / workers.HOMES[worker]), "--kill", "all"], check=True)


@every_pod
def test_the_secret_has_every_file_that_a_pod_mounts_from_it(process: str) -> None:
    given = {entry["secretKey"] for entry in named("ExternalSecret")[process]["spec"]["data"]}
    mounted = {
        file
        for container in containers(process)
        for files in seen(process, container["name"]).values()
        for file in files
    }
    assert mounted == given


@every_pod
def test_each_container_is_closed(process: str) -> None:
    pod = PODS[process]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["serviceAccountName"] == f"law-{process}"
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in containers(process):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "privileged": False, "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }  # fmt: skip
        assert "@sha256:" in container["image"]
        assert container["resources"]["limits"]["memory"]


@every_pod
def test_each_variable_is_a_setting_and_kubernetes_adds_none(process: str) -> None:
    """Kubernetes would add CUTTER_…_SERVICE_HOST for each service, and cutter refuses an unknown setting."""
    assert PODS[process]["spec"]["enableServiceLinks"] is False
    names = {variable["name"] for container in containers(process) for variable in container["env"]}
    ours = {name.removeprefix("CUTTER_").lower() for name in names if name.startswith("CUTTER_")}
    assert ours - PROBES <= set(Settings.model_fields)


@every_pod
def test_each_command_of_cutter_exists(process: str) -> None:
    known = {entry.name.partition(" ")[0] for entry in COMMANDS}
    for container in containers(process):
        if "command" in container:
            assert container["command"] == ["/opt/cutter/bin/python", "-P", "-m", "worker", "--role", process]
        else:
            assert container["args"][0] in known


@pytest.mark.parametrize(("number", "worker"), list(enumerate(WorkerRole)))
def test_a_worker_may_finish_its_gate_and_is_probed_on_the_port_that_it_opens(number: int, worker: WorkerRole) -> None:
    spec = PODS[worker]["spec"]
    assert spec["terminationGracePeriodSeconds"] > LONGEST_CAP_SECONDS
    (container,) = spec["containers"]
    base = {each["name"]: each.get("value") for each in container["env"]}
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports["health"] == int(base["CUTTER_HEALTH_PORT"]) + number
    assert ports["metrics"] == int(base["CUTTER_METRICS_PORT"]) + number
    for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "health"}


@every_pod
def test_the_network_lets_in_nothing_but_metrics_and_the_desk_s_proxy(process: str) -> None:
    policy = named("NetworkPolicy")[process]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    opened = {port["port"] for rule in policy["ingress"] for port in rule["ports"]}
    assert opened == ({"http"} if process == "desk" else {"metrics"} if process in set(WorkerRole) else set())
    assert all(rule["from"] for rule in policy["ingress"])
    assert all(rule["to"] for rule in policy["egress"])
    labels = PODS[process]["metadata"]["labels"]
    assert policy["podSelector"]["matchLabels"].items() <= labels.items()


def test_the_schema_is_there_before_the_workers_of_a_version() -> None:
    for kind in ("Job", "ServiceAccount", "ExternalSecret", "NetworkPolicy"):
        assert named(kind)["setup"]["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade", kind
    steps = [container["args"][0] for container in containers("setup")]
    assert steps == ["migrate", "reconcile"]


def test_the_approvers_folder_has_its_form() -> None:
    (volume,) = (volume for volume in PODS["exec"]["spec"]["volumes"] if volume["name"] == "approvers")
    data = named("ConfigMap")["approvers"]["data"]
    paths = {item["path"]: data[item["key"]] for item in volume["configMap"]["items"]}
    assert paths == {"epoch-0001.yaml": "schema: example\n", "keys/ABC.asc": "public key\n"}


# --- with helm --------------------------------------------------------------------------------------------------------


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [HELM, "template", "law", CHART, "--kube-version", "1.33", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def everything() -> tuple[str, str]:
    return ("--values", str(CHART / "ci" / "everything.yaml"))


@rendered_here
def test_helm_renders_what_the_other_tests_read(everything: tuple[str, str]) -> None:
    done = helm(*everything)
    assert done.returncode == 0, done.stderr
    assert done.stdout == GOLDEN.read_text(encoding="utf-8").partition("\n")[2]


@rendered_here
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("image.digest=", "image.digest"),
        ("image.digest=latest", "digest"),
        ("settings.CUTTER_DATABASE_URL=", "CUTTER_DATABASE_URL is missing"),
        ("settings.CUTTER_KB_URL=file:///kb", "pods share no folder"),
        ("settings.PASSWORD=x", "PASSWORD"),
        ("environment.CUTTER_TENANT=x", "CUTTER_TENANT"),
        ("workers.exec.replicas=0", "replicas"),
        ("approvers.files=null", "approvers.files is empty"),
        ("desk.userHeader=", "desk.userHeader is missing"),
        ("desk.proxyPodLabels=null", "desk.proxyPodLabels is missing"),
        ("networkPolicy.database.cidrs=null", "needs cidrs"),
        ("externalSecrets.store.name=", "externalSecrets.store.name is missing"),
    ],
)
def test_what_is_missing_is_named(everything: tuple[str, str], change: str, word: str) -> None:
    done = helm(*everything, "--set", change)
    assert done.returncode != 0
    assert word in done.stderr


@rendered_here
def test_without_probes_no_variable_of_theirs_is_set(everything: tuple[str, str]) -> None:
    done = helm(*everything, "--set", "healthPort=0")
    assert done.returncode == 0
    assert "HEALTH" not in done.stdout
    pods = [
        document["spec"]["template"]["spec"]
        for document in yaml.safe_load_all(done.stdout)
        if document["kind"] == "Deployment"
    ]
    assert sorted(pod["containers"][0]["name"] for pod in pods if "livenessProbe" in pod["containers"][0]) == ["desk"]
