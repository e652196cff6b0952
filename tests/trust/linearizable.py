"""Whether what concurrent clients saw is what they could have seen one after the other.

A history is linearizable if each operation can be put at one moment between its request and its answer so that the
model allows every answer in that order (Herlihy and Wing, 1990). The search is that of Wing and Gong with the states
seen remembered: it tries, of the operations not yet put, those that began before any of them had ended.
"""

from collections.abc import Sequence

from tests.trust.model import Mismatch, Model
from tests.trust.model_client import Observed


def explain(model: Model, history: Sequence[Observed]) -> tuple[Model, list[str]]:
    """A state after the whole history, and nothing; or the furthest state, and what was left with why not."""
    waiting = tuple(sorted(history, key=lambda one: one.began))
    best: tuple[int, Model, list[str]] = (-1, model, [])
    seen: set[tuple[frozenset[int], str]] = set()
    # Depth first, without recursion: the operations left and the state before them.
    stack: list[tuple[frozenset[int], Model]] = [(frozenset(range(len(waiting))), model)]
    while stack:
        left, state = stack.pop()
        if not left:
            return state, []
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
        if len(waiting) - len(left) > best[0]:
            best = (len(waiting) - len(left), state, refused)
    return best[1], best[2] or ["no order explains it"]
