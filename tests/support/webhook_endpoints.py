"""The endpoints of webhooks, for the table of endpoints (endpoints.py)."""

from typing import Final

from tests.support.endpoint import endpoint, right
from tests.support.faults.rows import ONCE
from tests.support.world import PUBLIC

_ALL: Final = f"{PUBLIC}/webhooks"
_ONE: Final = f"{_ALL}/{{webhook_id}}"
_NEW: Final = {"name": "New", "url": "https://hooks.example.com/services/1"}
_PAGER: Final = {**_NEW, "format": "pagerduty", "routing_key": "key"}
_SECRET: Final = ("secret",)

WEBHOOKS: Final = [
    endpoint(f"GET {_ALL}", "admin", 200, right(200)),
    endpoint(
        f"POST {_ALL}",
        "admin",
        422,
        right(201, _NEW, shown_once=_SECRET),
        right(201, _PAGER, name="for PagerDuty", shown_once=_SECRET),
        right(201, _NEW, headers=ONCE, name="with a key", shown_once=_SECRET),
        action="webhook.created",
        target="webhooks/{id}",
    ),
    endpoint(f"GET {_ONE}", "admin", 404, right(200)),
    endpoint(
        f"PATCH {_ONE}",
        "admin",
        422,
        right(200, {"name": "Renamed", "url": "https://hooks.example.com/2"}),
        action="webhook.changed",
        target="webhooks/{webhook_id}",
    ),
    endpoint(
        f"DELETE {_ONE}",
        "admin",
        404,
        right(204, repeated=(404,)),
        action="webhook.deleted",
        target="webhooks/{webhook_id}",
    ),
    endpoint(
        f"POST {_ONE}/secret", "admin", 404, right(200), action="webhook.secret_renewed", target="webhooks/{webhook_id}"
    ),
    endpoint(
        f"POST {_ONE}/test",
        "admin",
        404,
        right(202, in_steps=True),
        action="webhook.tested",
        target="webhooks/{webhook_id}",
    ),
    endpoint(f"GET {_ONE}/deliveries", "admin", 404, right(200)),
    endpoint(f"GET {_ONE}/deliveries/{{delivery_id}}", "admin", 404, right(200)),
    endpoint(
        f"POST {_ONE}/deliveries/{{delivery_id}}/resend",
        "admin",
        404,
        right(202, repeated=(409,), in_steps=True),
        action="webhook.delivery_resent",
        target="webhooks/{webhook_id}/deliveries/{delivery_id}",
    ),
]
