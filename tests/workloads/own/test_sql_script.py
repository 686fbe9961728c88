"""The script that a file of SQL becomes; `test_on_cluster` runs some."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ndblab import install
from ndblab.workloads.own import sql_file, sql_script


def compiled(text: str) -> str:
    return sql_script.compiled(sql_file.parse(text, "q.sql"))


def test_a_lookup_is_prepared_for_each_table_and_bound():
    """It costs what the lookup of sysbench's own script costs."""
    script = compiled("SELECT c FROM sbtest:int(1,tables) WHERE id = :int(1,rows);")
    assert "for i1 = 1, sysbench.opt.tables do" in script
    assert 'prepared("SELECT c FROM sbtest" .. i1 .. " WHERE id = ?", {0})' in script
    assert "p[1]:set(uniform(1, sysbench.opt.table_size))" in script
    assert script.endswith("event = units[1]\n")
    assert "zipfian" not in script
    assert "ROLLBACK" not in script


def test_units_are_drawn_by_weight():
    """An event is one of them; a transaction is rolled back before a client draws anew."""
    script = compiled("-- weight: 3\nSELECT 1;\nBEGIN;\nSELECT 2;\nCOMMIT;")
    assert "ipairs({3, 1})" in script
    assert 'con:query("ROLLBACK")' in script


def test_texts_cannot_leave_their_quotes():
    """Whatever a statement contains, it is one text of Lua."""
    script = compiled("SELECT \"a\\\"b\", '\\\\' FROM t\nWHERE d = :choice('x\"]]');")
    assert r'"SELECT \"a\\\"b\", ' in script
    assert r'\nWHERE d = ?"' in script
    assert r'{"x\"]]"}' in script


@pytest.mark.parametrize(
    ("placeholder", "expression"),
    [
        (":int(0,9)", "uniform(0, 9)"),
        (":int(-3,9)", "uniform(0, 12) + -3"),
        (":int(5000000000,5000000009)", "uniform(0, 9) + 5000000000"),
        (f":int({2**60},{2**60 + 9})", f"uniform(0, 9) + {2**60}LL"),
        (f":int({2**53},{2**53 + 9})", f"uniform(0, 9) + {2**53}LL"),
        (f":zipf({2**60},{2**60 + 9})", f"zipf[1]() + {2**60}LL - 1"),
        (":int(-3,rows)", "uniform(0, sysbench.opt.table_size - -3) + -3"),
        (":zipf(10,19)", "zipf[1]() + 10 - 1"),
        (":zipf(1,10)", "zipf[1]()"),
        (":choice(3,5)", "values[1][uniform(1, 2)]"),
    ],
)
def test_values_are_drawn_within_their_bounds(placeholder, expression):
    """sysbench draws whole numbers of 32 bits, from 0 on."""
    assert f"p[1]:set({expression})" in compiled(f"SELECT {placeholder};")


def test_numbers_that_no_double_holds_are_kept():
    """LuaJIT's ordinary numbers are doubles; identifiers often have 64 bits."""
    assert "{1234567890123456789LL}" in compiled("SELECT :choice(1234567890123456789);")


def test_a_low_bound_above_the_size_of_the_tables_ends_the_load():
    """It would draw values of no row; which size the profile has is known only then."""
    script = compiled("SELECT :int(50000,rows);")
    assert "   assert(50000 <= sysbench.opt.table_size, " in script
    assert "assert(" not in compiled("SELECT :int(1,rows);")


def test_bound_texts_have_room_for_the_longest():
    """In bytes of UTF-8."""
    assert 'prepared("SELECT ?, ?", {4, 7})' in compiled("SELECT :choice('a','éé'), :text(7);")


@pytest.mark.cluster
def test_zipf_prefers_low_values_as_its_exponent_says(tmp_path):
    """k is drawn as often as 1/k^s, for exponents below, at and above 1; sysbench runs it."""
    binaries = install.ensure(progress=False)
    whole = compiled("SELECT :zipf(1,100,0.8);")
    sampler = whole[whole.index("local function zipfian") : whole.index("local function prepare_a")]
    script = tmp_path / "zipf.lua"
    script.write_text(
        sampler
        + """
function event()
   for _, s in ipairs({0.8, 1, 1.5}) do
      local draw, seen, sum = zipfian(100, s), {}, 0
      for k = 1, 100 do seen[k], sum = 0, sum + k ^ -s end
      for _ = 1, 4000000 do local k = draw(); seen[k] = seen[k] + 1 end
      for _, k in ipairs({1, 2, 10, 100}) do
         print("RATIO", seen[k] / 4000000 / (k ^ -s / sum))
      end
   end
end
"""
    )
    argv = [str(binaries.sysbench), str(script), "--events=1", "--time=60", "run"]
    env = {**binaries.sysbench_env, "PATH": shutil.os.environ["PATH"]}
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    ratios = [float(line.split()[1]) for line in done.stdout.splitlines() if "RATIO" in line]
    assert len(ratios) == 12, done.stdout
    assert all(0.8 < ratio < 1.25 for ratio in ratios)
