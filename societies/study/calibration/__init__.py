"""Which parameters give a model the statistics that it should have?"""

from societies.study.calibration.conduct import CalibrationReport, calibrate
from societies.study.calibration.document import Calibration, load_calibration
from societies.study.calibration.recover import Recovery, recover

__all__ = [
    "Calibration",
    "CalibrationReport",
    "Recovery",
    "calibrate",
    "load_calibration",
    "recover",
]
