"""What several tests of publishing share."""

from __future__ import annotations

import pandas as pd
import pytest

from ndblab.publishing import verdict_tables


@pytest.fixture(scope="session")
def verdicts() -> pd.DataFrame:
    """Every claim, judged by the recorded datasets."""
    return verdict_tables.every()
