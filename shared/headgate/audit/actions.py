"""Every action that a record of changes can have.

Records that were written before the actions had names of their own hold the name of the operation, such as
`publish_version` or `put_volume_mounts`. They are never changed, and are shown as they are.
"""

from typing import Literal

Action = Literal[
    "organization.created",
    "organization.renamed",
    "member.invited",
    "member.added",  # a removed service account, again
    "member.joined",  # by accepting an invitation
    "member.role_changed",
    "member.removed",
    "invitation.declined",
    "invitation.withdrawn",
    "login.approved",  # a command line's
    "service_account.created",
    "service_account.deleted",
    "token.created",
    "token.deleted",
    "configuration.created",
    "configuration.changed",  # its name or description
    "configuration.archived",
    "configuration.restored",
    "configuration.deleted",
    "version.created",
    "version.changed",
    "version.published",
    "test.saved",
    "test.deleted",
    "rules.saved",  # through the API
    "rules_by_hand.saved",
    "rule_by_hand.added",
    "rule_by_hand.edited",
    "rule_by_hand.removed",
    "policies.changed",
    "run.started",
    "suite.started",
    "comparison.started",
    "coverage.started",
    "prices.changed",  # of destinations
    "fleet.created",
    "fleet.token_renewed",
    "fleet.deleted",
    "instance.deleted",
    "install.composed",  # its command holds the fleet's token
    "install.secrets_delivered",  # to a host that was installed by a composed command
    "instance.restart_ordered",
    "instance.retry_ordered",
    "instance.supervisor_upgrade_ordered",
    "instance.overridden",  # made to run another version than its group's, until a time
    "instance.override_ended",
    "instance.replaced",  # by the one that its host is since it was installed again
    "instance.move_allowed",  # another host may take its place, for an hour
    "instance.cut_off",  # its messages are refused
    "instance.let_in",  # after it was cut off
    "capture.started",
    "capture.ended",  # before its time, by a person
    "capture.deleted",
    "captures.redaction_changed",
    "deployment.created",
    "deployment.changed",
    "deployment.deleted",
    "deployment.captures_changed",  # allowed or not
    "deployment.env_changed",
    "deployment.selector_changed",
    "deployment.token_renewed",
    "deployment.volume_mounts_changed",
    "rollout.started",
    "rollout.paused",
    "rollout.resumed",
    "rollout.promoted",
    "rollout.approved",
    "rollout.aborted",
    "rollout.retried",
    "webhook.created",
    "webhook.changed",
    "webhook.secret_renewed",
    "webhook.deleted",
    "webhook.tested",
    "webhook.delivery_resent",
]
