"""A release that hosts can fetch: its manifest in the bucket, of programs that nobody downloads."""

from headgate.foundation.settings import settings
from headgate.installs import releases
from headgate.installs.releases import CHART, Artifact, Release
from headgate.storage import aws

SUPERVISOR = "0.149.0+published"
COLLECTOR = "0.139.0"
FURTHER = "0.158.0"


def release(*further: str) -> None:
    """Publish collector, supervisor and chart, with these further versions of the collector for amd64."""
    names = [*releases.names(), *(f"collector-{version}-amd64" for version in further)]
    artifacts = {
        name: Artifact(f"install/{n:064x}", f"{n:064x}", compressed=True, binary_sha256=f"{n + 100:064x}", size=1_000)
        for n, name in enumerate(names)
    }
    manifest = Release(COLLECTOR, SUPERVISOR, artifacts).encode()
    for key, content in ((releases.MANIFEST, manifest), (CHART, b"a chart")):
        aws.s3().put_object(Bucket=settings().bucket, Key=f"{releases.PREFIX}{key}", Body=content)
    aws.s3().put_object(Bucket=settings().bucket, Key=artifacts[CHART].key, Body=b"a chart")
