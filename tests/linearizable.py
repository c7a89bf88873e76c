"""A checker for histories of compare-and-set registers: is there an order of the operations, within the times each was
under way, that explains every answer?

Wing and Gong's search with memory (Lowe): states are (which operations are done, the register's value). `python3
tests/linearizable.py` checks the checker itself.
"""
from collections import namedtuple

# kind: "read" (seen), "won" (expected, new), "refused" (expected, current: what the refusal said it saw), "lost" (expected,
# new: the answer never came, so it happened at some later time or never). begin and end are readings of one monotonic counter.
Event = namedtuple("Event", "kind expected new begin end")
NEVER = float("inf")


def after(event, value):
    """The register after the event, or None in a list of no outcomes if it cannot happen on `value`."""
    if event.kind == "read":
        return [value] if event.new == value else []
    if event.kind == "won":
        return [event.new] if event.expected == value else []
    if event.kind == "refused":
        return [value] if event.expected != value and event.new == value else []
    return [event.new if event.expected == value else value]


def is_linearizable(events, first=None):
    """Whether the events on one register, which held `first`, can be explained. At most a few dozen at a time."""
    required = sum(1 << i for i, event in enumerate(events) if event.kind != "lost")
    tried, open_states = set(), [(0, first)]
    while open_states:
        done, value = state = open_states.pop()
        if done & required == required:
            return True
        if state in tried:
            continue
        tried.add(state)
        left = [i for i in range(len(events)) if not done >> i & 1]
        deadline = min(events[i].end for i in left)
        for i in left:
            if events[i].begin <= deadline:
                open_states += [(done | 1 << i, value) for value in after(events[i], state[1])]
    return False


def check_the_checker():
    read = lambda seen, begin, end: Event("read", None, seen, begin, end)
    won = lambda expected, new, begin, end: Event("won", expected, new, begin, end)
    lost = lambda expected, new, begin: Event("lost", expected, new, begin, NEVER)
    assert is_linearizable([won(None, 1, 0, 5), read(None, 1, 2), read(1, 3, 4)])
    assert not is_linearizable([won(None, 1, 0, 9), read(1, 1, 2), read(None, 3, 4)]), "the old value again"
    assert not is_linearizable([won(None, 1, 0, 5), won(None, 2, 1, 4)]), "both won"
    assert not is_linearizable([won(None, 1, 0, 1), read(None, 2, 3)]), "an acknowledged write is gone"
    assert is_linearizable([lost(None, 3, 0), read(3, 5, 6)]) and is_linearizable([lost(None, 3, 0), read(None, 5, 6)])
    assert not is_linearizable([lost(None, 3, 0), read(3, 5, 6), read(None, 7, 8)]), "it was there and went"
    refused = Event("refused", None, 7, 0, 1)
    assert is_linearizable([refused], 7) and not is_linearizable([refused], None) and not is_linearizable([refused], 8)


if __name__ == "__main__":
    check_the_checker()
    print("1 passed, 0 failed")
