"""Which random numbers are the same on every device? MWC64X with streams and skip-ahead.

The state (x, c), two 32-bit words, stands for ``v = A x + c``; one step multiplies v by A modulo
``M = A 2**32 - 1`` (prime). Source: D. B. Thomas, "The MWC64X random number generator", 2011.
Device twin: ``kernels/primitives/rng.cl``; every function draws the same words in both.
"""

A = 4294883355
M = A * 2**32 - 1
BASE = 4077358422479273989  # v of the first state of stream (base 0, id 0)
WORD = 2**32

ORBIT = A * 2**31 - 1
"""Draws until the generator repeats."""
STREAM_GAP = 2**32
"""Draws between the starts of neighbouring streams."""
RANDOM_STREAMS = ORBIT // STREAM_GAP
"""Streams that fit into the orbit."""
LAST_STATE = A * 2**32 - 2
"""The largest word of a stream's state: carry below A, and not the last of these words. That one,
like 0, would give the same number for ever, and some draws never end."""


def stream_base(seed: int) -> int:
    """Where on the generator's orbit the streams of a seed begin; see docs/design/randomness.md.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014) scatters neighbouring seeds: taken as
    they are, the streams of seeds 1 and 2 would be one another shifted by a draw. The place is
    given within one round of the orbit: kernels add up distances modulo 2**64, and beyond that
    streams would come out on top of others.
    """
    z = (seed + 0x9E3779B97F4A7C15) % 2**64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
    return (z ^ (z >> 31)) % ORBIT


class Rng:
    """One stream of random 32-bit words.

    Parameters
    ----------
    x, c : int
        The state, two 32-bit words. ``x = c = 0`` and ``x = 2**32 - 1, c = A - 1`` never move.

    Raises
    ------
    ValueError
        When the state is one of the two that never move, or not two 32-bit words.
    """

    __slots__ = ("c", "x")

    def __init__(self, x: int, c: int) -> None:
        if not (0 <= x < WORD and 0 <= c < WORD):
            raise ValueError(f"MWC64X state ({x}, {c}) is not two 32-bit words")
        if (A * x + c) % M == 0:
            raise ValueError(f"MWC64X state ({x}, {c}) never moves; use another seed")
        self.x = x
        self.c = c

    @classmethod
    def load(cls, packed: int) -> "Rng":
        """State from one 64-bit word, x in the low half."""
        packed = int(packed)
        return cls(packed % WORD, packed // WORD)

    def pack(self) -> int:
        """State as one 64-bit word, x in the low half."""
        return self.x | (self.c << 32)

    @classmethod
    def seed(cls, base: int, gap: int, stream: int) -> "Rng":
        """First state of a stream: ``base + stream * gap`` (modulo 2**64) draws from the origin."""
        distance = (base + stream * gap) % 2**64
        v = BASE * pow(A, distance, M) % M
        return cls(v // A, v % A)

    def skip(self, d: int) -> None:
        """Move on by d draws, ``0 <= d < 2**64``."""
        v = (A * self.x + self.c) * pow(A, d, M) % M
        self.x, self.c = v // A, v % A

    def next(self) -> int:
        """32 random bits."""
        out = self.x ^ self.c
        t = A * self.x + self.c
        self.x, self.c = t % WORD, t // WORD
        return out

    def below(self, n: int) -> int:
        """An integer in 0 .. n-1 without bias; n <= 1 gives 0 and draws nothing."""
        if n <= 1:
            return 0
        if n >= WORD:
            raise ValueError(f"a draw below more than 2**32 - 1: {n}")
        smallest_accepted = (WORD - n) % n
        while True:
            m = self.next() * n
            if m % WORD >= smallest_accepted:
                return m // WORD

    def uniform(self) -> float:
        """A uniform number in [0, 1) with 53 random bits; two draws."""
        high = self.next() >> 5
        low = self.next() >> 6
        return (high * 2.0**26 + low) * 2.0**-53

    def bernoulli(self, threshold: int) -> bool:
        """True with probability ``threshold / 2**32``; one draw."""
        return self.next() < threshold

    def binomial(self, n: int, threshold: int) -> int:
        """Successes among n trials of probability ``threshold / 2**32``, exact in distribution.

        Parameters
        ----------
        n : int
            Number of trials, 0 .. 2**31.
        threshold : int
            0 .. 2**32. 0 and 2**32 (impossible, certain) draw nothing.

        Notes
        -----
        n <= 8: n Bernoulli draws. Above: each trial compares an endless uniform bit string with
        the threshold, most significant bit first; all undecided trials take their next bit
        together, 32 to a word. Equal to the threshold is not below it, hence a failure.
        """
        if threshold == 0:
            return 0
        if threshold >= WORD:
            return n
        if n <= 8:
            return sum(self.next() < threshold for _ in range(n))
        successes = 0
        undecided = n
        for bit in range(31, -1, -1):
            if undecided == 0 or threshold % 2 ** (bit + 1) == 0:
                break  # no trial left, or none left can succeed
            ones = self._ones(undecided)
            if threshold >> bit & 1:
                successes += undecided - ones
                undecided = ones
            else:
                undecided -= ones
        return successes

    def _ones(self, bits: int) -> int:
        """Set bits among the next ``bits`` random bits; the last word gives its low ones."""
        ones = sum(self.next().bit_count() for _ in range(bits // 32))
        if bits % 32:
            ones += (self.next() & (2 ** (bits % 32) - 1)).bit_count()
        return ones

    def binomial_spaced(self, n: int, threshold: int) -> int:
        """Successes as `binomial`; moves on by `binomial_reserve` draws, whatever was drawn."""
        successes = Rng(self.x, self.c).binomial(n, threshold)
        self.skip(binomial_reserve(n))
        return successes


def binomial_reserve(n: int) -> int:
    """Upper bound of the words that a binomial of n trials draws.

    One word per trial up to 8 trials, then 32 rounds of at most ``ceil(n / 32)`` words.
    """
    return n if n <= 8 else 32 * ((n + 31) // 32)
