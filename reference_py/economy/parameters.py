"""Which parameters does a society have? The keys of its file, tables made of them, shocks.

Nothing is left to decide: agents with equal parameters share a table. The host makes parameters
from a configuration (`societies.economy.parameters`); docs/python-api.md makes some by hand.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reference_py.economy.tables import EffortCurve, UtilityCurve
from reference_py.primitives.rng import stream_base

KEEP, LOSE = 0, 1
REMOVE_RESOURCE, REMOVE_AGENT = 0, 1
REMOVE_NOTHING = 2
"""In a society that a shock does not concern, though it does others of the launch."""
RANDOM_INDEX = -1
FUTURE_SEEDS = 2**63
"""Futures draw from the streams of the seed that is larger by this."""


@dataclass(frozen=True)
class Shock:
    """Something removed at the end of a day.

    Attributes
    ----------
    day : int; 0: before the first
    remove : `REMOVE_RESOURCE`, `REMOVE_AGENT` or `REMOVE_NOTHING`
    index : int, which one, or `RANDOM_INDEX`
    holdings : `KEEP` or `LOSE`, what agents hold and know of a removed resource
    """

    day: int
    remove: int
    index: int
    holdings: int


@dataclass(frozen=True, eq=False)
class DeviceParameters:
    """What differs between agents and resources where there are devices.

    Attributes
    ----------
    tools_only : bool
    effort_curves : tuple of EffortCurve, minutes per device
    effort_curve_of : (group, resource) int, index into them
    trade_power : (group,) float, bargaining weight in device trade
    inventiveness : (group,) float, how many times likelier inventions are
    """

    tools_only: bool
    effort_curves: tuple[EffortCurve, ...]
    effort_curve_of: tuple[tuple[int, ...], ...]
    trade_power: tuple[float, ...]
    inventiveness: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Parameters:
    """Everything a day needs, resolved. Index order: (group, resource); see docs/model.md.

    Attributes
    ----------
    seed : int
    values : numbers, and tuples of a number for each device type, by name
        Keys of the configuration that are declared as values. Each is an attribute, too:
        ``p.min_surplus`` stands here where kernels have ``P(min_surplus)``, and
        ``p.device_factor[device_type]`` where they have ``device_factor[device_type]``.
    shapes : whole numbers, truth values and words, by name
        Keys that size arrays or choose code, attributes as well: ``p.menu_size`` is ``MENU_SIZE``.
    group_of_agent : (agent,) int
    utility_curves : tuple of UtilityCurve, util per unit
    effort_curves : tuple of EffortCurve, minutes per unit
    utility_curve_of, effort_curve_of : (group, resource) int, index into the curves
    consumption_threshold : (group, resource) int
        A held unit disappears overnight if a 32-bit draw is below it; floor(2**32 / lifetime).
    trade_power : (group,) float, bargaining weight
    endowment : (group, resource) int, units held before the first day
    endowed : whether any agent of any society of the launch has an endowment
    shocks : tuple of Shock, in the order in which those of one day are carried out
    devices : DeviceParameters, or None without devices
    largest_holding : int, units
        No agent is expected to pass it; utility tables end at it at the latest.
    first_society, societies : int, which societies are meant; nothing in a society depends on it
    numeraire : int, the resource in whose units prices are recorded, or None: of any resource
    network : whether it is noted who gave how much to whom
    policies : whether there are taxes and transfers at any time
    synchronizes : whether draws are synchronized at any time
    transfer_share : (group,) float, share of the fund that the members get
    rules : functions of a user that replace some of the reference's, by the name of the rule
    rule_text : the same functions in OpenCL C, for kernels
    rule_sites : places that kernels test, if they were built to test every operation of the rules

    Raises
    ------
    ValueError
        If a key has the name of something else.
    """

    seed: int
    values: dict[str, Any]
    shapes: dict[str, Any]
    group_of_agent: tuple[int, ...]
    utility_curves: tuple[UtilityCurve, ...]
    utility_curve_of: tuple[tuple[int, ...], ...]
    effort_curves: tuple[EffortCurve, ...]
    effort_curve_of: tuple[tuple[int, ...], ...]
    consumption_threshold: tuple[tuple[int, ...], ...]
    trade_power: tuple[float, ...] = (1.0,)
    endowment: tuple[tuple[int, ...], ...] = ()
    endowed: bool = False
    shocks: tuple[Shock, ...] = ()
    devices: DeviceParameters | None = None
    largest_holding: int = 2**31 - 1
    first_society: int = 0
    societies: int = 1
    numeraire: int | None = None
    network: bool = False
    policies: bool = False
    synchronizes: bool = False
    transfer_share: tuple[float, ...] = (0.0,)
    rules: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    rule_text: str = ""
    rule_sites: Sequence[Any] = ()
    stream_base: int = field(init=False)

    def __post_init__(self):
        """Make every key an attribute, and find where on the orbit this seed's streams begin."""
        object.__setattr__(self, "stream_base", stream_base(self.seed))
        for name, number in (*self.values.items(), *self.shapes.items()):
            if hasattr(self, name):
                raise ValueError(f"{name} has two meanings; give the key another name")
            object.__setattr__(self, name, number)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Tell type checkers that keys are attributes."""

    def rule(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what carries out a rule: the user's function, or else that of the reference.

        It is called with all parameters by name (`societies rules economy` lists them).
        """
        return self.rules.get(name, function)

    @property
    def future_base(self) -> int:
        """Where on the orbit the streams of futures begin."""
        return stream_base((self.seed + FUTURE_SEEDS) % 2**64)

    @property
    def groups(self) -> int:
        """How many groups of agents there are."""
        return len(self.trade_power)

    @property
    def component_slots(self) -> int:
        """The most components that any recipe has."""
        return max(self.resources_in_tool, self.components)

    @property
    def tables_cut_off(self) -> bool:
        """Whether a utility table ends before a unit is worth no more than the floor."""
        return max(len(curve.marginal) for curve in self.utility_curves) > self.largest_holding
