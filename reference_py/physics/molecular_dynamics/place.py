"""Which atoms are in each cell?

The reference tries all pairs and needs no cells; this says what those of a device must hold. Device
twin: ``kernels/physics/molecular_dynamics/place.cl``.
"""

from reference_py.physics.molecular_dynamics.cells import cell_of


def place_atoms(p, x):
    """Return the set of atoms of each cell, by its number ``(z * cells + y) * cells + x``."""
    found = [set() for _ in range(p.cells**3)]
    for atom, (x_cell, y_cell, z_cell) in enumerate(cell_of(p, x).tolist()):
        found[(z_cell * p.cells + y_cell) * p.cells + x_cell].add(atom)
    return found
