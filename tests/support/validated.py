"""Verdicts on texts, as the API answers them."""

from typing import Any

from tests.support.members import API, Member


def checked(ann: Member, texts: dict[str, str], query: str = "") -> dict[str, Any]:
    items = [{"name": name, "yaml": text} for name, text in texts.items()]
    answer = ann.http.post(f"{API}/validate/batch{query}", json={"items": items})
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()["items"]}


def of_code(answer: dict[str, Any], code: str) -> list[dict[str, Any]]:
    return [each for each in answer["findings"] if each["code"] == code]
