"""Verdicts on texts, as the API answers them."""

from typing import Any, Final

from tests.support.members import API, Member

# A request may have so many texts.
_MOST_ITEMS: Final = 50


def checked(ann: Member, texts: dict[str, str], query: str = "") -> dict[str, Any]:
    items = [{"name": name, "yaml": text} for name, text in texts.items()]
    answered: dict[str, Any] = {}
    for first in range(0, len(items), _MOST_ITEMS):
        answer = ann.http.post(f"{API}/validate/batch{query}", json={"items": items[first : first + _MOST_ITEMS]})
        assert answer.status_code == 200, answer.text
        answered |= {item["name"]: item for item in answer.json()["items"]}
    return answered


def of_code(answer: dict[str, Any], code: str) -> list[dict[str, Any]]:
    return [each for each in answer["findings"] if each["code"] == code]
