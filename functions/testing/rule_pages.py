"""The pages of a version: its pipelines and YAML, and the validation rules of each pipeline."""

from typing import Final
from urllib.parse import quote

from fastapi import Response

from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, Version
from headgate.configurations.pipelines import pipelines
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import ConfigurationId, VersionNumber
from headgate.identity import checks
from headgate.runs.rules import by_hand
from headgate.runs.rules import service as rules
from headgate.runs.rules.model import RuleSet, StoredRule
from headgate.runs.suites import service as suites
from headgate_engine.rules.model import Rule
from testing import tests_card, version_tests
from testing.rule_form import RuleForm
from web.commands import command, form
from web.html import NOTHING, Html, html
from web.layout import redirect
from web.pages import Here, MemberPage, page_router
from web.parts import action, empty, hidden, home, link, moment, nothing_yet, tag
from web.table import table
from web.workspace import NO_PIPELINES, heading, path_of

router = page_router()

_VERSION_PATH: Final = "/organizations/{organization_id}/configurations/{configuration_id}/versions/{n}"
_WHERE: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a> / <a href="{path}">{name}</a>{more}</p>"""
_VERSION: Final = """\
{where}<div class="heading"><h1>Version {n} {status}</h1><div class="buttons">
{roll_out}<a class="button" href="{path}/versions/{n}/run">Test</a>
<a class="button" href="{path}/edit?version={n}">Open in the editor</a></div></div>
<p class="soft">Collector {collector} · by {by}, {at}</p>{description}
<div class="card"><h2>Pipelines</h2>{pipelines}</div>{tests}
<div class="card"><h2>Configuration</h2><pre tabindex="0" aria-label="YAML"><code>{yaml}</code></pre></div>"""
_ROLL_OUT: Final = """\
<a class="button main" href="{home}/fleets/roll-out?configuration_id={id}&amp;version_number={n}">Roll out</a>
"""
_PIPELINE_COLUMNS: Final = ("Pipeline", "Rules")
_TESTS: Final = """\
{heading}<p class="buttons"><a class="button main" href="{path}/versions/{n}/run">Test version {n}</a></p>{tests}
<div class="card"><h2>Rules by pipeline</h2>{pipelines}</div>"""
_RULES: Final = """\
{where}<h1>Rules of {pipeline}</h1>
<p class="soft">Test runs of this pipeline check its output against these rules. Rules may change on a published version
too: they describe tests, not the collector.</p>
<div class="card"><h2>Rules</h2>{rules}</div>{form}"""
_RULES_FOR: Final = (
    "A rule is an OTTL condition that a run's output must meet, for example that no record holds a password."
)
_FIRST_RULE: Final = "None yet: add one below; each test run of this pipeline then checks it."
_RULE: Final = """\
<li class="rule"><div><strong>{name}</strong> {origin}<div><code>{condition}</code></div>
<div class="soft small">{meaning}</div></div><div class="actions">{edit}{remove}</div></li>"""
_EDIT: Final = '<a class="button small" href="{path}&amp;rule={id}#rule-form" aria-label="Edit {name}">Edit</a>'
_FORM: Final = """\
<div class="card" id="rule-form"><h2>{title}</h2>
<form method="post" action="{path}">{csrf}{hidden}{fields}
<div class="buttons"><button name="do" value="save">{save}</button>{cancel}</div></form></div>"""


@router.get(_VERSION_PATH)
def show_version(here: Here, configuration_id: ConfigurationId, n: VersionNumber) -> Response:
    """The version; after a refused deletion of a test, with the reason."""
    caller = here.caller
    configuration, version = configurations.snapshot(caller, configuration_id, n)
    path = path_of(caller, configuration_id)
    overview = suites.overview_of(configuration_id, version)
    changeable = version.status == "draft" and configuration.changeable_by(caller)
    content = html(
        _VERSION,
        where=_where(caller, configuration),
        path=path,
        n=n,
        status=tag("published", "good") if version.status == "published" else tag("draft"),
        roll_out=html(_ROLL_OUT, home=home(caller), id=configuration_id, n=n)
        if version.status == "published"
        else NOTHING,
        collector=version.collector_version,
        by=version.created_by.name,
        at=moment(version.created_at),
        description=html("<p>{text}</p>", text=version.description) if version.description else NOTHING,
        pipelines=_pipelines(caller, configuration_id, version),
        tests=tests_card.card(overview, f"{path}/versions/{n}", here.csrf, changeable=changeable),
        yaml=version.yaml,
    )
    return here.page("configurations", f"{configuration.name}, version {n}", content)


command(
    router,
    _VERSION_PATH,
    version_tests.delete_version_test,
    "/configurations/{configuration_id}/versions/{n}",
    arguments={"test_name": "delete_test"},
    refused=show_version,
)


def _pipelines(caller: Caller, configuration_id: str, version: Version) -> Html:
    """The pipelines of the version, each with its rules."""
    n = version.n
    sets = {rule_set.pipeline: rule_set for rule_set in rules.saved_with(configuration_id, n)}
    named = pipelines(version.yaml or "")
    rows = [
        (link(_rules_path(caller, configuration_id, n, pipeline), pipeline), _count(sets.get(pipeline)))
        for pipeline in [*named, *(pipeline for pipeline in sets if pipeline not in named)]
    ]
    return table(_PIPELINE_COLUMNS, rows) if rows else empty(NO_PIPELINES)


@router.get("/organizations/{organization_id}/configurations/{configuration_id}/tests")
def show_tests(here: Here, configuration_id: ConfigurationId) -> Response:
    """The tests and rules of the latest version, under the configuration's heading."""
    caller, path = here.caller, path_of(here.caller, configuration_id)
    configuration, version = configurations.get(caller, configuration_id)
    changeable = version.status == "draft" and configuration.changeable_by(caller)
    overview = suites.overview_of(configuration_id, version)
    content = html(
        _TESTS,
        heading=heading(caller, configuration, "tests"),
        path=path,
        n=version.n,
        tests=tests_card.card(overview, f"{path}/versions/{version.n}", here.csrf, changeable=changeable),
        pipelines=_pipelines(caller, configuration_id, version),
    )
    return here.page("configurations", f"Tests of {configuration.name}", content)


@router.get("/organizations/{organization_id}/configurations/{configuration_id}/versions/{n}/rules")
def show_rules(
    here: Here, configuration_id: ConfigurationId, n: VersionNumber, pipeline: str, rule: str = ""
) -> Response:
    configuration, version = configurations.snapshot(here.caller, configuration_id, n)
    saved = rules.saved_for(configuration_id, n, pipeline)
    if saved is None and pipeline not in pipelines(version.yaml or ""):
        raise errors.NotFound("This version has no such pipeline")
    added_here = (stored for stored in (saved.rules if saved else ()) if not stored.api_owned)
    edited = next((stored for stored in added_here if stored.id == rule), None)
    shown = RuleForm.of_rule(edited.rule) if edited else RuleForm()
    return _rules_page(here, configuration, version, pipeline, saved, shown, edited.id if edited else "")


def _typed_rules(here: MemberPage, configuration_id: ConfigurationId, n: VersionNumber) -> Response:
    """The rules after a refusal, with the rule as typed."""
    configuration, version = configurations.snapshot(here.caller, configuration_id, n)
    saved = rules.saved_for(configuration_id, n, here.form.get("pipeline", ""))
    removed = here.form.get("do") == "remove"
    typed, rule_id = (RuleForm(), "") if removed else (RuleForm.of(here.form), here.form.get("rule", ""))
    return _rules_page(here, configuration, version, here.form.get("pipeline", ""), saved, typed, rule_id)


@form(
    router,
    "/organizations/{organization_id}/configurations/{configuration_id}/versions/{n}/rules",
    refused=_typed_rules,
    refusals=(errors.Invalid, errors.Conflict, errors.Unavailable, errors.TooManyRequests),
)
def change_rules(posted: MemberPage, configuration_id: ConfigurationId, n: VersionNumber) -> Response:
    """Add, edit or remove a rule. If it cannot be saved, the form shows what was typed and why."""
    caller, pipeline, rule_id = posted.caller, posted.form.get("pipeline", ""), posted.form.get("rule", "")
    if posted.form.get("do") == "remove":
        by_hand.remove(caller, configuration_id, n, pipeline, rule_id)
    else:
        rule = RuleForm.of(posted.form).rule(by_hand.signal_of(pipeline))
        with checks.under_way(caller):
            if rule_id:
                by_hand.edit(caller, configuration_id, n, pipeline, rule_id, rule)
            else:
                by_hand.add(caller, configuration_id, n, pipeline, rule)
    return redirect(_rules_path(caller, configuration_id, n, pipeline))


def _rules_page(
    here: MemberPage,
    configuration: Configuration,
    version: Version,
    pipeline: str,
    saved: RuleSet | None,
    typed: RuleForm,
    rule_id: str,
) -> Response:
    """A pipeline's rules, with the form for those who may change them."""
    caller, csrf = here.caller, here.csrf
    path = _rules_path(caller, configuration.id, version.n, pipeline)
    may_change = configuration.changeable_by(caller)
    entries = [_rule(path, pipeline, csrf, stored, may_change) for stored in (saved.rules if saved else ())]
    fields, problem = typed.fields(by_hand.signal_of(pipeline), here.refused)
    content = html(
        _RULES,
        where=_where(caller, configuration, version.n),
        pipeline=pipeline,
        rules=html('<ul class="plain">{entries}</ul>', entries=entries)
        if entries
        else nothing_yet(_RULES_FOR, _FIRST_RULE),
        form=html(
            _FORM,
            title="Edit the rule" if rule_id else "Add a rule",
            path=path.partition("?")[0],
            csrf=csrf,
            hidden=_hidden(pipeline, rule_id),
            fields=fields,
            save="Save rule" if rule_id else "Add rule",
            cancel=html('<a href="{path}">Cancel</a>', path=path) if rule_id else NOTHING,
        )
        if may_change
        else empty("Only the owner of this configuration and Admins can change its rules."),
    )
    return here.page("configurations", f"Rules of {pipeline}", content, problem=problem)


def _rule(path: str, pipeline: str, csrf: Html, stored: StoredRule, may_change: bool) -> Html:
    changes = may_change and not stored.api_owned
    fields = html("{hidden}{do}", hidden=_hidden(pipeline, stored.id), do=hidden("do", "remove"))
    name = stored.rule.name
    return html(
        _RULE,
        name=name,
        origin=tag("saved through the API" if stored.api_owned else "added here"),
        condition=stored.rule.condition,
        meaning=_meaning(stored.rule),
        edit=html(_EDIT, path=path, id=stored.id, name=name) if changes else NOTHING,
        remove=action(path.partition("?")[0], csrf, "Remove", "danger", fields, subject=name) if changes else NOTHING,
    )


def _meaning(rule: Rule) -> str:
    """The expectation in words."""
    match rule.expect:
        case "any":
            return f"At least one {rule.context} must match"
        case "all":
            return f"Every {rule.context} must match"
        case "none":
            return f"No {rule.context} may match"
        case "count" if rule.min is not None and rule.max is not None:
            return f"{rule.min} to {rule.max} × {rule.context} must match"
        case "count" if rule.min is not None:
            return f"At least {rule.min} × {rule.context} must match"
    return f"At most {rule.max} × {rule.context} may match"


def _hidden(pipeline: str, rule_id: str) -> Html:
    return html("{pipeline}{rule}", pipeline=hidden("pipeline", pipeline), rule=hidden("rule", rule_id))


def _count(saved: RuleSet | None) -> Html:
    if saved is None:
        return html('<span class="soft">none</span>')
    through_api = sum(stored.api_owned for stored in saved.rules)
    added_here = len(saved.rules) - through_api
    counts = [f"{through_api} saved through the API"] if through_api else []
    counts += [f"{added_here} added here"] if added_here else []
    return html("{counts}", counts=", ".join(counts))


def _where(caller: Caller, configuration: Configuration, n: int | None = None) -> Html:
    path = f"{home(caller)}/configurations/{configuration.id}"
    version = html(' / <a href="{path}/versions/{n}">Version {n}</a>', path=path, n=n) if n else NOTHING
    return html(_WHERE, home=home(caller), path=path, name=configuration.name, more=version)


def _rules_path(caller: Caller, configuration_id: str, n: int, pipeline: str) -> str:
    """The pipeline is in the query: its name may contain `/` and `..`, which a path would change."""
    path = f"{home(caller)}/configurations/{configuration_id}/versions/{n}/rules"
    return f"{path}?pipeline={quote(pipeline, safe='')}"
