"""Tangents of a snapshot's parts take the memory of the parts, not of the snapshot."""

import torch
import torch.autograd.forward_ad as dual

from reweigh.metagrad.directional import along


def test_a_tangent_is_as_large_as_its_own_part():
    snapshot = torch.randn(1000)
    with torch.no_grad(), dual.dual_level():
        tangent = dual.unpack_dual(along(snapshot[:2], torch.ones(2))).tangent
    assert tangent is not None
    assert tangent.tolist() == [1.0, 1.0]
    assert tangent.untyped_storage().nbytes() == 2 * 4
