"""Races over versions, as long as it takes for each outcome to come up."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from httpx2 import Response

from configurations.app import router
from tests.support import sizes
from tests.support.configurations import append, create, get, patch, publish
from tests.support.members import JoinWith, Member


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.mark.sized
def test_32_clients_appending_at_once_leave_no_gap_and_no_repeat(ann: Member) -> None:
    configuration_id = create(ann)
    texts = sizes.either(48, 96)

    def append_until_saved(number: int) -> Response:
        """On a busy machine a client may be told that nothing was saved, and to try again."""
        answer = append(ann, configuration_id, f"text {number}")
        while answer.status_code == 503 and "nothing was saved, try again shortly" in answer.json()["detail"]:
            answer = append(ann, configuration_id, f"text {number}")
        return answer

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(append_until_saved, range(texts)))

    assert {answer.status_code for answer in answers} == {201}
    assert sorted(answer.json()["n"] for answer in answers) == list(range(2, texts + 2))
    for answer in answers:
        assert get(ann, f"/{configuration_id}/versions/{answer.json()['n']}").json()["yaml"] == answer.json()["yaml"]
    assert get(ann, f"/{configuration_id}").json()["latest_version"] == texts + 1


@pytest.mark.sized
def test_an_edit_racing_a_publish_never_changes_a_published_version(ann: Member) -> None:
    outcomes = set()
    with ThreadPoolExecutor(2) as pool:
        for _ in range(sizes.either(16, 500)):
            configuration_id = create(ann, yaml="old")
            start = threading.Barrier(2)

            def edit(configuration_id: str = configuration_id, start: threading.Barrier = start) -> Response:
                start.wait()
                return patch(ann, configuration_id, 1, yaml="new")

            def make_public(configuration_id: str = configuration_id, start: threading.Barrier = start) -> Response:
                start.wait()
                return publish(ann, configuration_id)

            editing, publishing = pool.submit(edit), pool.submit(make_public)
            edited, published = editing.result(), publishing.result()
            now = get(ann, f"/{configuration_id}/versions/1").json()

            outcomes.add(edited.status_code)
            assert published.status_code == 200
            assert now == published.json()
            assert now["yaml"] == ("new" if edited.status_code == 200 else "old")

    assert outcomes <= {200, 409}
