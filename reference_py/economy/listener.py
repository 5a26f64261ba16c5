"""Who may watch what happens, and why: a listener is told, and changes nothing.

A listener is called with the name of an event and its facts; `societies/economy/replay.py` has
one. Results never depend on it, and nobody is told anything where there is none.
"""


def tell(s, event, **facts):
    """Tell the society's listener, if it has one, what happens right now.

    Facts are numbers and lists at hand; whoever wants more looks at the society, which is as the
    agent sees it at this moment.
    """
    if s.listener is not None:
        s.listener(event, facts)
