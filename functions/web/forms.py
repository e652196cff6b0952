"""Reading the forms that browsers post."""

from urllib.parse import parse_qsl

from fastapi import Request

from headgate.foundation import errors

_MAX_FIELDS = 200


async def read_form(request: Request) -> dict[str, str]:
    """The fields of the body; the last value of a repeated field. Raises Invalid if the body is not a form."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise errors.Invalid("The body must be a form, `application/x-www-form-urlencoded`")
    try:
        text = (await request.body()).decode("utf-8")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict"))
    except ValueError as error:
        raise errors.Invalid(f"The form must be UTF-8 text with at most {_MAX_FIELDS} fields") from error
