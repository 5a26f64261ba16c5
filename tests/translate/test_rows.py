"""Do names of rows and streams that change places stand for what they stand for in Python?"""

from random_rules import outcome

PROGRAM = """
def run0(config, society, day):
    row, other = society.grid[0], society.grid[1]
    row, other = other, row
    row[0], other[0] = 33, 44
    i = 1
    i, row = 0, society.grid[i]
    row[1] = 55 + i


def run1(config, society, day):
    first, second, third = society.grid[0], society.grid[1], society.grid[2]
    for _ in range(day):
        first, second, third = third, first, second
    first[2], second[2], third[2] = 1, 2, 3


def again(rng, day):
    first = rng.below(100)
    if day % 2:
        rng = Rng.seed(day, 3, 1)
    return first * 100 + rng.below(100)


def run2(config, society, day):
    one, other = Rng.load(society.stream), Rng.seed(7, 1, 2)
    for _ in range(day):
        one, other = other, one
        society.xi[0] += one.below(1000) - 2 * other.below(1000)
    society.xi[1] = one.below(1000)
    rng = Rng.load(society.stream)
    society.xi[2] = again(rng, day) + again(rng, 1)
    society.stream = rng.pack()
"""


def test_what_changes_places_in_one_statement_does_so_at_once(tmp_path):
    """Both names of two rows stood for the second; a parameter that is a stream had no kernel."""
    assert outcome([f"{PROGRAM}\n", "", ""], tmp_path) == ("", PROGRAM.count("def run"))
