"""Do libraries blur as these rules say? Boxes of bytes are equal, Gaussians nearly so."""

import numpy as np
import pytest
from images import blurred, random_image
from marks import thorough_but

from reference_py.physics.blur.parameters import Parameters

IMAGE = random_image(97, 61, 3, seed=4)
SCIPY = {"replicate": "nearest", "reflect": "reflect", "mirror": "mirror", "wrap": "wrap"}
"""Borders by their names in SciPy."""


@pytest.mark.parametrize("border", thorough_but(["mirror"], [*SCIPY, "constant"]))
def test_gaussians_of_scipy(device, border):
    ndimage = pytest.importorskip("scipy.ndimage")
    for sigma in (0.7, 2.0):
        radius = int(4 * sigma + 0.5)
        p = Parameters(IMAGE, "gaussian", 1, radius, sigma, border, variant="fused")
        for number, plane in enumerate(blurred(p, device)["planes"][0]):
            mode = SCIPY.get(border, "constant")
            expected = ndimage.gaussian_filter(
                IMAGE[0, number].astype(np.float32), sigma, mode=mode, truncate=4.0
            )
            assert abs(plane - expected).max() < 1e-4


def test_neighbours_of_scipy(device):
    ndimage = pytest.importorskip("scipy.ndimage")
    cross = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) / 4
    found = blurred(Parameters(IMAGE, passes=1), device)["planes"][0, 0]
    expected = ndimage.correlate(IMAGE[0, 0].astype(np.float64), cross)
    assert abs(found - expected)[1:-1, 1:-1].max() < 1e-4


@pytest.mark.parametrize("border", ["replicate", "reflect", "mirror"])
def test_boxes_of_opencv(device, border):
    cv2 = pytest.importorskip("cv2")
    kinds = {
        "replicate": cv2.BORDER_REPLICATE,
        "reflect": cv2.BORDER_REFLECT,
        "mirror": cv2.BORDER_REFLECT_101,
    }
    for radius in (1, 3, 7, 20):
        p = Parameters(IMAGE, "box", 1, radius, border=border, arithmetic="bytes")
        found = blurred(p, device)["planes"][0]
        side = 2 * radius + 1
        for number in range(3):
            plane = np.ascontiguousarray(IMAGE[0, number])
            expected = cv2.blur(plane, (side, side), borderType=kinds[border])
            assert (found[number] == expected).all(), radius


def test_gaussians_of_opencv(device):
    cv2 = pytest.importorskip("cv2")
    p = Parameters(IMAGE, "gaussian", 1, 8, 2.0, "mirror", variant="fused")
    found = blurred(p, device)["planes"][0, 0]
    expected = cv2.GaussianBlur(
        IMAGE[0, 0].astype(np.float32), (17, 17), 2.0, borderType=cv2.BORDER_REFLECT_101
    )
    assert abs(found - expected).max() < 1e-4
