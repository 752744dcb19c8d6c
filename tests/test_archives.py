import io
import zipfile

import pytest
from small_files import album, jpeg, picture, write_zip

from cooperation.data.archives import find_pictures, picture_names, read_json_text, read_member
from cooperation.io.files import InputError


@pytest.fixture
def zipped(tmp_path):
    return album(tmp_path / "train2014.zip", {30: b"thirty" * 99, 7: b"seven", 200: jpeg(picture())})


def test_pictures_by_id_in_order(zipped):
    assert picture_names(zipped) == {number: f"train2014/COCO_train2014_{number:012d}.jpg" for number in (7, 30, 200)}
    assert list(picture_names(zipped)) == [7, 30, 200]
    assert read_member(zipped, picture_names(zipped)[30]) == b"thirty" * 99


def test_an_unpacked_folder_is_as_good(zipped, tmp_path):
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(tmp_path / "coco")
    assert picture_names(tmp_path / "coco") == picture_names(zipped)
    assert read_member(tmp_path / "coco", picture_names(zipped)[7]) == b"seven"


def test_other_files_and_other_names_of_pictures(tmp_path):
    path = write_zip(
        tmp_path / "a.zip", {"a/": b"", "a/readme.txt": b"x", "a/VisualDialog_val2018_000000000042.JPG": b"j"}
    )
    assert picture_names(path) == {42: "a/VisualDialog_val2018_000000000042.JPG"}


@pytest.mark.parametrize("name", ["../x_1.jpg", "a/../../x_1.jpg", "/etc/x_1.jpg", "..\\x_1.jpg", "C:\\x_1.jpg"])
def test_names_that_lead_out_are_refused(tmp_path, name):
    path = write_zip(tmp_path / "a.zip", {"ok_2.jpg": b"", name: b""})
    with pytest.raises(InputError, match=r"a\.zip: its member .* points outside"):
        picture_names(path)
    path = write_zip(tmp_path / "b.zip", {"ok.json": b"{}", name: b""})
    with pytest.raises(InputError, match=r"b\.zip: its member .* points outside"):
        read_json_text(path)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"a/x_7.jpg": b"", "b/y_007.jpg": b""}, "image 7 is there twice, a/x_7.jpg and b/y_007.jpg"),
        ({"a/beach.jpg": b""}, "a/beach.jpg carries no image id"),
        ({"a/readme.txt": b""}, "holds no pictures"),
    ],
)
def test_unusable_names(tmp_path, members, words):
    with pytest.raises(InputError, match=words):
        picture_names(write_zip(tmp_path / "a.zip", members))


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.99])
def test_an_archive_cut_short_is_named(zipped, share):
    whole = zipped.read_bytes()
    zipped.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"train2014\.zip: damaged or cut short .*; delete it and download it again"):
        picture_names(zipped)


def test_a_damaged_member_is_named(zipped):
    whole = bytearray(zipped.read_bytes())
    at = whole.index(b"000000000030.jpg") + len(b"000000000030.jpg") + 3
    whole[at] ^= 0xFF
    zipped.write_bytes(whole)
    names = picture_names(zipped)
    with pytest.raises(InputError, match=r"train2014\.zip, train2014/COCO_train2014_000000000030\.jpg: damaged"):
        read_member(zipped, names[30])
    assert read_member(zipped, names[7]) == b"seven"


@pytest.mark.parametrize("read", [picture_names, read_json_text])
def test_a_missing_file_is_named(tmp_path, read):
    with pytest.raises(InputError, match=r"none\.zip: no such file; download it"):
        read(tmp_path / "none.zip")


@pytest.mark.parametrize("count", [0, 2])
def test_a_zip_with_no_or_two_json_files(tmp_path, count):
    path = write_zip(tmp_path / "v.zip", {f"{number}.json": b"{}" for number in range(count)} | {"x": b""})
    with pytest.raises(InputError, match=f"holds {count} .json files instead of one"):
        read_json_text(path)


def test_an_encrypted_archive_is_named(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("v.json", b"{}")
    raw = bytearray(buffer.getvalue())
    # The flag "encrypted" of the local header and of the directory's entry.
    raw[6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "v.zip").write_bytes(raw)
    with pytest.raises(InputError, match=r"v\.zip, v\.json: .*encrypted"):
        read_json_text(tmp_path / "v.zip")


def test_pictures_of_several_archives_and_folders(tmp_path):
    first = album(tmp_path / "a.zip", {30: b"thirty", 7: b"seven"})
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "x_000000000009.jpg").write_bytes(b"nine")
    found = find_pictures([first, folder])
    assert list(found) == [7, 30, 9]
    assert {image: each.read() for image, each in found.items()} == {7: b"seven", 30: b"thirty", 9: b"nine"}
    again = album(tmp_path / "b.zip", {30: b"x"})
    with pytest.raises(InputError, match=r"b\.zip: image 30 is in .*a\.zip already; give each picture once"):
        find_pictures([first, folder, again])
