"""What only a host decides: variables that components read themselves, files, regions, and the verdict without them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from headgate_engine.checker import host_variables
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.limits import Limits
from tests.support.members import API, JoinWith, Member
from validation.app import router as validation_router

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.usefixtures("own_checker")]

FIELD: Final = Path(__file__).parent / "field"
REGION: Final = (FIELD / "86-aws-region-from-environment" / "config.yaml").read_text()
TOKEN: Final = (FIELD / "74-header-crlf-token" / "config.yaml").read_text()
OTLP: Final = "receivers: {otlp: {protocols: {grpc: {}}}}\n"
NODE: Final = (
    OTLP
    + """\
processors:
  k8sattributes:
    auth_type: none
    filter: {node_from_env_var: NAME}
exporters: {debug: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [k8sattributes], exporters: [debug]}}}
"""
)


def of(component: str, settings: str, kind: str = "exporters", signal: str = "metrics") -> str:
    others = {"receivers": "  otlp: {protocols: {grpc: {}}}\n", "exporters": "  debug:\n"}
    sections = "".join(
        f"{section}:\n{content}" for section, content in {**others, kind: f"  {component}: {settings}\n"}.items()
    )
    names = {"receivers": "otlp", "exporters": "debug", kind: component}
    pipeline = ", ".join(f"{section}: [{name}]" for section, name in names.items())
    return f"{sections}service: {{pipelines: {{{signal}: {{{pipeline}}}}}}}\n"


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([validation_router], "ann")


def verdict(ann: Member, yaml: str, env: Mapping[str, str] = {}, files: Mapping[str, str] = {}) -> Any:
    answer = ann.http.post(f"{API}/validate", json={"yaml": yaml, "env": env, "files": files})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
@pytest.mark.parametrize(
    "text",
    [
        REGION,
        of("awsxray", "{}", signal="traces"),
        of("awscloudwatchlogs", "{log_group_name: g, log_stream_name: s}", signal="logs"),
    ],
    ids=["awsemf", "awsxray", "awscloudwatchlogs"],
)
def test_a_region_of_the_environment_is_the_components(text: str, name: str, ann: Member) -> None:
    without, with_it = verdict(ann, text), verdict(ann, text, {name: "eu-west-1"})

    assert (without["valid"], without["valid_on_host"]) == (False, True)
    assert [one["code"] for one in without["errors"]] == ["depends_on_host"]
    assert "must have AWS_REGION in its environment" in without["errors"][0]["message"]
    assert (with_it["valid"], with_it["valid_on_host"]) == (True, True)
    # No other question is answered by a process with that environment.
    assert verdict(ann, text)["valid"] is False


def test_a_node_name_of_the_environment_is_the_components(ann: Member) -> None:
    text = NODE.replace("NAME", "K8S_NODE_NAME")

    assert (verdict(ann, text)["valid"], verdict(ann, text)["valid_on_host"]) == (False, True)
    assert verdict(ann, text, {"K8S_NODE_NAME": "node-1"})["valid"] is True
    # Only names of the list; the text may name any.
    assert verdict(ann, NODE.replace("NAME", "KUBECONFIG"), {"KUBECONFIG": "a"})["valid"] is False


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (of("awss3", "{s3uploader: {s3_bucket: b, region: ''}}", signal="logs"), "region is required"),
        (of("awscloudwatch", "{logs: {groups: {named: {a: {}}}}}", "receivers", "logs"), "no region was specified"),
        (of("logzio", "{account_token: t, region: xx-no-region}", signal="logs").replace("t,", "'',"), "token"),
    ],
)
def test_a_setting_about_a_region_is_the_texts(text: str, words: str, ann: Member) -> None:
    answer = verdict(ann, text)

    assert [one["code"] for one in answer["errors"]] == ["invalid_value"]
    assert words in answer["errors"][0]["message"]
    assert (answer["valid"], answer["valid_on_host"]) == (False, False)


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (of("windowseventlog", "{channel: application}", "receivers", "logs"), "the operating system"),
        (
            of("otlphttp", "{endpoint: 'https://a:1', tls: {ca_file: /etc/ca.pem}}", signal="traces").replace(
                "service: {",
                "extensions: {file_storage: {directory: /var/lib/otelcol}}\nservice: {extensions: [file_storage], ",
            ),
            "that file or directory",
        ),
    ],
)
def test_what_a_host_must_have_is_named_and_the_rest_is_judged(text: str, needs: str, ann: Member) -> None:
    answer = verdict(ann, text)
    wrong = verdict(ann, text.replace("otlp: {protocols: {grpc: {}}}", "otlp: {protocols: {grcp: {}}}"))

    assert {one["code"] for one in answer["errors"]} == {"depends_on_host"}
    assert needs in answer["errors"][0]["message"]
    assert (answer["valid"], answer["valid_on_host"]) == (False, True)
    assert wrong["valid_on_host"] in ((False,) if "otlp:" in text else (True,))


def test_a_file_of_the_request_stands_in_its_place(ann: Member) -> None:
    path = "/run/secrets/token"

    without, with_it = verdict(ann, TOKEN), verdict(ann, TOKEN, files={path: "abc"})
    other, broken = verdict(ann, TOKEN, files={"/other": "abc"}), verdict(ann, TOKEN, files={path: "abc\n"})

    assert (without["valid"], without["valid_on_host"]) == (False, None)
    assert [one["code"] for one in without["errors"]] == ["provider_not_allowed"]
    assert [(one["code"], one["severity"]) for one in without["findings"]] == [("depends_on_host", "warning")]
    assert (with_it["valid"], with_it["valid_on_host"], with_it["findings"]) == (True, True, [])
    assert (other["valid"], other["valid_on_host"]) == (False, None)
    # What the report is about: the header would have a line break.
    assert broken["valid"] is True
    assert [(one["code"], one["line"]) for one in broken["warnings"]] == [("changed_value", 9)]
    assert "ends with a line break" in broken["warnings"][0]["message"]


def test_a_file_may_be_a_part_of_the_configuration(ann: Member) -> None:
    text = "receivers: ${file:./receivers.yaml}\n" + of("debug", "{}", signal="traces").split("exporters:", 1)[1].join(
        ["exporters:", ""]
    )

    wrong = verdict(ann, text, files={"receivers.yaml": "{otlp: {protocols: {gprc: {}}}}"})
    right = verdict(ann, text, files={"receivers.yaml": "{otlp: {protocols: {grpc: {}}}}"})

    assert right["valid"] is True, right["errors"]
    assert [one["code"] for one in wrong["errors"]] == ["unknown_key"]


@pytest.mark.parametrize(
    ("files", "field"),
    [
        ({f"/{n}": "" for n in range(21)}, ["body", "files"]),
        ({"/a": "a" * 65_537}, ["body", "files", "/a"]),
        ({"": "a"}, ["body", "files", "", "[key]"]),
        ({"/run/token": "a", "/run//x/../token": "b"}, ["body", "files"]),
    ],
)
def test_files_over_a_bound_are_refused(files: Mapping[str, str], field: list[str], ann: Member) -> None:
    answer = ann.http.post(f"{API}/validate", json={"yaml": TOKEN, "files": files})

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, field)


def test_files_that_bring_each_other_are_too_costly(ann: Member) -> None:
    files = {f"{n}": f"${{file:{n + 1}}}${{file:{n + 1}}}" for n in range(19)} | {"19": "a" * 60_000}
    answer = ann.http.post(f"{API}/validate", json={"yaml": OTLP + "exporters: ${file:0}\n", "files": files})

    assert (answer.status_code, answer.json()["code"]) == (422, "yaml_too_costly")


# Names that make a library read a file, call an address, run a program, or behave otherwise.
DANGEROUS: Final = (
    *("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_CA_BUNDLE", "AWS_ENDPOINT_URL"),
    *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_EC2_METADATA_SERVICE_ENDPOINT"),
    *("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED", "ECS_CONTAINER_METADATA_URI"),
    *("ECS_CONTAINER_METADATA_FILE", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_FEDERATED_TOKEN_FILE", "KUBECONFIG"),
    *("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "ELASTICSEARCH_URL", "HTTP_PROXY", "HTTPS_PROXY"),
    *("http_proxy", "https_proxy", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK"),
    *("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PATH", "HOME", "SHELL", "TMPDIR", "TZ", "ZONEINFO"),
    *("GODEBUG", "GOTRACEBACK", "GOMEMLIMIT", "GOMAXPROCS", "GOGC", "GOCOVERDIR", "RES_OPTIONS", "LOCALDOMAIN"),
    *("HOST_PROC", "HOST_SYS", "HOST_ETC", "DOCKER_HOST", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_CONFIG_FILE"),
    *(
        "XDG_CONFIG_HOME",
        "KRB5_CONFIG",
        "PGSERVICEFILE",
        "ODBCINI",
        "OPENSSL_CONF",
        "GRPC_PROXY_EXP",
        "GRPC_XDS_BOOTSTRAP",
    ),
)


def test_a_process_has_no_variable_that_names_a_file_an_address_or_a_program(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments: list[dict[str, str]] = []
    ask = Child.ask

    def observed(child: Child, op: str, fields: Mapping[str, object], *limits: Any) -> dict[str, object]:
        written = Path(f"/proc/{child.pid}/environ").read_bytes().decode()
        environments.append(dict(one.split("=", 1) for one in written.split("\0") if one))
        return ask(child, op, fields, *limits)

    monkeypatch.setattr(Child, "ask", observed)
    given = dict.fromkeys(DANGEROUS, "/tmp/evil") | {"AWS_REGION": "eu-west-1"}

    assert verdict(ann, REGION, given)["valid"] is True
    assert verdict(ann, REGION)["valid"] is False

    assert environments == [{"AWS_REGION": "eu-west-1"}, {}]
    assert not host_variables.NAMES & set(DANGEROUS)


@pytest.mark.parametrize("value", ["eu\0west", "a" * 40_000])
def test_a_value_that_no_environment_takes_is_refused_with_its_name(value: str, ann: Member) -> None:
    answer = ann.http.post(f"{API}/validate", json={"yaml": REGION, "env": {"AWS_REGION": value}})

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "env"])
    assert "`AWS_REGION` is set in the collector's environment" in answer.json()["errors"][0]["message"]


def test_a_process_with_variables_of_a_question_ends_with_it(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Child] = []
    start = Child.start

    def observed(binary: Path, limits: Limits, **options: Any) -> Child:
        child = start(binary, limits, **options)
        started.append(child)
        return child

    monkeypatch.setattr(Child, "start", observed)

    verdict(ann, REGION, {"AWS_REGION": "eu-west-1", "NAME": "a"})

    alone = [child for child in started if not child.alive()]
    assert len(alone) == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"files": {"/a": "s3cr3t-" * 20_000}},
        {"files": {"/a": ["s3cr3t-"]}},
        {"files": {"/run/secrets/token": "s3cr3t-\n"}},
        {"files": {"/run/secrets/token": "{s3cr3t-: [a"}},
        {"env": {"AWS_REGION": "s3cr3t-\0"}},
        {"env": {"AWS_SECRET_ACCESS_KEY": "s3cr3t-"}, "files": {"/run/secrets/token": "a"}},
    ],
)
def test_no_text_of_a_file_is_told_or_logged(
    asked: Mapping[str, object], ann: Member, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = ann.http.post(f"{API}/validate?lint=true&policies=true&start=true", json={"yaml": TOKEN, **asked})

    logged = capfd.readouterr()
    assert "s3cr3t-" not in answer.text + logged.out + logged.err
