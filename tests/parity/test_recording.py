"""Does it make no difference to a run what is recorded of it?

Some phases work out what is only recorded, and are left out of other ticks. So runs that record
more, less and other things must have the same state at their end.
"""

from functools import cache

import pytest
from small import small, tried

from societies.workload.running.engines import ReferenceEngine
from societies.workload.running.registry import workload

NOT_RECORDED = {"checkpoint", "keep"}
"""Keys of the section record that say from where a run can continue."""


def others(name):
    """Yield each key of what is recorded, and other values of it."""
    record = getattr(small(name), "record", None)
    for key, field in type(record).model_fields.items() if record else ():
        if key not in NOT_RECORDED:
            now = getattr(record, key)
            if field.annotation is bool:
                yield key, not now
            elif field.annotation is int:
                yield from ((key, value) for value in (1, 5) if value != now)


def cases():
    return [(name, key, value) for name in tried() for key, value in others(name)]


@cache
def ended(name, key="", value=0):
    """Return the checkpointed arrays at the end of a run, without those of the file alone."""
    config = small(name)
    if key:
        record = config.record.model_dump(exclude_unset=True)
        config = small(name, record={**record, key: value})
    chosen = workload(name)
    p, copies = chosen.parameters(config), min(2, chosen.count(config))
    engine = ReferenceEngine(chosen, p, first=chosen.first(config), copies=copies)
    engine.start()
    for tick in range(1, chosen.ticks(config) + 1):
        engine.run_ticks(tick, tick)
        if engine.ended() is not None:
            break
    found = engine.state()
    fields = {array: field for array, field in engine.fields.items() if field.saved}
    return {
        array: found[array].tobytes()
        for array, field in fields.items()
        if field.compared and not field.logged
    }


@pytest.mark.sample
@pytest.mark.parametrize(("name", "key", "value"), cases())
def test_a_run_is_the_same_whatever_is_recorded(name, key, value):
    expected, found = ended(name), ended(name, key, value)
    both = expected.keys() & found.keys()
    assert both
    assert [array for array in both if found[array] != expected[array]] == []


def test_phases_that_serve_the_file_alone_are_among_these():
    expected = {"laplace", "molecular_dynamics", "economy"} & set(tried())
    assert "economy" in expected and expected <= {name for name, _, _ in cases()}
