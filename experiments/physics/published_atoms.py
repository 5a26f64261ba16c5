"""What the report measured of molecular dynamics on a Tesla C2070, and our kernels for it."""

EVALUATIONS = 1001
"""Evaluations of the forces in a published run."""

PUBLISHED = {
    "particle": {
        16384: (1.860, 1.331), 32000: (3.423, 2.333), 55296: (4.990, 3.495),
        87808: (7.819, 6.062), 131072: (10.795, 8.246), 186624: (15.027, 11.426),
        256000: (20.686, 15.894), 340736: (26.961, 21.577),
    },
    "cell": {
        16384: (2.441, 2.341), 32000: (4.248, 3.656), 55296: (6.693, 6.052),
        87808: (10.223, 9.380), 131072: (14.532, 13.362), 186624: (19.802, 18.015),
        256000: (28.096, 27.178), 340736: (36.343, 34.334),
    },
}  # fmt: skip
"""Seconds of 1001 evaluations on a Tesla C2070, kernels alone: OpenCL and CUDA, by atoms."""

LOOP = {
    16384: (4.46, 2.77, 19.1), 32000: (7.59, 4.73, 35.9), 55296: (12.04, 7.23, 61.7),
    87808: (19.44, 11.58, 97.3), 131072: (25.59, 16.22, 153.0),
}  # fmt: skip
"""Published seconds of the whole loop: OpenCL, CUDA, and one core of the host."""

TRANSFERS = {340736: (8.6, 4.6)}
"""Published seconds of the copies of 1001 steps: OpenCL and CUDA."""

FINDING = ("count_atoms", "sum_cells", "sum_blocks", "place_atoms", "neighbours")
"""Kernels that find out which atoms are near each other."""
