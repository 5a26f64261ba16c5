"""The Boltzmann wealth model: what random payments alone do to equal agents."""

from societies.daily import Count, Model, falls

from my_model import engine, reference
from my_model.config import MyModelConfig
from my_model.state import SERIES, STATE

MODEL = Model(
    name="my_model",
    summary="agents with equal money pay each other at random",
    version="1",  # another one when, and only when, results change
    config=MyModelConfig,
    sizes=lambda config: {"agent": config.agents},
    state=STATE,
    series=SERIES,
    start=("seed_streams",),
    day=("exchange", "statistics"),
    launches=engine.launches,
    reference=reference.PHASES,
    counts={"payments": Count(("exchange",), falls("money"), "units paid, net")},
)
WORKLOAD = MODEL.workload()
