"""`flow list | show | use`."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

import click

from headgate_cli.api import Api, ServerError
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.nearest import did_you_mean, names_of
from headgate_cli.output import print_json, print_result, print_text, say, show_list
from headgate_cli.shaped import PlainAnswer
from headgate_cli.shapes import ConfigurationDetail, FlowDetail, FlowSummary, FlowTestOut
from headgate_cli.suites.files import NAME
from headgate_cli.untrusted import block, one_line
from headgate_cli.yaml_files import STABLE_SIGNALS

_SLUG: Final = re.compile("[a-z0-9-]{1,64}")


@click.group(cls=CommandGroup)
def flow() -> None:
    """List the gallery's flows and create configurations from them.

    \b
    Examples:
      headgate flow list --signal logs
      headgate flow use nginx --name edge-nginx
    """


@flow.command("list")
@click.option("--signal", type=click.Choice(STABLE_SIGNALS), help="Only flows for this signal.")
@click.option("--tag", default="", help="Only flows with this tag.")
@connected
def list_(api: Api, signal: str | None, tag: str, as_json: bool) -> None:
    """List the flows of the gallery.

    \b
    Examples:
      headgate flow list
      headgate flow list --signal logs
    """
    flows = [
        flow
        for flow in api.items(FlowSummary, "/flows")
        if (not signal or signal in flow["signals"]) and (not tag or tag in flow["tags"])
    ]
    nothing = "No flow matches: leave out --signal and --tag" if signal or tag else "The gallery has no flows"
    show_list(
        flows,
        as_json,
        nothing,
        {
            "SLUG": lambda flow: flow["slug"],
            "SIGNALS": lambda flow: ", ".join(flow["signals"]),
            "SUMMARY": lambda flow: flow["summary"],
        },
    )


@flow.command()
@click.argument("slug")
@click.option("--yaml", "yaml_only", is_flag=True, help="Print the YAML only.")
@connected
def show(api: Api, slug: str, yaml_only: bool, as_json: bool) -> None:
    """Show a flow with its YAML.

    \b
    Examples:
      headgate flow show nginx
      headgate flow show nginx --yaml > collector.yaml
    """
    flow = _flow(api, slug)
    if as_json:
        print_json(flow)
        return
    if not yaml_only:
        say(click.style(one_line(flow["name"]), bold=True) + f"  by {one_line(flow['author'])}")
        say(f"{block(flow['description'])}\n")
    print_text(flow["yaml"])


@flow.command()
@click.argument("slug")
@click.option("--name", default="", help="The configuration's name; the flow's name by default.")
@click.option("--no-tests", is_flag=True, help="Leave out the flow's tests.")
@connected
def use(api: Api, slug: str, name: str, no_tests: bool, as_json: bool) -> None:
    """Create a configuration of your own from a flow, as a draft, with the tests that prove the flow.

    \b
    Examples:
      headgate flow use nginx --name edge-nginx
    """
    flow = _flow(api, slug)
    request = {"name": name or flow["name"], "yaml": flow["yaml"], "description": flow["summary"]}
    tests = {} if no_tests else {_test_name(test): test for test in flow["tests"]}
    created = api.create(ConfigurationDetail, "/configurations", request)
    configuration_id = one_line(created["id"])
    for test_name, test in tests.items():
        _save_test(api, configuration_id, test_name, test)
    if as_json:
        print_json(created)
        return
    print_result(configuration_id)
    with_tests = f" with {len(tests)} test{'' if len(tests) == 1 else 's'}" if tests else ""
    say(f"{one_line(created['name'])} v1 is a draft{with_tests}. Next: `headgate config edit {configuration_id}`")


def _test_name(test: FlowTestOut) -> str:
    name = test["name"]
    if not NAME.fullmatch(name):
        raise Failed(f"the flow has a test {one_line(name)!r}, which cannot be the name of a file: add --no-tests")
    return name


def _save_test(api: Api, configuration_id: str, test_name: str, test: FlowTestOut) -> None:
    """Raises Failed, which says that the configuration is there."""
    try:
        api.put(
            PlainAnswer,
            f"/configurations/{configuration_id}/versions/1/tests/{test_name}",
            {field: value for field, value in test.items() if field != "name" and value is not None},
        )
    except Failed as error:
        created = f"{configuration_id} is created as a draft"
        raise Failed(f"{created}, but its test {test_name} could not be saved: {error.message}") from error


def _flow(api: Api, slug: str) -> FlowDetail:
    """The flow. Raises Failed if there is none."""
    try:
        # Anything else, such as `../identity`, would be another path of the API.
        if _SLUG.fullmatch(slug):
            return api.get(FlowDetail, f"/flows/{slug}")
    except ServerError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
    similar = did_you_mean(slug, names_of(api, "/flows", "slug"))
    raise Failed(f"there is no flow {slug!r}{similar}: `headgate flow list` shows the flows")
