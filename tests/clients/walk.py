"""What a program does with the client that openapi-python-client generates: create, read, publish, and meet an error.

tests/end_to_end/test_generated_clients.py runs it, and reads the JSON that it prints.
"""

import json
import os

from headgate_client import AuthenticatedClient
from headgate_client.api.configurations import (
    change_version,
    create_configuration,
    get_version,
    list_configurations,
    publish_version,
)
from headgate_client.models import ConfigurationDetail, CreateConfiguration, PatchVersion, Problem, VersionDetail

client = AuthenticatedClient(base_url=os.environ["HEADGATE_URL"], token=os.environ["HEADGATE_TOKEN"])
body = CreateConfiguration(name="python", yaml="receivers: {}\n")
created = create_configuration.sync(client=client, body=body, idempotency_key=f"python-{os.getpid()}")
assert isinstance(created, ConfigurationDetail)
read = get_version.sync(created.id, created.latest_version, client=client)
assert isinstance(read, VersionDetail)
published = publish_version.sync(created.id, created.latest_version, client=client)
assert isinstance(published, VersionDetail)
assert published.published_at
refused = change_version.sync(created.id, created.latest_version, client=client, body=PatchVersion(yaml="receivers:\n"))
assert isinstance(refused, Problem)
page = list_configurations.sync(client=client, limit=100)
assert page
assert not isinstance(page, Problem)

print(
    json.dumps(
        {
            "yaml": read.yaml,
            "published": published.status,
            "year": published.published_at.year,
            "listed": any(one.id == created.id for one in page.items),
            "error": {"status": refused.status, "code": refused.code},
        }
    )
)
