"""RLCard's agents at the table."""

from __future__ import annotations

import numpy as np
import pytest

from tests.integrations.conftest import Witness
from tests.integrations.libraries import SEATS, THEIR_WARNINGS, example, library

library("rlcard")
library("torch")
rlcard_tournament = example("rlcard_tournament")
pytestmark = THEIR_WARNINGS


@SEATS
def test_payoffs_are_the_mean_returns_of_the_table(num_players: int, witness: Witness) -> None:
    payoffs = rlcard_tournament.main(num_players, num=12)
    assert len(witness.finished) == 12
    assert witness.refused == 0
    assert payoffs == pytest.approx(np.mean([list(game.returns.values()) for game in witness.finished], axis=0))
    assert sum(payoffs) == pytest.approx(0)
    assert any(payoffs)
