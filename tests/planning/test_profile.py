"""How wide and how long a sweep is, and what a user may ask of it."""

from __future__ import annotations

import pytest

from ndblab.error import LabError
from ndblab.planning import profile


def test_the_briefs_profile_has_its_rows_times_and_clients():
    """8 tables of 10 million rows, 120 s and 300 s, up to 4096 clients."""
    size = profile.get("brief")
    assert (size.tables, size.table_size, size.warmup_s, size.duration_s) == (8, 10**7, 120, 300)
    assert size.clients == (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


def test_every_parameter_of_a_profile_can_be_replaced():
    """Text from a command line and numbers from a notebook mean the same."""
    size = profile.get("quick", {"servers": "4,1", "clients": [8], "repeats": "3", "seed": None})
    assert (size.servers, size.clients, size.repeats) == ((1, 4), (8,), 3)
    assert size.seed == profile.PROFILES["quick"].seed


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("clients", "0"),
        ("clients", "-4"),
        ("clients", "many"),
        ("clients", ""),
        ("servers", "1,two"),
        ("servers", "0"),
        ("servers", "237"),
        ("repeats", "0"),
        ("duration_s", "0.5"),
        ("table_size", "-1"),
    ],
)
def test_a_value_out_of_range_is_refused_by_the_name_of_its_option(field, value):
    """One message names the option, what was given and what is expected."""
    with pytest.raises(LabError) as caught:
        profile.get("quick", {field: value})
    assert f"--{field.removesuffix('_s').replace('_', '-')}" in str(caught.value)
    assert "expected" in str(caught.value)


@pytest.mark.parametrize(("name", "fields"), [("long", {}), ("quick", {"cleints": "3"})])
def test_unknown_profiles_and_parameters_are_refused(name, fields):
    """A misspelt word is never ignored; the known ones are listed."""
    with pytest.raises(LabError, match="Unknown profile") as caught:
        profile.get(name, fields)
    assert "quick" in str(caught.value) or "clients" in str(caught.value)
