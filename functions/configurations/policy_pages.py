"""The page of policies: what there is, how it counts, and for Admins the form that changes that."""

from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import Response

from headgate.foundation import errors
from headgate.identity import checks
from headgate.policies import service as policies
from headgate.policies.service import OrganizationPolicies
from headgate_engine.policies.model import Policy, PolicyChoices, PolicyRule, Requirement, Setting
from web.commands import form
from web.html import NOTHING, Html, html, joined
from web.layout import options, redirect
from web.pages import Here, MemberPage, page_router
from web.parts import Fields, empty, hidden, moment, tag
from web.table import Cell, Column, Columns, Viewed, in_order, table

router = page_router()

_SETTINGS: Final[tuple[tuple[Setting, str], ...]] = (
    ("error", "Error"),
    ("warning", "Warning"),
    ("info", "Information"),
    ("off", "Off"),
)
# Each has a checkbox: what it says, and what members read.
_REQUIREMENTS: Final[Mapping[Requirement, tuple[str, str]]] = {
    "policies": (
        "Publish only versions without errors of policies",
        "Versions with errors of policies are not published",
    ),
    "tests": (
        "Publish only versions whose tests passed",
        "Versions without evidence that their tests passed are not published",
    ),
}
_CHANGED: Final = "Somebody changed the policies meanwhile: look at them, and save again"
_KINDS: Final = {"error": "bad", "warning": "", "info": "", "off": ""}

_PAGE: Final = """\
<h1>Policies</h1>
<p class="soft">What is valid in a configuration and still wrong. A file is checked with
<code>headgate validate --policies FILE</code>. {changed}</p>
{publishing}
<div class="card"><h2>Built-in policies</h2>{built_in}</div>
<div class="card"><h2>Rules of this organization</h2>{rules}<p class="small soft last">Admins change rules with
<code>headgate policy get</code> and <code>headgate policy set</code>.</p></div>"""
_FORM: Final = """\
<form method="post" action="{path}">{csrf}{etag}{table}{requirements}
<div class="buttons"><button>Save</button></div></form>"""
_POLICY: Final = """\
<strong>{title}</strong> <code>{code}</code><details><summary class="small">Why, and the way out</summary>
<p class="small">{why}</p><p class="small">{way_out}</p>
<p class="small">Found in:</p><pre tabindex="0" aria-label="Found in"><code>{failing}</code></pre>
<p class="small">Not in:</p><pre tabindex="0" aria-label="Not in"><code>{passing}</code></pre></details>"""
_SELECT: Final = '<select name="severity.{code}" aria-label="{code} counts as">{options}</select>'
_CHECK: Final = """\
<label class="check"><input type="checkbox" name="strict.{code}" value="yes"{checked}>
<span>none suppresses it</span></label>"""
_RULE: Final = """\
<li class="rule"><div><strong>{name}</strong> {setting}<div>{message}</div><div><code>{expression}</code></div></div>
</li>"""


@router.get("/organizations/{organization_id}/policies")
def show_policies(here: Here, view: Viewed) -> Response:
    """The policies; after a refusal, as they were chosen, unless somebody else has saved others meanwhile."""
    known = policies.get(here.caller)
    stored = known.stored
    changed = isinstance(here.refused, errors.PreconditionFailed)
    typed = {} if changed else here.form
    settings = _settings(known, typed) if typed else stored.settings
    required, columns = settings.publish_requires, _columns(settings)
    rows = [_row(policy, settings, editable=here.caller.is_admin) for policy in in_order(view, known.built_in, columns)]
    built_in = table(columns, rows, view=view)
    if here.caller.is_admin:
        built_in = html(
            _FORM,
            path=f"{here.home}/policies",
            csrf=here.csrf,
            etag=hidden("etag", typed.get("etag", stored.etag)),
            table=built_in,
            requirements=[
                Fields({f"requires.{name}": "yes" for name in required}).check(f"requires.{name}", label)
                for name, (label, _) in _REQUIREMENTS.items()
            ],
        )
    content = html(
        _PAGE,
        changed=(
            html("Changed by {by}, {at}.", by=stored.updated_by.name, at=moment(stored.updated_at))
            if stored.updated_at and stored.updated_by
            else "All of them are advice."
        ),
        publishing=[
            html("<p>{tag}</p>", tag=tag(_REQUIREMENTS[name][1], "bad")) for name in stored.settings.publish_requires
        ],
        built_in=built_in,
        rules=(
            html('<ul class="plain">{rows}</ul>', rows=joined(map(_rule, stored.settings.rules)))
            if stored.settings.rules
            else empty("There are none.")
        ),
    )
    return here.page("policies", "Policies", content, problem=_CHANGED if changed else None)


@form(
    router,
    "/organizations/{organization_id}/policies",
    refused=show_policies,
    refusals=(errors.PreconditionFailed, errors.Invalid),
)
def save_policies(posted: MemberPage) -> Response:
    """Saves the severities and what publishing requires; rules stay as they are."""
    posted.caller.require_admin()
    settings = _settings(policies.get(posted.caller), posted.form)
    with checks.under_way(posted.caller):
        policies.change(posted.caller, settings, frozenset((posted.form.get("etag", ""),)))
    return redirect(f"{posted.home}/policies")


def _settings(known: OrganizationPolicies, form: Mapping[str, str]) -> PolicyChoices:
    """The settings that the form makes of the stored ones. What is as by default is not stored."""
    stored = known.stored.settings
    severities: dict[str, Setting] = {}
    for policy in known.built_in:
        chosen = next((value for value, _ in _SETTINGS if value == form.get(f"severity.{policy.code}")), None)
        if chosen is not None and chosen != PolicyChoices().severity(policy.code, policy.severity):
            severities[policy.code] = chosen
    return PolicyChoices(
        severities=severities,
        not_suppressible=[policy.code for policy in known.built_in if form.get(f"strict.{policy.code}") == "yes"],
        rules=stored.rules,
        publish_requires=[name for name in _REQUIREMENTS if form.get(f"requires.{name}") == "yes"],
    )


def _columns(settings: PolicyChoices) -> Columns:
    order = [value for value, _ in _SETTINGS]
    return (
        Column("Policy", "title", lambda policy: policy.title.casefold()),
        Column("Counts as", "severity", lambda policy: order.index(settings.severity(policy.code, policy.severity))),
        Column("Comments", "comments", lambda policy: policy.code not in settings.not_suppressible),
    )


def _row(policy: Policy, settings: PolicyChoices, *, editable: bool) -> Sequence[Cell]:
    severity = settings.severity(policy.code, policy.severity)
    strict = policy.code in settings.not_suppressible
    if editable:
        default = PolicyChoices().severity(policy.code, policy.severity)
        choices = [(value, f"{label} (default)" if value == default else label) for value, label in _SETTINGS]
        setting = html(_SELECT, code=policy.code, options=options(choices, severity))
        comments = html(_CHECK, code=policy.code, checked=Html(" checked") if strict else NOTHING)
    else:
        setting = _tag(severity)
        comments = html("{text}", text="none suppresses it" if strict else "may suppress it")
    about = html(
        _POLICY,
        title=policy.title,
        code=policy.code,
        why=policy.why,
        way_out=policy.way_out,
        failing=policy.failing,
        passing=policy.passing,
    )
    return about, setting, comments


def _rule(rule: PolicyRule) -> Html:
    return html(_RULE, name=rule.name, setting=_tag(rule.severity), message=rule.message, expression=rule.expression)


def _tag(severity: Setting) -> Html:
    return tag(dict(_SETTINGS)[severity], _KINDS[severity])
