"""What people do wrong at a command line: each is told what is wrong and the way out, and none sees a traceback."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli_support import EDGE, Cli

pytestmark = pytest.mark.end_to_end

TOO_NARROW = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("whoami > /dev/full", 1, "No space left on device"),
        ("whoami >&-", 0, ""),
        ("config list >&-", 0, ""),
        ("test run edge.yaml --sample s --rule x:alll=true", 2, "'alll' is not known: write any, all or none"),
        ("config create edge.yaml --name ''", 2, "--name is empty: write a name, or leave --name out"),
        (
            "whoami --url http://127.0.0.1:1",
            1,
            "cannot reach http://127.0.0.1:1: connection refused. Check the address and whether the server runs\n",
        ),
        ("validate - <&-", 1, "could not validate <stdin>: it is empty\n"),
        ("flow list | head -n 1", 0, ""),
        ("flow show nginx --yaml | head -n 1", 0, ""),
        ("whoami --token ''", 2, "--token is empty"),
        ("login --token ''", 2, "--token is empty"),
        ("login --no-browser < /dev/null", 3, "headgate: the input ended before a code was pasted"),
        ("whoami --url localhost:8300", 2, "'localhost:8300' is not a server address: it must start with https://"),
        ("whoami --url http://me:secret@127.0.0.1", 2, "remove what is before the @"),
        (
            "flow show ngnix",
            1,
            "there is no flow 'ngnix' (did you mean 'nginx'?): `headgate flow list` shows the flows",
        ),
        ("flow use ../identity", 1, "there is no flow '../identity': `headgate flow list` shows the flows"),
        (
            "validate edge.yaml --version latest",
            2,
            "'latest' is not a collector version: use X.Y.Z",
        ),
        ("validate edge.yaml --version ''", 2, "'' is not a collector version"),
        ("test run edge --sample s --collector-version 0.139", 2, "'0.139' is not a collector version"),
        ("test show run_1", 2, "'run_1' is not a run id: use the one that `headgate test run` prints"),
        ("test output ../../identity", 2, "'../../identity' is not a run id"),
        (
            "test run edge.yaml --sample s --rule x:all=",
            2,
            "'x:all=' has no condition after the =",
        ),
        ("test run edge.yaml --sample s --rule =true", 2, "'=true' has no name before the ="),
        (
            """test run edge.yaml --sample s --rule 'log.body == "x"'""",
            2,
            """begins with a condition: write NAME=CONDITION, for example 'name=log.body == "x"'""",
        ),
        (
            "config push empty.yaml",
            1,
            "headgate: empty.yaml is empty: write a configuration into it. Nothing was saved\n",
        ),
        ("test run edge.yaml --sample s --rule x", 2, "'x' has no =: write NAME=CONDITION"),
        ("validate edge.yaml --env 1A=x", 2, "'1A' is not a variable name: use letters, digits and _, no digit first"),
        ("validate edge.yaml --env A", 2, "there is no = in it: write NAME=VALUE"),
        (f"config show cfg_{'0' * 26}", 1, "No such configuration: see `headgate config list`"),
        (f"test show run_{'0' * 26}", 1, "No such test run: check the id; runs are deleted after 30 days"),
        (f"fleet install flt_{'0' * 26}", 1, "No such fleet: see `headgate fleet list`"),
        ("fleet create ''", 1, "headgate: label: This must not be empty\n"),
        ("fleet create clusters --type kubernetes-supervisor --expires-in 1y", 0, "headgate deployment create flt_"),
        (
            "fleet create more --type kubernetes --expires-in 1y",
            0,
            "--expires-in was ignored: the token of a Kubernetes fleet does not expire\n",
        ),
    ],
)
def test_a_mistake_is_named_with_its_way_out(cli: Cli, line: str, code: int, said: str) -> None:
    cli.write("empty.yaml", "")
    done = cli.shell(f"headgate {line}") if set(line) & set("<>|") else cli.run(*shlex.split(line))

    assert (done.code, "Traceback" in done.err) == (code, False), done
    assert said in done.err


def test_a_group_without_a_command_shows_its_help_and_no_error(cli: Cli) -> None:
    done = cli.run("config")

    assert (done.code, "Usage: headgate config" in done.err, "Error" in done.err) == (2, True, False)


def test_a_kubernetes_fleet_without_a_group_names_the_command_that_creates_one(cli: Cli) -> None:
    fleet = cli.ok("fleet", "create", "clusters", "--type", "kubernetes").strip()

    done = cli.run("fleet", "install", "clusters")

    assert done.code == 1
    assert (
        f"create a deployment group:  headgate deployment create {fleet} NAME CONFIGURATION --role ROLE\n" in done.err
    )


def test_a_server_fleet_on_kubernetes_names_its_platforms(cli: Cli) -> None:
    cli.ok("fleet", "create", "edge servers")

    done = cli.run("fleet", "install", "edge servers", "--platform", "kubernetes")

    assert (done.code, done.err.endswith(": use --platform linux, docker, windows or macos\n")) == (1, True), done
    assert len(done.err.splitlines()) < 3


def test_rules_are_refused_at_their_places_in_the_file(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    cli.ok("config", "create", "edge.yaml")
    assert "that you can see (did you mean 'edge'?): `headgate" in cli.run("config", "show", "edgee").err
    cli.write("flow.yaml", "rules:\n  - name: x\n")
    cli.write("bad.yaml", "logs:\n  rules:\n    - condition: 'true'\n    - name: y\n")

    assert "`headgate rules set --help`" in cli.run("rules", "get", "edge").err
    assert "flow.yaml: 'rules' is not a pipeline: " in cli.run("rules", "set", "edge", "flow.yaml").err
    refused = cli.run("rules", "set", "edge", "bad.yaml")
    said = "headgate: bad.yaml: logs, rule 1: name is missing\n  bad.yaml: logs, rule 2: condition is missing\n"
    assert (refused.code, refused.err) == (1, said)


def test_a_file_has_no_saved_rules(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)

    done = cli.run("test", "run", "edge.yaml", "--sample", "edge.yaml", "--saved-rules")

    assert (done.code, "--saved-rules needs a configuration; a file has no saved rules" in done.err) == (2, True)


def test_lint_finds_broken_yaml_at_its_place(cli: Cli) -> None:
    cli.write("bad.yaml", "receivers:\n\tnop:\n")

    done = cli.run("lint", "bad.yaml")

    assert (done.code, done.out.startswith("bad.yaml:2")) == (1, True), done
    assert "[yaml_syntax]" in done.out
    assert "could not lint" not in done.err


def test_the_docker_command_comes_with_the_link_that_builds_the_image(cli: Cli) -> None:
    cli.ok("fleet", "create", "edge")

    done = cli.run("fleet", "install", "edge", "--platform", "docker")

    assert (done.code, "To build the image on the host" in done.err) == (0, True)
    assert re.search(r"curl -fsSL '?http\S+/fleet-install/docker/\S+ \| sh\n", done.err)


def test_a_version_that_does_not_exist_names_the_command_that_lists_them(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    cli.ok("config", "create", "edge.yaml", "--publish")
    cli.ok("fleet", "create", "edge")

    done = cli.run("deployment", "assign", "edge", "Default", "edge", "--version", "9")

    (known,) = cli.run("config", "list", "--json").json
    said = f"`headgate config versions {known['id']}` lists them\n"
    assert (done.code, done.err.endswith(said)) == (1, True), done


def test_an_argument_that_the_locale_cannot_read_is_said(cli: Cli) -> None:
    done = cli.shell("headgate config create edge.yaml --name $'\\xc3\\xb6' --no-validate 2>&1 <<< ''", **TOO_NARROW)
    assert "cannot read edge.yaml" in done.out

    cli.write("edge.yaml", EDGE)
    done = cli.run("config", "create", "edge.yaml", "--name", "ö", "--no-validate", **TOO_NARROW)

    assert (done.code, done.err) == (
        2,
        "headgate: an argument contains '\\udcc3\\udcb6', which this locale cannot encode: set LC_ALL=C.UTF-8\n",
    )


def test_a_server_that_speaks_no_tls_is_said(cli: Cli) -> None:
    done = cli.run("whoami", "--url", cli.url.replace("http://", "https://"))

    assert (done.code, "does not speak TLS; if it has none, write http://" in done.err) == (1, True)


def test_what_is_refused_says_which_credential_was_sent(cli: Cli) -> None:
    refused = (
        "headgate: The credential is missing, malformed, revoked or expired: "
        "sign in with `headgate login`, or use another token\n"
    )
    sent = f"{refused}  server: {cli.url}; credential: "

    assert cli.run("whoami", "--token", "sv_x").err == f"{sent}the token of --token\n"
    assert cli.run("whoami", SERVICE_API_TOKEN="sv_x").err == f"{sent}the token in SERVICE_API_TOKEN\n"
    cli.ok("login", "--token", cli.token)
    kept = Path(cli.environment({})["XDG_CONFIG_HOME"]) / "headgate" / "credentials.json"
    kept.write_text(kept.read_text().replace(cli.token, "sv_x"))
    stored = cli.run("whoami", SERVICE_API_TOKEN="")
    assert stored.code == 3
    assert stored.err == f"{sent}the one stored by `headgate login`; run it again to replace it\n"


def test_an_editor_that_fails_leaves_no_file_where_nothing_was_written(cli: Cli, tmp_path: Path) -> None:
    cli.write("edge.yaml", EDGE)
    cli.ok("config", "push", "edge.yaml", "--no-validate")
    temporary = {"TMPDIR": str(tmp_path)}

    done = cli.run("config", "edit", "edge", EDITOR="false", **temporary)
    assert (done.code, done.err) == (1, "headgate: false: Editing failed: set EDITOR to an editor that works\n")
    assert not list(tmp_path.glob("headgate-*"))

    wrote = 'sh -c \'echo "# mine" >> "$0"; exit 1\''
    done = cli.run("config", "edit", "edge", EDITOR=wrote, **temporary)
    kept = re.search(r"nothing was saved, what you wrote is in (\S+)\n", done.err)
    assert kept, done.err
    assert Path(kept[1]).read_text() == f"{EDGE}# mine\n"


def test_an_editor_is_not_told_of_options_that_it_does_not_have(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    cli.ok("config", "push", "edge.yaml", "--no-validate")

    done = cli.run("config", "edit", "edge", EDITOR="sed -i s/5s/5parsecs/")

    assert "unknown unit" in done.err
    assert "--no-validate" not in done.err


def test_the_help_of_a_group_cuts_no_sentence(cli: Cli) -> None:
    for group in ("config", "test", "rules", "fleet", "deployment", "flow"):
        listed = cli.ok(group, "--help").partition("Commands:")[2]
        assert listed
        assert "..." not in listed


def test_two_documents_in_a_file_of_rules_are_said_whole(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    cli.write("sample.log", "one\n")
    cli.write("rules.yaml", "logs: []\n---\nlogs: []\n")

    done = cli.run("test", "run", "edge.yaml", "--sample", "sample.log", "--rules", "rules.yaml")

    expected = "rules.yaml:2:1: expected a single document in the stream, but found another document\n"
    assert (done.code, done.err) == (1, f"headgate: {expected}")
