"""`fleet token renew | status` as an Admin who is signed in uses them: a host with the former token is listed."""

import json
from functools import partial
from pathlib import Path

import httpx

from tests.api.test_observed_fleets import EXTENSION
from tests.support.cli_support import Cli, Founder
from tests.support.opamp_agent import Agent


def _post(composed: dict[str, object], body: bytes) -> bytes:
    headers = {"authorization": f"Bearer {composed['token']}"}
    return httpx.post(str(composed["endpoint"]), content=body, headers=headers).raise_for_status().content


def test_a_renewed_token_is_taken_by_hosts_and_the_others_are_listed(
    cli: Cli, founder: Founder, tmp_path: Path
) -> None:
    token, admin = founder.admin(tmp_path.name[:100])
    writer = Cli(cli.folder, cli.url, token)
    writer.ok("fleet", "create", "renewed", "--mode", "observed")
    (composed,) = writer.run("fleet", "observe", "renewed", "--json").json
    agents = [Agent(partial(_post, composed), name, capabilities=EXTENSION) for name in ("here", "away")]
    for agent in agents:
        agent.start()
    assert "2 hosts use it, 0 use a former one" in writer.ok("fleet", "token", "status", "renewed")
    refused = writer.run("fleet", "token", "renew", "renewed")
    assert refused.code == 3, refused

    signed_in = Path(writer.environment({})["XDG_CONFIG_HOME"]) / "headgate" / "credentials.json"
    signed_in.parent.mkdir(parents=True, exist_ok=True)
    session = {
        "url": cli.url,
        "value": str(admin.headers["authorization"]).removeprefix("Bearer "),
        "organization_id": str(admin.headers["x-service-org"]),
    }
    signed_in.write_text(json.dumps(session))
    done = writer.run("fleet", "token", "renew", "renewed", "--grace", "unused", SERVICE_API_TOKEN="")
    assert (done.code, "lists hosts that still use the former token" in done.out + done.err) == (0, True), done

    (renewed,) = writer.run("fleet", "observe", "renewed", "--json").json
    assert renewed["token"] != composed["token"]
    agents[0].post = partial(_post, renewed)
    for agent in agents:
        agent.heartbeat()
    shown = writer.ok("fleet", "token", "status", "renewed")
    assert ("1 host uses it, 1 uses a former one" in shown, "_" in shown.partition("STATE")[2]) == (True, False)
    assert ("away" in shown, "here" in shown) == (True, False)
    (status,) = writer.run("fleet", "token", "status", "renewed", "--json").json
    assert (status["current"], status["former"], status["previous_while_used"]) == (1, 1, True)
