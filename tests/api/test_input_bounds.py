"""Bodies that would make this service list errors for seconds: every input model, with the worst body of each kind.

pydantic alone makes 520,000 errors of `{"conditions": [1, 1, …]}`, in five seconds in which nobody else is answered.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from configurations import changing
from headgate.foundation.errors import Invalid
from headgate.http.parts import routes_of
from headgate_engine.wire.bounds import MOST_ERRORS
from headgate_engine.wire.inputs import Input
from tests.support.members import JoinWith, Member
from tests.support.routes import operations
from validation.app import router
from validation.wire import Lint

API = "/api/v1/public"
JSON = {"Content-Type": "application/json"}


def bodies() -> dict[str, type[BaseModel]]:
    """The model of each endpoint's body, by the endpoint."""
    routes = {
        f"{method} {route.path_format}": route
        for application in {id(one): one for one in operations().values()}.values()
        for route in routes_of(application)
        for method in route.methods
    }
    return {
        label: route.body_field.field_info.annotation
        for label, route in routes.items()
        if getattr(route, "body_field", None) is not None
    }


def models() -> list[type[BaseModel]]:
    return list(dict.fromkeys(bodies().values()))


def unbounded(schema: Mapping[str, Any], place: str) -> Iterator[str]:
    """The lists, objects and texts of a model's schema that have no bound, but any JSON."""
    if "JsonValue" in schema.get("ref", "") or schema["type"] == "definition-ref":
        return
    if schema["type"] in ("list", "dict", "str", "set", "tuple", "bytes") and "max_length" not in schema:
        yield f"{place} ({schema['type']})"
    for name, inner in schema.items():
        parts = inner.values() if isinstance(inner, dict) and "type" not in inner else [inner]
        for part in parts if name != "choices" or isinstance(inner, dict) else inner:
            part = part[0] if isinstance(part, tuple) else part
            if isinstance(part, dict) and "type" in part:
                yield from unbounded(part, f"{place}.{name}")
    for definition in schema.get("definitions", ()):
        yield from unbounded(definition, f"{place}.{definition.get('ref', '')}")


WORST: Mapping[str, object] = {
    "a list": [1] * 260_000,
    "a list of objects": [{}] * 100_000,
    "an object": {f"{n}": 1 for n in range(80_000)},
    "a text": "x" * 1_000_000,
    "a number": 10**4_299,
    "a long key": {"k" * 1_000_000: 1},
    "a deep list": json.loads("[" * 900 + "]" * 900),
    "a deep object": json.loads('{"a":' * 900 + "1" + "}" * 900),
    "a full list": [1] * 100,
    "full objects": [{f"{n}": {f"{m}": [1] * 20 for m in range(20)} for n in range(10)}] * 50,
}


def full_of_mistakes(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int = 0) -> object:
    """A value with as many entries as the schema lets through, of which every one is wrong where it has no entries."""
    inner = {"definitions": definitions, "depth": depth + 1}
    match schema["type"]:
        case "definition-ref":
            return full_of_mistakes(definitions[schema["schema_ref"]], **inner) if depth < 20 else 1
        case "list":
            return [full_of_mistakes(schema["items_schema"], **inner)] * min(schema.get("max_length", 1), 1_000)
        case "dict":
            value = full_of_mistakes(schema["values_schema"], **inner)
            return {f" {n}\n": value for n in range(min(schema.get("max_length", 1), 1_000))}
        case "model-fields":
            known = {
                field.get("validation_alias", name): full_of_mistakes(field["schema"], **inner)
                for name, field in schema["fields"].items()
            }
            return known | {f"unknown {n}": 1 for n in range(10)}
        case "union":
            choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
            return max((full_of_mistakes(choice, **inner) for choice in choices), key=lambda value: len(str(value)))
        case "tagged-union":
            values = [full_of_mistakes(choice, **inner) for choice in schema["choices"].values()]
            return max(values, key=lambda value: len(str(value)))
        case _ if "schema" in schema:
            return full_of_mistakes(schema["schema"], **inner)
    return object


def errors_of(model: type[BaseModel], body: object) -> int:
    try:
        # As FastAPI does.
        TypeAdapter(model).validate_python(body, from_attributes=True)
    except ValidationError as error:
        return error.error_count()
    return 0


def test_every_body_is_an_input_of_ours() -> None:
    assert len(bodies()) > 30
    assert [label for label, model in bodies().items() if not issubclass(model, Input)] == []


def test_lines_of_a_form_make_no_more_errors_than_a_body() -> None:
    with pytest.raises(Invalid) as refused:
        changing.variables("".join(f"{n}=\n" for n in range(20_000)))

    assert len(refused.value.errors) <= MOST_ERRORS


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_list_object_and_text_of_an_input_has_a_bound(model: type[BaseModel]) -> None:
    assert [*unbounded(TypeAdapter(model).core_schema, model.__name__)] == []


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_no_body_makes_more_than_a_hundred_errors(model: type[BaseModel]) -> None:
    fields = [field.alias or name for name, field in model.model_fields.items()]
    schema = TypeAdapter(model).core_schema
    inner = {str(one["ref"]): one for one in schema.get("definitions", ())}
    full = full_of_mistakes(schema, inner)
    made = {name: errors_of(model, bad) for name, bad in WORST.items()}
    made |= {f"{name} in all fields": errors_of(model, dict.fromkeys(fields, bad)) for name, bad in WORST.items()}
    made["mistakes"] = errors_of(model, full)

    assert {name: count for name, count in made.items() if not 0 < count <= MOST_ERRORS} == {}


def test_an_input_whose_list_has_no_bound_cannot_be_defined() -> None:
    with pytest.raises(TypeError, match=r"Unbounded.names: this needs a `max_length`"):
        type("Unbounded", (Input,), {"__annotations__": {"names": list[str]}})


def test_what_was_left_out_behind_many_errors_is_never_taken_for_valid() -> None:
    with pytest.raises(ValidationError) as refused:
        Lint.model_validate({"context": "log", "conditions": [1] * 200})
    accepted = Lint.model_validate({"context": "log", "conditions": ["true"] * 200})

    assert {error["type"] for error in refused.value.errors()} == {"string_type"}
    assert len(accepted.conditions or ()) == 200


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.mark.parametrize(
    "body",
    [
        '{"context": "log", "conditions": [' + "1," * 500_000 + "1]}",
        '{"a":' * 170_000,
        '{"yaml": ' + "9" * 1_000_000 + "}",
        '{"yaml": ' + "[" + "9" * 4_000 + ",1]" * 1 + "}",
        '{"' + "k" * 1_000_000 + '": 1}',
        "{" + '"yaml":"a",' * 90_000 + '"b":1}',
        "{" + ",".join(f'"{n}":1' for n in range(90_000)) + "}",
        '{"yaml": -' + "1e" * 400_000 + "}",
    ],
    ids=["entries", "nesting", "digits", "number", "key", "repeated keys", "keys", "exponents"],
)
def test_a_megabyte_of_one_thing_is_refused_in_a_few_words(body: str, ann: Member) -> None:
    response = ann.http.post(f"{API}/ottl/lint", content=body, headers=JSON)

    assert (response.status_code, len(response.content) < 20_000) == (422, True), response.text[:500]
