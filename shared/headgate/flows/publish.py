"""Publishing the gallery: the folder of flows becomes objects in the bucket."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from headgate.flows import examples, source, store
from headgate.storage import aws


def build(folder: Path) -> dict[str, bytes]:
    """Every object of the gallery by its key. Raises BrokenGallery, naming each broken flow."""
    graphs = source.graphs(folder)
    flows = [flow.published(graphs.get(flow.slug, ())) for flow in source.load(folder)]
    objects = {store.key_of(flow.flow.slug): store.flow_object(flow) for flow in flows}
    objects[store.EXAMPLES_KEY] = store.examples_object(examples.of_flows(flows))
    return {**objects, store.INDEX_KEY: store.index_object([flow.flow for flow in flows])}


def upload(objects: Mapping[str, bytes], bucket: str) -> None:
    """Replace the published gallery by these objects. One that has not changed is not written again.

    The index comes after the flows that it names, and flows that it no longer names are deleted last, so the index
    always names flows that exist.
    """
    s3 = aws.s3()
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=store.PREFIX)
    published = {entry["Key"]: entry["ETag"].strip('"') for page in pages for entry in page.get("Contents", [])}
    for key in sorted(objects, key=lambda key: key == store.INDEX_KEY):
        if published.get(key) != _etag(objects[key]):
            s3.put_object(Bucket=bucket, Key=key, Body=objects[key], ContentType="application/json")
    for key in published.keys() - objects.keys():
        s3.delete_object(Bucket=bucket, Key=key)


def _etag(content: bytes) -> str:
    """S3's ETag of an object written in one part. A customer's key changes it: then every object is written."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
