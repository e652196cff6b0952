"""The table of every list: heads that sort it, a row for each entry, totals, and the way to the pages around this one.

A list comes in pages, in its own order. Sorted by a column, up to `MOST_SORTED` of its entries are read and ordered,
so that a page is a part of the whole list and not only sorted within itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeAlias, TypeVar

from fastapi import Depends, Query, Request

from headgate.foundation.page import Slice
from headgate.http.pagination import issue, position_of
from web.html import NOTHING, Html, html
from web.parts import ENTRIES, counted, empty, query_of

Entry = TypeVar("Entry")
Cell: TypeAlias = "Html | str | int | Sequence[Html]"

MOST_SORTED: Final = 1_000
"""Entries that are read to sort a list."""
_MOST_SLICES: Final = 30
_MOST_BACK: Final = 20
_LONGEST_CURSOR: Final = 2_000
_LONGEST_BACK: Final = 12_000
_MOST_PAGES: Final = MOST_SORTED

_TABLE: Final = """\
<table><thead><tr>{chooser}{heads}</tr></thead><tbody>{rows}</tbody></table>"""
_HEAD: Final = '<th scope="col"{sorted}{kind}>{title}</th>'
_SORTING: Final = (
    '<a href="{path}{query}{anchor}" title="Sort by {title}">{title}<span aria-hidden="true">{sign}</span></a>'
)
_CELL: Final = "<td{kind}{label}>{content}</td>"
_BELOW: Final = '<tr class="below"><td colspan="{columns}">{content}</td></tr>'
_CHOICE: Final = """\
<td class="choose"><input type="checkbox" name="{name}" value="yes" form="chosen"{chosen}\
 aria-label="Choose {label}"></td>"""
_CHOOSER: Final = '<th scope="col" class="choose"><span class="unseen">Chosen</span></th>'
CHOOSE_ALL: Final = Html("""\
<label class="check all"><input type="checkbox" data-all> All on this page</label>
<span class="soft small" role="status">With <span data-count>those</span> chosen:</span>""")
"""Opens the form `chosen`, whose buttons do something with the rows that are chosen."""
_PAGES: Final = (
    '<nav class="pages" aria-label="Pages of the list"><p class="soft small" role="status">{total}</p>{links}</nav>'
)
_STEP: Final = '<a class="button small" rel="{rel}" href="{path}{query}">{label}</a>'
_CHIP: Final = """\
<a class="chip" href="{path}{query}"><span class="unseen">Remove the filter </span>{label}: <b>{value}</b>\
<span aria-hidden="true"> ×</span></a>"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its title. `sort` is the name under which the list is sorted by it, empty if it is not.

    `key` is what of an entry it is sorted by. `kind` is a class of its cells: `number`, `tight`, `small`, `reason`,
    `path` (wide), or `end` (for buttons).
    """

    title: str
    sort: str = ""
    key: Callable[[Any], Any] | None = None
    kind: str = ""


END: Final = Column("", kind="end")
"""The column of a row's buttons."""


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of an entry in the order of the columns.

    `below` stands under them, as wide as the table; `choice` is the name of the box that chooses the entry, `label`
    names it for screen readers, and `chosen` ticks it from the start. An entry that is `old` is paler.
    """

    cells: Sequence[Cell]
    below: Html = NOTHING
    choice: str = ""
    label: str = ""
    chosen: bool = False
    old: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """The part of a list that an address asks for.

    `sort` is a column's name, with `-` before it for the other direction. `after` is the position of the page in the
    list's own order, and `back` the cursors of the pages before it; `number` is the page of a sorted list, from 1.
    """

    path: str
    sort: str = ""
    number: int = 1
    after: str | None = None
    cursor: str = ""
    back: Sequence[str] = ()

    @property
    def is_first(self) -> bool:
        return self.after is None and self.number == 1


@dataclass(frozen=True, slots=True)
class Listed(Generic[Entry]):
    """The entries of a page. `total` is how many the list has, None if that is not known; `position` where it goes on.

    `is_cut`: the list has more entries than are sorted.
    """

    entries: Sequence[Entry]
    position: str | None = None
    total: int | None = None
    is_cut: bool = False


Columns: TypeAlias = "Sequence[Column | str]"
"""The columns of a list, each as itself or by its title."""


async def _view(
    request: Request,
    sort: Annotated[str, Query(max_length=40)] = "",
    number: Annotated[int, Query(alias="page", ge=1, le=_MOST_PAGES)] = 1,
    after: Annotated[str, Query(max_length=_LONGEST_CURSOR)] = "",
    back: Annotated[str, Query(max_length=_LONGEST_BACK)] = "",
) -> View:
    path = request.url.path
    earlier = [cursor for cursor in back.split(".") if cursor][-_MOST_BACK:]
    for cursor in earlier:
        position_of(cursor, path)
    return View(path, sort, number, position_of(after, path) if after else None, after, earlier)


Viewed = Annotated[View, Depends(_view)]
"""The part of a list that the address asks for; a cursor is valid only if a link of this service gave it."""


def in_order(view: View, entries: Iterable[Entry], columns: Columns) -> list[Entry]:
    """Sort the entries of a whole list by the column that the view names; otherwise they stay as they are."""
    key = _key(view, columns)
    return sorted(entries, key=key, reverse=view.sort.startswith("-")) if key else [*entries]


def _key(view: View, columns: Columns) -> Callable[[Any], Any] | None:
    """The key of the column that the view names; None if there is no such column."""
    name = view.sort.removeprefix("-")
    sorting = (column for column in columns if isinstance(column, Column) and column.sort)
    return next((column.key for column in sorting if column.sort == name), None)


def read(
    view: View, source: Callable[[int, str | None], Slice[Entry]], columns: Columns, most: int = ENTRIES
) -> Listed[Entry]:
    """The page of a list that `source` reads by a limit and a position.

    Sorted by one of the columns, up to `MOST_SORTED` entries are read; any other sort is the list's own order.
    """
    if _key(view, columns) is None:
        part = source(most, view.after)
        whole = view.after is None and part.position is None
        return Listed(part.entries, part.position, len(part.entries) if whole else None)
    entries: list[Entry] = []
    position: str | None = None
    for _ in range(_MOST_SLICES):
        part = source(min(ENTRIES, MOST_SORTED - len(entries)), position)
        entries += part.entries
        position = part.position
        if position is None or len(entries) >= MOST_SORTED:
            break
    entries = in_order(view, entries, columns)
    begin = (view.number - 1) * most
    return Listed(entries[begin : begin + most], None, len(entries), is_cut=position is not None)


def table(
    columns: Columns,
    rows: Iterable[Row | Sequence[Cell]],
    *,
    view: View | None = None,
    filters: Mapping[str, str] | None = None,
    anchor: str = "",
) -> Html:
    """The rows under their heads; those of a `view` sort the list, keep its filters, and lead to `anchor`."""
    heads = [Column(column) if isinstance(column, str) else column for column in columns]
    lines = [row if isinstance(row, Row) else Row(row) for row in rows]
    chooses = any(line.choice for line in lines)
    return html(
        _TABLE,
        chooser=Html(_CHOOSER) if chooses else NOTHING,
        heads=[_head(column, view, filters or {}, anchor) for column in heads],
        rows=[
            html(
                "{cells}{below}",
                cells=_cells(heads, line, chooses),
                below=html(_BELOW, columns=len(heads) + chooses, content=line.below) if line.below else NOTHING,
            )
            for line in lines
        ],
    )


def listing(
    view: View,
    listed: Listed[Any],
    columns: Columns,
    rows: Sequence[Row | Sequence[Cell]],
    noun: str,
    nothing: Html,
    *,
    filters: Mapping[str, str] | None = None,
    no_match: str = "",
    above: Html = NOTHING,
    most: int = ENTRIES,
) -> Html:
    """The list with its total, the way to its other pages, and what is `above` its table; `nothing` if it is empty.

    `no_match` is the text if the filters left nothing.
    """
    typed = filters or {}
    narrowed = any(typed.values()) or not view.is_first
    if not rows and (no_match or not narrowed):
        return empty(no_match) if narrowed else nothing
    links, shown = pages(view, listed, typed, noun, most), table(columns, rows, view=view, filters=typed)
    return html("{pages}{above}{table}", pages=links, above=above, table=shown)


def pages(view: View, listed: Listed[Any], filters: Mapping[str, str], noun: str, most: int = ENTRIES) -> Html:
    """The number of entries, and the links to the previous and the next page."""
    by_number = bool(view.sort) and listed.total is not None and listed.position is None
    links = _by_number(view, listed.total or 0, most) if by_number else _by_cursor(view, listed)
    steps = [
        html(_STEP, path=view.path, query=query_of({**filters, **query}), rel=rel, label=label)
        for rel, label in (("prev", "Previous"), ("next", "Next"))
        if (query := links.get(rel)) is not None
    ]
    return html(_PAGES, total=_total(view, listed, noun, most), links=steps)


def _by_number(view: View, total: int, most: int) -> dict[str, dict[str, str]]:
    links = {"prev": view.number - 1} if view.number > 1 else {}
    if view.number * most < total:
        links["next"] = view.number + 1
    return {rel: {"sort": view.sort, "page": str(number)} for rel, number in links.items()}


def _by_cursor(view: View, listed: Listed[Any]) -> dict[str, dict[str, str]]:
    links: dict[str, dict[str, str]] = {}
    if view.after is not None:
        *back, cursor = [*view.back] or [""]
        links["prev"] = {"after": cursor, "back": ".".join(back)}
    if listed.position is not None:
        back = [*view.back, *([view.cursor] if view.cursor else [])][-_MOST_BACK:]
        links["next"] = {"after": issue(listed.position, view.path), "back": ".".join(back)}
    return links


def chips(
    path: str, filters: Mapping[str, str], labels: Mapping[str, str], words: Mapping[str, str] | None = None
) -> Html:
    """Each filter that is set, as a link to the list without it; `words` has a value's words where they differ."""
    entries = [
        html(
            _CHIP,
            path=path,
            query=query_of({**filters, name: ""}),
            label=labels[name],
            value=(words or {}).get(name) or value,
        )
        for name, value in filters.items()
        if value and name in labels
    ]
    return html('<p class="chips">{entries}</p>', entries=entries) if entries else NOTHING


def _total(view: View, listed: Listed[Any], noun: str, most: int) -> str:
    shown, total = len(listed.entries), listed.total
    if total is None:
        more = "; more on the next page" if listed.position else ""
        return f"{counted(shown, noun)} on this page{more}"
    begin = (view.number - 1) * most
    span = f"{begin + 1:,} to {begin + shown:,} of"
    if listed.is_cut:
        return f"{span} the first {counted(total, noun)}: filter to sort the others"
    if total > shown:
        return f"{span} {counted(total, noun)}" if shown else f"of {total:,}"
    return counted(total, noun)


def _head(column: Column, view: View | None, filters: Mapping[str, str], anchor: str) -> Html:
    title: Html | str = column.title
    sorted_: Html = NOTHING
    if view is not None and column.sort:
        is_up, is_down = view.sort == column.sort, view.sort == f"-{column.sort}"
        query = {**filters, "sort": f"-{column.sort}" if is_up else column.sort}
        title = html(
            _SORTING,
            path=view.path,
            query=query_of(query),
            anchor=f"#{anchor}" if anchor else "",
            title=column.title,
            sign=" ↑" if is_up else " ↓" if is_down else "",
        )
        if is_up or is_down:
            sorted_ = Html(f' aria-sort="{"ascending" if is_up else "descending"}"')
    return html(_HEAD, title=title, sorted=sorted_, kind=_kind(column))


def _cells(columns: Sequence[Column], row: Row, chooses: bool) -> Html:
    cells = [
        html(
            _CELL,
            kind=_kind(column),
            # The first cell names the row, also where cells stand under each other.
            label=html(' data-label="{title}"', title=column.title) if place and column.title else NOTHING,
            content=content,
        )
        for place, (column, content) in enumerate(zip(columns, row.cells, strict=True))
    ]
    choice = Html("<td></td>") if chooses else NOTHING
    if row.choice:
        chosen = Html(" checked") if row.chosen else NOTHING
        choice = html(_CHOICE, name=row.choice, label=row.label, chosen=chosen)
    old = Html(' class="old"') if row.old else NOTHING
    return html("<tr{old}>{choice}{cells}</tr>", old=old, choice=choice, cells=cells)


def _kind(column: Column) -> Html:
    return html(' class="{kind}"', kind=column.kind) if column.kind else NOTHING
