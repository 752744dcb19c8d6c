import h5py
import numpy as np
import pytest
from in_process import run
from small_files import document, write_json

from cooperation.cli import main
from cooperation.config.preparation import Encoding
from cooperation.data.encoding import encode
from cooperation.data.readers.visdial import read_visdial
from cooperation.data.store import read_dialogs, read_vocabulary
from cooperation.data.tokeniser import tokenise, tokenise_question
from cooperation.io.files import InputError
from cooperation.io.hdf5 import read_attributes


def both(tmp_path, train=None, val=None):
    train = train or document("train", (7, 3))
    val = val or document("val", (5,))
    paths = {"train": write_json(tmp_path / "t.json", train), "val": write_json(tmp_path / "v.json", val)}
    return {split: read_visdial(path, split) for split, path in paths.items()}


def test_ids_decode_to_the_texts(tmp_path):
    splits = both(tmp_path)
    vocabulary, dialogs, _ = encode(splits, Encoding(threshold=1))
    for split, visdial in splits.items():
        found = dialogs[split]
        assert found.image_ids.tolist() == visdial.image_ids.tolist()
        for row, caption in enumerate(visdial.captions):
            assert vocabulary.decode(found.captions.tokens[row]).split() == tokenise(caption)
            for turn in range(10):
                question = visdial.questions[visdial.question_rows[row, turn]]
                answer = visdial.answers[visdial.answer_rows[row, turn]]
                assert vocabulary.decode(found.questions.tokens[row, turn]).split() == tokenise_question(question)
                assert vocabulary.decode(found.answers.tokens[row, turn]).split() == tokenise(answer)


def test_words_are_counted_where_they_are_said_in_train(tmp_path):
    # Of two dialogs: "smiling" and "shirt" are asked 3 times in each, "a" is said twice in each caption.
    words = set(encode(both(tmp_path), Encoding(threshold=6))[0].words)
    assert {"smiling", "shirt", "?"} <= words
    assert not {"a", "horse", "option"} & words
    assert "a" in encode(both(tmp_path), Encoding(threshold=4))[0].words
    assert "horse" not in encode(both(tmp_path), Encoding(threshold=3))[0].words
    # "man" is in two captions and in a question that is asked six times.
    assert "horse" in encode(both(tmp_path), Encoding(threshold=2))[0].words


def test_words_of_val_count_only_with_the_switch(tmp_path):
    val = document("val", (5,))
    val["data"]["dialogs"][0]["caption"] = "zebra zebra zebra"
    splits = both(tmp_path, val=val)
    vocabulary, dialogs, counts = encode(splits, Encoding(threshold=3))
    assert "zebra" not in vocabulary.words
    assert dialogs["val"].captions.lists() == [[vocabulary.ids["UNK"]] * 3]
    assert counts["val_unknown_tokens"] >= 3
    assert "zebra" in encode(splits, Encoding(threshold=3, count_words_in="train+val"))[0].words


def test_words_of_captions_may_be_left_out_of_the_count(tmp_path):
    splits = both(tmp_path)
    vocabulary, dialogs, counts = encode(splits, Encoding(threshold=2, count_captions=False))
    # "horse" is in captions alone; "man" is in a question that is asked six times, too.
    assert "horse" not in vocabulary.words
    assert "man" in vocabulary.words
    assert counts["count_captions"] is False
    assert (dialogs["train"].captions.tokens == vocabulary.ids["UNK"]).any()


@pytest.mark.parametrize(("given", "kept"), [("true", True), ("False", False), ("FALSE", False)])
def test_the_flag_says_true_or_false(tmp_path, monkeypatch, given, kept):
    train, val = write_json(tmp_path / "t.json", document()), write_json(tmp_path / "v.json", document("val", (5,)))
    words = ["encode", "visdial", "--train", train, "--val", val, "--threshold", 2, "--count-captions", given]
    run(monkeypatch, *words, "--out", tmp_path / "dialogs.h5")
    assert bool(read_attributes(tmp_path / "dialogs.h5")["count_captions"]) is kept
    assert ("horse" in read_vocabulary(tmp_path / "dialogs.h5").words) is kept
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, *words[:-1], "perhaps", "--out", tmp_path / "other.h5")


@pytest.mark.parametrize(("said", "kept"), [(19, 20), (20, 20), (30, 20)])
def test_texts_are_cut_and_counted(tmp_path, said, kept):
    train = document("train", (7,))
    train["data"]["questions"][0] = " ".join(["long"] * said)
    splits = both(tmp_path, train)
    vocabulary, dialogs, counts = encode(splits, Encoding(threshold=1))
    first = dialogs["train"].questions[0, 0]
    assert first.lengths == kept
    # The question mark is the last token, so it goes first.
    assert (first.tokens[kept - 1] == vocabulary.ids["?"]) == (said < 20)
    # Question 0 is asked in rounds 1, 4, 7 and 10.
    assert counts["train_cut_questions"] == (4 if said >= 20 else 0)
    assert counts["train_cut_answers"] == counts["val_cut_questions"] == 0


def test_an_empty_answer_is_an_empty_message_and_counted(tmp_path, monkeypatch, capsys):
    train = document("train", (7, 3))
    train["data"]["answers"][2] = "  "
    both(tmp_path, train)
    files = {"--train": "t.json", "--val": "v.json", "--out": "d.h5"}
    words = [word for flag, name in files.items() for word in (flag, str(tmp_path / name))]
    monkeypatch.setattr("sys.argv", ["cooperation", "encode", "visdial", *words, "--threshold", "1"])
    main()
    # Answer 2 is given in rounds 3 and 8 of both dialogs.
    found = read_dialogs(tmp_path / "d.h5", "train").answers
    assert (found.lengths == 0).nonzero()[1].tolist() == [2, 7, 2, 7]
    assert found.tokens[found.lengths == 0].max() == 0
    with h5py.File(tmp_path / "d.h5") as file:
        assert (file.attrs["train_empty_answers"], file.attrs["val_empty_answers"]) == (4, 0)
    assert "4 answers empty" in capsys.readouterr().out.splitlines()[0]


def test_shares_of_yes_and_no(tmp_path):
    # The answers are yes, no, he's not, "Yes, it is", can't tell, twice.
    counts = encode(both(tmp_path), Encoding())[2]
    assert counts["train_exactly_yes_no"] == pytest.approx(0.4)
    assert counts["val_beginning_yes_no"] == pytest.approx(0.6)


def test_an_answer_that_begins_with_the_letters_of_no_is_not_no(tmp_path):
    train = document("train", (7,))
    train["data"]["answers"][:5] = ["none", "not really", "yesterday", "No.", "yes"]
    counts = encode(both(tmp_path, train), Encoding())[2]
    assert counts["train_exactly_yes_no"] == pytest.approx(0.2)
    assert counts["train_beginning_yes_no"] == pytest.approx(0.4)


def test_mean_lengths(tmp_path):
    counts = encode(both(tmp_path), Encoding())[2]
    assert counts["train_mean_length_captions"] == 5
    # "is it red ?" 4, four times, "what color is the man 's shirt ?" 8, "is he smiling ?" 4, three times each.
    assert counts["train_mean_length_questions"] == pytest.approx((4 * 4 + 8 * 3 + 4 * 3) / 10)


def test_command(tmp_path, monkeypatch, capsys):
    train, val = write_json(tmp_path / "t.json", document()), write_json(tmp_path / "v.json", document("val", (5,)))
    out = tmp_path / "new" / "dialogs.h5"
    run(monkeypatch, "encode", "visdial", "--train", train, "--val", val, "--out", out, "--threshold", 2)
    assert read_dialogs(out, "train").image_ids.tolist() == [7, 3]
    assert read_dialogs(out, "val").questions.lengths.shape == (1, 10)
    assert "smiling" in read_vocabulary(out).words
    assert "train: 2 dialogs read, 2 kept, 0 refused" in capsys.readouterr().out
    stored = read_attributes(out)
    assert stored["train_read"] == stored["train_kept"] == 2
    assert stored["train_refused"] == 0
    assert stored["threshold"] == 2
    assert stored["count_words_in"] == "train"
    assert np.isclose(stored["train_exactly_yes_no"], 0.4)


@pytest.mark.parametrize("name", ["threshold", "question_length", "answer_length", "caption_length"])
def test_impossible_settings(name):
    with pytest.raises(InputError, match=f"{name}: 0 is too small; choose at least 1"):
        Encoding(**{name: 0})


def test_a_threshold_that_no_word_reaches_is_refused(tmp_path, monkeypatch, capsys):
    train, val = write_json(tmp_path / "t.json", document()), write_json(tmp_path / "v.json", document("val", (5,)))
    out = tmp_path / "d.h5"
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "encode", "visdial", "--train", train, "--val", val, "--out", out, "--threshold", 100_000)
    assert caught.value.code == 2
    assert "threshold: no word is seen 100,000 times; choose a smaller one" in capsys.readouterr().err
    assert not out.exists()


def test_dialogs_left_out_are_counted_in_the_file(tmp_path, monkeypatch, capsys):
    short = document("train", (7, 3))
    del short["data"]["dialogs"][0]["dialog"][6:]
    train, val = write_json(tmp_path / "t.json", short), write_json(tmp_path / "v.json", document("val", (5,)))
    out = tmp_path / "d.h5"
    run(monkeypatch, "encode", "visdial", "--train", train, "--val", val, "--out", out, "--cut-short", "leave-out")
    assert "train: 2 dialogs read, 1 kept, 1 refused" in capsys.readouterr().out
    with h5py.File(tmp_path / "d.h5") as file:
        assert [file.attrs[f"train_{name}"] for name in ("read", "kept", "refused")] == [2, 1, 1]
        assert file["image_id_train"][:].tolist() == [3]


def test_bad_input_is_one_line_and_no_file(tmp_path, monkeypatch, capsys):
    good, out = write_json(tmp_path / "t.json", document()), tmp_path / "dialogs.h5"
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "encode", "visdial", "--train", good, "--val", good, "--out", out)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(f"cooperation encode: {good}: 'split' is 'train', not val")
    assert list(tmp_path.iterdir()) == [good]
