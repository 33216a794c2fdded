"""Chats: by the template of the target's tokenizer, to the end of the assistant's turn."""

import pytest
from tokenizers import AddedToken

import specviz
from specviz.commands.cli import main
from specviz.measure.texts import continuations
from specviz.models.text import TokenText
from tests.models.test_pair import byte_level, save

pytestmark = pytest.mark.adapter
TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|stop|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
CHAT = [{"role": "user", "content": "the cat"}]


def tokenizer(template=TEMPLATE):
    """A tokenizer of bytes with the tokens and the template of a chat model."""
    made = byte_level()
    special = [AddedToken(name, special=True) for name in ("<|start|>", "<|stop|>")]
    made.add_special_tokens({"additional_special_tokens": special})
    made.chat_template = template
    return made


@pytest.fixture
def folder(tmp_path):
    return save(tmp_path / "model", tokenizer=tokenizer(), max_position_embeddings=128)


def test_messages_are_read_as_the_template_of_transformers_writes_them(folder):
    pair = specviz.load_pair(folder, "early-exit:1", device="cpu", dtype="float32")
    ids = pair.text.tokenizer.apply_chat_template(CHAT, add_generation_prompt=True)
    options = dict(builder="chain", temperature=0, max_new_tokens=12)
    runs = [
        specviz.run(pair, specviz.RunConfig(prompt, **options))
        for prompt in (CHAT, ids, ids["input_ids"])
    ]
    assert all(run.prompt_tokens == tuple(ids["input_ids"]) for run in runs)
    assert runs[0].tokens == runs[1].tokens == runs[2].tokens
    assert runs[0].prompt_text == "the cat\n\n"
    again = specviz.Trace.from_json(runs[0].to_json())
    assert again.config == runs[0].config
    assert specviz.run(pair, again.config).tokens == runs[0].tokens


def test_the_end_of_the_turn_ends_a_text(folder):
    pair = specviz.load_pair(folder, device="cpu", dtype="float32")
    stop = pair.text.tokenizer.convert_tokens_to_ids("<|stop|>")
    assert pair.is_chat and pair.eos_ids == {0, stop}
    plain = TokenText(byte_level())
    assert not plain.is_chat and plain.end_of_turn() is None


def test_a_last_message_of_the_assistant_is_continued(folder):
    pair = specviz.load_pair(folder, device="cpu", dtype="float32")
    begun = [*CHAT, {"role": "assistant", "content": "sat"}]
    prompt = specviz.RunConfig(begun).prompt
    assert pair.text.tokenizer.decode(pair.encode(prompt)).endswith("<|start|>assistant\nsat")


@pytest.mark.parametrize("template", [None, "{{ raise_exception('roles must alternate') }}", "{{"])
def test_a_template_that_is_missing_or_refuses_is_said(template):
    text = TokenText(tokenizer(template))
    with pytest.raises(ValueError, match=r"^prompt must "):
        text.encode(specviz.RunConfig(CHAT).prompt)
    assert text.end_of_turn() is None


def test_a_chat_model_is_asked_unless_the_command_line_says_otherwise(folder, capsys):
    arguments = ["generate", "--prompt", "the cat", "--target", folder, "--builder", "plain"]
    arguments += ["--max-new-tokens", "2", "--json", "--dtype", "float32", "--device", "cpu"]
    prompts = {}
    for options in ((), ("--chat",), ("--no-chat",)):
        assert main([*arguments, *options]) == 0
        printed = capsys.readouterr()
        assert ("is a chat model" in printed.err) == (not options)
        prompts[options] = specviz.Trace.from_json(printed.out).config.prompt
    assert prompts[()] == prompts["--chat",] == specviz.RunConfig(CHAT).prompt
    assert prompts["--no-chat",] == "the cat"


def test_a_pair_that_is_loaded_for_chats_asks_texts(folder):
    options = dict(device="cpu", dtype="float32")
    asks = specviz.load_pair(folder, "early-exit:1", chat=None, **options)
    continues = specviz.load_pair(folder, "early-exit:1", **options)
    assert asks.chat and not continues.chat
    config = specviz.RunConfig("the cat", builder="chain", max_new_tokens=4)
    chat = specviz.run(continues, specviz.RunConfig(CHAT, builder="chain", max_new_tokens=4))
    assert specviz.run(asks, config).prompt_tokens == chat.prompt_tokens
    assert specviz.run(asks, config).tokens == chat.tokens
    [text] = continuations(asks, ["the cat"], config)
    assert text.tokens[: text.start] == chat.prompt_tokens
    plain = save(folder + "-plain")
    assert not specviz.load_pair(plain, chat=None, **options).chat
    with pytest.raises(ValueError, match="without a chat template"):
        specviz.load_pair(plain, chat=True, **options)
