"""What must a workload declare, so that it can be run, resumed, verified, captured and timed?

A workload advances in ticks (days, steps, depths) and declares arrays, phases and their order. The
rest follows: ensembles, an HDF5 file from which the run can be resumed on any device, the
comparison of every bit with plain Python, folders that reproduce one launch, timings.
`societies new NAME` writes an example; docs/write-a-workload.md explains it.
"""

from societies.workload.declare.fields import Events, Field, Series, series_macros
from societies.workload.declare.naming import parameters_of
from societies.workload.declare.optional import Count, falls, rises
from societies.workload.declare.phases import Launch, Phase, Scratch, Slices, Step, phase
from societies.workload.declare.protocol import Setup, Source, Workload
from societies.workload.declare.view import (
    Button,
    Change,
    Choice,
    Drag,
    Frame,
    Mouse,
    Press,
    Previewing,
    Slider,
    View,
    Wheel,
)
from societies.workload.running.written import Block, Contents

__all__ = [
    "Block",
    "Button",
    "Change",
    "Choice",
    "Contents",
    "Count",
    "Drag",
    "Events",
    "Field",
    "Frame",
    "Launch",
    "Mouse",
    "Phase",
    "Press",
    "Previewing",
    "Scratch",
    "Series",
    "Setup",
    "Slices",
    "Slider",
    "Source",
    "Step",
    "View",
    "Wheel",
    "Workload",
    "falls",
    "parameters_of",
    "phase",
    "rises",
    "series_macros",
]
