"""Whether what concurrent clients saw is what they could have seen one after the other.

A history is linearizable if each operation can be put at one moment between its request and its answer so that the
model allows every answer in that order (Herlihy and Wing, 1990). The search is that of Wing and Gong with the states
seen remembered: it tries, of the operations not yet put, those that began before any of them had ended.
"""

from collections.abc import Sequence

from tests.support.model.model import Mismatch, Model
from tests.support.model.model_client import Observed


def unexplained(model: Model, history: Sequence[Observed]) -> list[str]:
    """Nothing, if an order explains the whole history; or what the order that came furthest could not go on with."""
    waiting = tuple(sorted(history, key=lambda one: one.began))
    furthest, left_over = -1, ["no order explains it"]
    seen: set[tuple[frozenset[int], str]] = set()
    # Depth first, without recursion: the operations left and the state before them.
    stack: list[tuple[frozenset[int], Model]] = [(frozenset(range(len(waiting))), model)]
    while stack:
        left, state = stack.pop()
        if not left:
            return []
        if (left, repr(state)) in seen:
            continue
        seen.add((left, repr(state)))
        first_end = min(waiting[number].ended for number in left)
        refused = []
        for number in sorted(left, reverse=True):
            one = waiting[number]
            if one.began > first_end:
                continue
            try:
                stack.append((left - {number}, state.after(one.operation, one.answer)))
            except (Mismatch, KeyError, IndexError) as error:
                # An id or a version that is not there yet: another order may have made it.
                refused.append(f"{one.operation}: {type(error).__name__} {error}")
        if len(waiting) - len(left) > furthest and refused:
            furthest, left_over = len(waiting) - len(left), refused
    return left_over
