"""Prompts from files that people have, and the refusal of what holds none."""

import json

import pytest

from specviz.commands.cli import main
from specviz.measure.prompt_files import by_category, category_of, read_prompts

SPEC_BENCH = [
    {"question_id": 81, "category": "writing", "turns": ["Compose a post.", "Rewrite it."]},
    {"question_id": 82, "category": "math", "turns": ["How fast\nis it?"], "reference": ["80"]},
]
HUMAN_EVAL = [{"task_id": "HumanEval/0", "prompt": "def f():\n", "canonical_solution": "  pass"}]
GSM8K = [{"question": "How many?", "answer": "Four. #### 4"}]
SHARE_GPT = [
    {"id": "a", "conversations": [{"from": "gpt", "value": "Hi"}, {"from": "human", "value": "Q"}]},
    {"id": "b", "conversations": []},
]
CHAT = [{"messages": [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Q"}]}]
ALPACA = [
    {"instruction": "Add.", "input": "1 and 2", "output": "3"},
    {"instruction": "Sing.", "input": "", "output": "La"},
]


def write(path, records):
    if path.suffix == ".jsonl":
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
        path.write_text("".join(lines), encoding="utf-8")
    else:
        path.write_text(json.dumps(records, indent=1))
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt"])
@pytest.mark.parametrize(
    ("records", "prompts"),
    [
        (SPEC_BENCH, ["Compose a post.", "How fast\nis it?"]),
        (HUMAN_EVAL, ["def f():\n"]),
        (GSM8K, ["How many?"]),
        (SHARE_GPT, ["Q"]),
        (CHAT, ["Q"]),
        (ALPACA, ["Add.\n\n1 and 2", "Sing."]),
        ([{"prompt": ["first", "second"], "category": "math"}], ["first"]),
        ([{"conversation": [{"role": "user", "content": "Q\u2028R"}]}], ["Q\u2028R"]),
        (["one", "two\nlines"], ["one", "two\nlines"]),
    ],
)
def test_forms_of_records(tmp_path, name, records, prompts):
    assert read_prompts(write(tmp_path / name, records)) == prompts


def test_categories_come_with_their_prompts(tmp_path):
    prompts = read_prompts(write(tmp_path / "q.jsonl", SPEC_BENCH))
    assert [category_of(prompt) for prompt in prompts] == ["writing", "math"]
    assert by_category(prompts) == {"writing": [0], "math": [1]}
    assert by_category(["a", "b"]) == {}


def test_plain_text_tables_and_named_entries(tmp_path):
    text = tmp_path / "p.txt"
    text.write_text("[INST] one\n\ntwo\n")
    assert read_prompts(text) == ["[INST] one", "two"]
    table = tmp_path / "p.csv"
    table.write_text('id,ask,category\n1,"a, b",x\n2,"two\nlines",y\n')
    assert read_prompts(table, "ask") == ["a, b", "two\nlines"]
    assert category_of(read_prompts(table, "ask")[1]) == "y"
    own = write(tmp_path / "own.jsonl", [{"ask": "Q", "answer": "A"}])
    assert read_prompts(own, "ask") == ["Q"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", '{"answer": "42"}\n', "record 1, must have one of turns"),
        ("a.jsonl", '{"turns": ["a"]}\n{"turns": [\n', "line 2"),
        ("a.txt", '{"turns": ["a"]}\nand text\n', "line 2"),
        ("a.json", "[1, 2]", "be a text or an object"),
        ("a.json", '{"a": 1}', "entries a"),
        ("a.json", "[]", "at least one prompt"),
        ("a.jsonl", '{"prompt": ["ids", 1]}', "be a text that is not empty"),
        ("a.csv", "id,ask\n1,b\n", "column"),
        ("a.csv", 'id,prompt\n1,"cut', "be a table that can be read"),
        ("a.csv", "", "at least one prompt"),
        ("a.txt", "a\0b", "binary"),
        ("a.txt", " \n", "at least one prompt"),
    ],
)
def test_what_holds_no_prompt_is_refused(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ValueError, match="--prompts") as failed:
        read_prompts(path)
    assert words in str(failed.value)


def test_a_table_with_a_long_prompt_and_a_file_of_powershell(tmp_path):
    table = tmp_path / "p.csv"
    table.write_text(f"prompt\n{'x' * 200_000}\n")
    assert len(read_prompts(table)[0]) == 200_000
    text = tmp_path / "p.txt"
    text.write_text("one\ntwo\n", encoding="utf-16")
    assert read_prompts(text) == ["one", "two"]


def test_a_column_without_a_file_is_refused(capsys):
    assert main(["bench", "--column", "ask"]) == 2
    assert "--column is not used without --prompts" in capsys.readouterr().err


def test_categories_have_rows_in_tables(tmp_path, capsys):
    path = write(tmp_path / "q.jsonl", SPEC_BENCH)
    arguments = ["--prompts", str(path), "--temperature", "0.8"]
    shape = ["--builder", "chain:depth=2", "--max-new-tokens", "8"]
    assert main(["bench", *arguments, *shape]) == 0
    table = capsys.readouterr().out
    assert "  writing" in table and "  math" in table
    rules = ["--verifier", "sequoia", "--positions", "120", "--no-costs"]
    assert main(["calibrate", *arguments, *rules]) == 0
    table = capsys.readouterr().out
    assert "  writing" in table and "  math" in table
