"""Files of SQL: what they mean, and what is said if they are wrong."""

from __future__ import annotations

import pytest

from ndblab.error import LabError
from ndblab.workloads.own import sql_file
from ndblab.workloads.own.placeholder import AGAIN, CHOICE, INT, TEXT, ZIPF


@pytest.mark.parametrize("name", ["shard-", "größ ", "2024", "ö"])
def test_a_placeholder_in_a_quoted_name_is_part_of_it(name: str):
    """Whatever stands before its colon."""
    [unit] = sql_file.parse(f"SELECT c FROM `{name}:int(1,4)`;", "q.sql")
    assert unit.statements[0].example(unit.named) == f"SELECT c FROM `{name}1`"


ORDERS = """\
-- Orders of a shop; a comment with a semicolon.
-- weight: 3
SELECT c FROM sbtest:int(1,tables)
 WHERE id = :zipf(1,rows,1.1); /* the usual: ' */

# Another way to comment: :int(
SELECT ':x;', "it's;", `a;b` FROM t WHERE d = :choice('a','it''s') AND e = :text(12);
-- weight: 2
BEGIN;
SELECT k FROM t WHERE id = :id=int(-5,5) FOR UPDATE;
UPDATE t SET k = :int(1,9) WHERE id = :id;
COMMIT;
"""


@pytest.fixture
def units():
    return sql_file.parse(ORDERS, "orders.sql")


def test_statements_have_their_text_weight_and_line(units):
    """Comments count for lines only; semicolons in texts and comments end nothing."""
    assert [(unit.weight, len(unit.statements)) for unit in units] == [(3, 1), (1, 1), (2, 4)]
    first, second = units[0].statements[0], units[1].statements[0]
    assert (first.number, first.line) == (1, 3)
    assert first.text == "SELECT c FROM sbtest?\n WHERE id = ?"
    assert (second.number, second.line) == (2, 7)
    assert second.text.startswith("SELECT ':x;', \"it's;\", `a;b` FROM t WHERE d = ?")


def test_placeholders_have_their_values(units):
    """Bounds may be those of the profile; a colon in a text is none."""
    table, key = units[0].statements[0].placeholders
    assert (table.kind, table.low, table.high, table.glued) == (INT, 1, "tables", True)
    assert (key.kind, key.high, key.exponent, key.glued) == (ZIPF, "rows", 1.1, False)
    choice, text = units[1].statements[0].placeholders
    assert (choice.kind, choice.values) == (CHOICE, ("a", "it's"))
    assert (text.kind, text.length) == (TEXT, 12)


def test_a_value_with_a_name_is_used_again_in_its_transaction(units):
    """The row that is read is the row that is changed."""
    _, select, update, _ = units[2].statements
    assert [(p.kind, p.name, p.low) for p in select.placeholders] == [(INT, "id", -5)]
    assert [(p.kind, p.name) for p in update.placeholders] == [(INT, ""), (AGAIN, "id")]


def test_an_example_can_be_prepared(units):
    """A server takes a ? for a value, but none in a name."""
    [statement] = units[0].statements
    assert statement.example(units[0].named) == "SELECT c FROM sbtest1\n WHERE id = ?"


@pytest.mark.parametrize(
    ("text", "place", "what", "found"),
    [
        ("SELECT 1;\nSELECT 2;\nSELECT :int(1,2;", "3 (line 3)", "does not end", ":int(1,2;"),
        ("SELECT\n :foo(1);", "1 (line 2)", "unknown placeholder", ":foo(1);"),
        ("SELECT :int;", "1 (line 1)", "incomplete placeholder", ":int;"),
        ("SELECT :int(5,1);", "1 (line 1)", "wrong arguments", ":int(5,1)"),
        ("SELECT :int(0,4294967295);", "1 (line 1)", "wrong arguments", ":int(0,4294967295)"),
        ("SELECT 1; -- weight: 9\nSELECT 2;", "2 (line 1)", "wrong weight", "-- weight: 9"),
        ("SELECT 1;\n-- weight: 9\n", "2 (line 3)", "without a statement", "weight: 9"),
        ("SELECT :int(1,lines);", "1 (line 1)", "wrong arguments", ":int(1,lines)"),
        ("SELECT :choice(a,b);", "1 (line 1)", "wrong arguments", ":choice(a,b)"),
        ("SELECT :text(0);", "1 (line 1)", "wrong arguments", ":text(0)"),
        ("SELECT ':int(1,2)';", "1 (line 1)", "in quotes", "':int(1,2)'"),
        ("SELECT c FROM t:text(5);", "1 (line 1)", "wrong arguments", ":text(5)"),
        ("SELECT 1;\n\nSELECT ?;", "2 (line 3)", "a bare ?", "?"),
        ("SELECT 1;\nSELECT 'a;", "2 (line 2)", "text that does not end", "'a;"),
        ("SELECT 1;\nSELECT 2", "2 (line 2)", "does not end", "SELECT 2"),
        ("SELECT 1;\nCOMMIT;", "2 (line 2)", "COMMIT without BEGIN", "COMMIT"),
        ("BEGIN;\nSELECT 1;", "1 (line 1)", "without an end", "BEGIN"),
        ("BEGIN;\nBEGIN;", "2 (line 2)", "BEGIN in a transaction", "BEGIN"),
        ("BEGIN;\n-- weight: 2\nSELECT 1;", "2 (line 3)", "a weight in a transaction", "weight: 2"),
        ("-- weight: many\nSELECT 1;", "1 (line 1)", "a wrong weight", "-- weight: many"),
        ("SELECT :id=int(1,2);\nSELECT :id;", "2 (line 2)", "without a name", ":id"),
        ("SELECT :a=int(1,2), :a=int(1,3);", "1 (line 1)", "given twice", ":a"),
        ("SELECT 1 FROM t:int(1,2000);", "1 (line 1)", "too many values", "2000"),
        ("SELECT 1 FROM t:int(1,rows);", "1 (line 1)", "too many values", "as many as rows"),
        ("CALL p();", "1 (line 1)", "a call", "CALL p()"),
    ],
)
def test_a_mistake_is_one_message_with_its_place(text, place, what, found):
    """File, statement, line, what was found, and what is expected instead."""
    with pytest.raises(LabError) as caught:
        sql_file.parse(text, "q.sql")
    assert caught.value.what.startswith(f"q.sql, statement {place}: ")
    assert what in caught.value.what
    assert caught.value.found == found
    assert caught.value.expected


@pytest.mark.parametrize(("text", "found"), [("", "an empty"), ("-- x\n", "nothing but comments")])
def test_a_file_without_a_statement_is_refused(text, found):
    """It would be a load that does nothing."""
    with pytest.raises(LabError, match=r"q\.sql has no statement") as caught:
        sql_file.parse(text, "q.sql")
    assert found in caught.value.found


def test_what_is_no_placeholder_stays_as_it_is():
    """Assignments, times and hints keep their colons and comments."""
    text = "SELECT @a := 1, TIME'12:30:00' FROM t /*+ NO_ICP(t) */;"
    [unit] = sql_file.parse(text, "q.sql")
    assert unit.statements[0].pieces == (text[:-1],)
