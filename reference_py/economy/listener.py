"""How does a society report what it decides, and why? It passes events to a listener.

Each event is reported where it is decided, with the values that decided it. No result depends on a
listener. What only a listener needs is computed only if there is one, by the function that decides.

A decision against something has a reason: a pair of words and of whom or what they are about,
agents or resources, ``("would gain too little", (3, 5))``. None stands for "nothing against it".
"""


def notify(s, event, **facts):
    """Report an event to the society's listener, if it has one.

    Parameters
    ----------
    s : Society
    event : str
    facts : what was decided and why, by name; the listener may keep the lists
    """
    if s.listener is not None:
        s.listener(event, facts)
