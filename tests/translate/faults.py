"""Rules that each go wrong in one line, which ends with what is wrong."""

import math

from societies.model import Bounded, DailyConfig, Events, Field, Model, Rng


def too_large(config, society, day):
    a = 3_000_000_000
    for _ in range(3):
        a = a * (society.whole[0] + a)  # the whole number needs more than 64 bits


def too_small(config, society, day):
    a = -9_000_000_000_000_000_000 - society.wide
    society.wide = a - 900_000_000_000_000_000  # the whole number needs more than 64 bits


def none_of_difference(config, society, day):
    society.wide = 2 - 9_223_372_036_854_775_807 - society.wide  # -2**63, which stands for None


def none_of_bits(config, society, day):
    society.wide = (9_223_372_036_854_775_804 + society.wide) ^ (2 - society.wide)  # is -2**63


def shifted(config, society, day):
    society.wide = 1 << (society.whole[0] - 80)  # a shift by a negative number


def beyond(config, society, day):
    i = 7 + society.whole[0]
    society.whole[i] = 3  # an index is beyond the list


def before(config, society, day):
    society.whole[society.whole[0] - 11] = 3  # an index is beyond the list


def zero(config, society, day):
    society.real[0] = 1.0 / float(society.whole[0] - 2)  # division by zero


def whole_zero(config, society, day):
    society.whole[0] = 7 // (society.whole[0] - 2)  # division by zero


def does_not_fit(config, society, day):
    society.small = society.whole[0] * 200  # the number does not fit the field 'small'


def full(config, society, day):
    p = Bounded(2)
    for i in range(society.whole[0] + 1):
        p.append(i)  # the list has more than 2 entries


def empty(config, society, day):
    p = [v for v in society.whole if v > 99]
    society.whole[0] = max(p)  # max of an empty list


def missing(config, society, day):
    society.whole[0] = list(society.whole).index(99)  # the value is not in the list


def lengths(config, society, day):
    p = [1 for v in society.whole if v > 99]
    total = 0
    for a, b in zip(society.whole, p, strict=True):  # zip of lists of different lengths
        total += a * b


def fraction(config, society, day):
    society.wide = int(1e30 * float(society.whole[0]))  # the real number does not fit 64 bits


def assertion(config, society, day):
    assert society.whole[0] > 5  # the assertion does not hold


def root(config, society, day):
    society.real[0] = square_root(float(society.whole[0]) - 9.0)


def square_root(x):
    return math.sqrt(x)  # the square root of a negative number


def never_begun(config, society, day):
    rng = Rng.load(society.stream)  # the stream has never begun
    society.whole[0] = rng.below(3)


def nothing(config, society, day):
    x = None
    if society.whole[0] > 5:
        x = 3
    society.whole[0] = x + 1  # None is no number


def large_quotient(config, society, day):
    society.real[0] = (2**60 + society.wide) / 3  # more than 53 bits


def unlike(config, society, day):
    society.news.append((day, society.whole[0] * 2**30))  # the number does not fit a row of 'news'


def another_day(config, society, day):
    society.news.append((society.whole[0], 0))  # a row of 'news' does not begin with the day


def too_many(config, society, day):
    for i in range(society.whole[0] + 1):
        society.news.append((day, i))  # more than 2 rows of 'news' in a day


def fine(config, society, day):
    for i in range(society.whole[0]):
        society.news.append((day, i - 2**31 + 1))
    society.whole[-1] = society.whole[0] * 1000 - 7 // society.whole[1]


NAMES = tuple(
    name
    for name, function in dict(globals()).items()
    if getattr(function, "__module__", "") == __name__ and name not in ("square_root",)
)


class FaultsConfig(DailyConfig):
    """No keys of its own."""


class Faults(Model):
    """A model of which each phase goes wrong."""

    name, summary, config = "faults", "what goes wrong", FaultsConfig
    day = NAMES

    def sizes(self, p):
        """Return the lengths."""
        return {"agent": 7}

    def fields(self, p):
        """Return the state."""
        return {
            "whole": Field(("agent",), "int32", "1", "whole numbers", initial=2),
            "real": Field(("agent",), "float64", "1", "real numbers"),
            "small": Field((), "uint8", "1", "a small number"),
            "wide": Field((), "int64", "1", "a large number", initial=3),
            "stream": Field((), "uint64", "1", "a stream"),
        }

    def events(self, p):
        """Return the lists of events."""
        return {"news": Events(2, 2)}
