"""Are pictures of all kinds read, written next to the original, and nonsense refused?"""

import os
import re
import struct
import threading
import zlib

import numpy as np
import pytest
from images import random_image
from PIL import Image
from pydantic import ValidationError

import societies
from societies.errors import OutputError, SocietiesWarning
from societies.output.inspection import configuration
from societies.physics.blur import WORKLOAD
from societies.physics.blur.config import BlurConfig
from societies.physics.pictures import picture_in

COLOURS = np.moveaxis(random_image(20, 14, 3)[0], 0, 2)
GREY = COLOURS[..., 0]


def config_of(**settings):
    return BlurConfig(workload="blur", **settings)


def run(folder, device="reference", **settings):
    """Blur a picture and return the one that was written."""
    report = societies.run(config_of(**settings), device=device, out=folder / "run.h5")
    return dict(report.rows)["picture"]


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.bmp", "a.webp", "a.jpg", "a.gif"])
def test_the_picture_stands_next_to_the_original(tmp_path, name):
    options = {"lossless": True} if name.endswith("webp") else {}
    Image.fromarray(COLOURS).save(tmp_path / name, **options)
    before = (tmp_path / name).read_bytes()
    stem, _, ending = name.rpartition(".")
    blurred_file = tmp_path / f"{stem}-blurred.{ending}"
    assert run(tmp_path, image=str(tmp_path / name)) == str(blurred_file)
    assert (tmp_path / name).read_bytes() == before
    with Image.open(tmp_path / name) as old, Image.open(blurred_file) as new:
        assert new.size == old.size and new.format == old.format
        pixels = np.asarray(new.convert("RGB")).astype(int)
        # what was read, of which every channel was blurred
        planes = picture_in(str(tmp_path / name), every_frame=False).planes[0].astype(float)
    inner = (
        planes[:, 1:-1, 2:] + planes[:, 1:-1, :-2] + planes[:, :-2, 1:-1] + planes[:, 2:, 1:-1]
    ) / 4
    lossy = 60 if name.endswith(("jpg", "gif")) else 0.51
    assert abs(np.moveaxis(pixels, 2, 0)[:, 1:-1, 1:-1] - inner).max() <= lossy
    again = societies.run(
        config_of(image=str(tmp_path / name)), device="reference", out=tmp_path / "2.h5"
    )
    assert again.last_tick == 1


def test_a_saved_configuration_of_a_picture_runs_and_continues_elsewhere(tmp_path, monkeypatch):
    """Its own default of the width was refused, and its path led from the former folder."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    Image.fromarray(COLOURS).save("a.png")
    made = societies.run(config_of(image="a.png"), device="reference", out="run.h5")
    text = configuration("run.h5")
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "saved.yaml").write_text(text)
    config = societies.load_config("saved.yaml")
    assert config.image == str(tmp_path / "a.png")
    again = societies.run(config, device="reference", out="again.h5")
    assert again.state_sha256 == made.state_sha256
    on = {"device": "reference", "out": tmp_path / "run.h5", "resume": True}
    assert societies.run(config, **on).state_sha256 == made.state_sha256
    Image.fromarray(COLOURS[:, ::-1]).save("a.png")  # another file of this name
    with pytest.raises(OutputError, match="another file for image"):
        societies.run(config.model_copy(update={"image": "a.png"}), **on)
    Image.fromarray(COLOURS).save("b.png")
    with pytest.raises(OutputError, match=r"another configuration: image is a\.png"):
        societies.run(config.model_copy(update={"image": "b.png"}), **on)


def test_grey_stays_grey_and_opacity_as_it_is(tmp_path):
    Image.fromarray(GREY).save(tmp_path / "grey.png")
    alpha = random_image(20, 14, seed=9)[0, 0]
    Image.fromarray(np.dstack([COLOURS, alpha])).save(tmp_path / "alpha.png")
    with Image.open(run(tmp_path, image=str(tmp_path / "grey.png"))) as found:
        assert found.mode == "L"
    (tmp_path / "run.h5").unlink()
    with Image.open(run(tmp_path, image=str(tmp_path / "alpha.png"))) as found:
        assert found.mode == "RGBA"
        assert (np.asarray(found)[..., 3] == alpha).all()
        assert (np.asarray(found)[..., :3] != COLOURS).any()


def test_palettes_orientation_and_deep_pictures(tmp_path):
    few = Image.fromarray(COLOURS).quantize(7)
    few.save(tmp_path / "palette.png")
    expected = np.moveaxis(np.asarray(few.convert("RGB")), 2, 0)
    assert (picture_in(tmp_path / "palette.png", every_frame=False).planes[0] == expected).all()
    Image.fromarray(COLOURS).convert("CMYK").save(tmp_path / "cmyk.tif")
    assert picture_in(tmp_path / "cmyk.tif", every_frame=False).planes.shape == (1, 3, 14, 20)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned right by a quarter
    Image.fromarray(GREY).save(tmp_path / "turned.png", exif=exif)
    found = picture_in(tmp_path / "turned.png", every_frame=False).planes[0, 0]
    assert (found == np.rot90(GREY, -1)).all()
    deep = GREY.astype(np.uint16) * 257
    Image.fromarray(deep).save(tmp_path / "deep.png")
    picture = picture_in(tmp_path / "deep.png", every_frame=False)
    assert picture.lost and (picture.planes[0, 0] == GREY).all()
    (warning,) = config_of(image=str(tmp_path / "deep.png")).warnings()
    assert "more than 8 bits a channel; it is read as 8 bits" in warning.message


@pytest.mark.parametrize(("kind", "channels"), [(2, 3), (4, 2), (6, 4)])
def test_deep_colours_are_reported(kind, channels, tmp_path):
    """Pillow reads the upper 8 of their 16 bits, and writes no such picture; so it is made here."""
    values = (1000 * np.arange(6 * channels)).astype(">u2").reshape(2, 3 * channels)
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    about = struct.pack(">IIBBBBB", 3, 2, 16, kind, 0, 0, 0)
    content = b"\x89PNG\r\n\x1a\n"
    for name, data in ((b"IHDR", about), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        check = zlib.crc32(name + data)
        content += struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
    (tmp_path / "deep.png").write_bytes(content)
    picture = picture_in(tmp_path / "deep.png", every_frame=False)
    upper = np.moveaxis((values >> 8).astype(np.uint8).reshape(2, 3, channels), 2, 0)
    assert picture.lost
    if channels == 3:  # no opacity, in which colours are weighed
        assert (picture.planes[0] == upper).all()
    (warning,) = config_of(image=str(tmp_path / "deep.png")).warnings()
    assert "more than 8 bits a channel; it is read as 8 bits" in warning.message


def warned(path):
    """Return what is said of a picture."""
    (warning,) = config_of(image=str(path)).warnings()
    return warning.message


@pytest.mark.parametrize("name", ["real.tif", "real.pfm"])
@pytest.mark.parametrize("white", [1.0, 255.0])
def test_pictures_of_real_numbers_are_reported(tmp_path, name, white):
    """They were made bytes without a word."""
    values = np.array([[0.0, 0.25, 1.0], [0.5, 0.125, 0.75]], np.float32) * np.float32(white)
    if name.endswith("pfm"):
        header = b"Pf\n3 2\n-1.0\n"
        (tmp_path / name).write_bytes(header + values[::-1].astype("<f4").tobytes())
    else:
        Image.fromarray(values).save(tmp_path / name)
    assert f"{name} has numbers with fractions; it is read as 8 bits" in warned(tmp_path / name)
    found = picture_in(tmp_path / name, every_frame=False).planes[0, 0]
    assert (found == np.rint(values / white * 255)).all()


def test_a_kind_in_which_no_frames_are_looked_for(tmp_path):
    """SPIDER: its one picture was refused as frames of several sizes."""
    values = np.linspace(0.0, 200.0, 14 * 20).reshape(14, 20).astype(np.float32)
    Image.fromarray(values).save(tmp_path / "a.spi", format="SPIDER")
    for every_frame in (False, True):
        found = picture_in(tmp_path / "a.spi", every_frame=every_frame)
        assert (found.planes == np.rint(values)).all() and found.planes.shape == (1, 1, 14, 20)
        assert found.lost and not found.metadata.durations
    with pytest.warns(SocietiesWarning, match="numbers with fractions"):
        written = run(tmp_path, image=str(tmp_path / "a.spi"))
    assert written == str(tmp_path / "a-blurred.spi.png")


def test_real_numbers_that_are_none_are_refused(tmp_path):
    """Which byte such a number becomes is left to the machine."""
    Image.fromarray(np.array([[0.5, np.nan]], np.float32)).save(tmp_path / "nan.tif")
    with pytest.raises(ValidationError, match="cannot be read: some of its pixels are no"):
        config_of(image=str(tmp_path / "nan.tif"))


def test_of_large_whole_numbers_the_highest_bits_are_read(tmp_path):
    """Whatever the picture shows: they were scaled by the largest of them."""
    values = np.array([[0, 1 << 28, (1 << 31) - 1], [-5, 255, 1 << 23]], np.int32)
    Image.fromarray(values).save(tmp_path / "whole.tif")
    assert "more than 8 bits a channel; it is read as 8 bits" in warned(tmp_path / "whole.tif")
    found = picture_in(tmp_path / "whole.tif", every_frame=False).planes[0, 0]
    assert found.tolist() == [[0, 32, 255], [0, 0, 1]]


@pytest.mark.parametrize("form", ["P6", "P3"])
@pytest.mark.parametrize("most", [255, 65535])
def test_a_ppm_of_many_bits_is_reported(tmp_path, form, most):
    values = np.arange(18).reshape(2, 9) * (most // 17)
    binary = values.astype(np.uint8 if most == 255 else ">u2").tobytes()
    text = " ".join(map(str, values.ravel())).encode()
    header = f"{form} 3 2 {most}\n".encode()
    (tmp_path / "a.ppm").write_bytes(header + (binary if form == "P6" else text))
    picture = picture_in(tmp_path / "a.ppm", every_frame=False)
    expected = np.moveaxis((values // (most // 255)).reshape(2, 3, 3), 2, 0)
    assert (picture.planes[0] == expected).all()
    messages = [one.message for one in config_of(image=str(tmp_path / "a.ppm")).warnings()]
    assert len(messages) == (most > 255) and all(
        "more than 8 bits a channel" in one for one in messages
    )


def test_frames_of_an_animation(tmp_path):
    frames = [Image.fromarray(np.full((9, 12), 40 * i, np.uint8)) for i in range(1, 5)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:], duration=70)
    one = config_of(image=str(tmp_path / "a.gif"))
    every = config_of(image=str(tmp_path / "a.gif"), frames="all")
    assert (WORKLOAD.count(one), WORKLOAD.count(every)) == (1, 4)
    societies.run(every, device="auto", out=tmp_path / "a.h5")
    with Image.open(tmp_path / "a-blurred.gif") as found:
        assert found.n_frames == 4 and found.info["duration"] == 70
        found.seek(2)
        assert abs(np.asarray(found.convert("L")).astype(int) - 120).max() <= 1


def five_frames(folder):
    """Return the configuration of an animation of five frames that differ in one pixel."""
    frames = np.full((5, 9, 12), 40, np.uint8)
    frames[range(5), 4, range(3, 8)] = 255
    first, *more = map(Image.fromarray, frames)
    first.save(folder / "a.png", save_all=True, append_images=more)
    return config_of(image=str(folder / "a.png"), frames="all", passes=2)


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("batch", [1, 2, 4])
def test_frames_in_batches_are_those_at_once(tmp_path, device, batch):
    """Every batch began with all frames, and there was no room for them."""
    config = five_frames(tmp_path)
    written = {}
    for many in (5, batch):
        report = societies.run(config, device=device, out=tmp_path / f"{many}.h5", batch=many)
        written[many] = report.state_sha256, (tmp_path / "a-blurred.png").read_bytes()
    assert written[batch] == written[5]


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_other_numbers_of_frames_are_measured(tmp_path, device):
    """The first frames, up to a number; there was an error of NumPy."""
    config = five_frames(tmp_path)
    asked = {"device": device, "copies": [1, 3, 5, 8], "repeats": 1}
    for one, copies in zip(societies.bench(config, **asked), asked["copies"], strict=True):
        assert one.copies == copies
        assert one.work_per_second * one.seconds == pytest.approx(9 * 12 * copies * 2)
    (one,) = societies.bench(config, device=device, repeats=1)
    assert one.copies == 5


def test_other_files_are_refused(tmp_path):
    def refused(message, name, **settings):
        with pytest.raises(ValidationError, match=re.escape(message)):
            config_of(image=str(tmp_path / name), **settings)

    Image.fromarray(COLOURS).save(tmp_path / "a.png")
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "text.png").write_text("no picture")
    refused("cut.png cannot be read", "cut.png")
    refused("empty.png is not a picture", "empty.png")
    refused("text.png is not a picture", "text.png")
    refused("No such file", "nowhere.png")
    refused(f"{tmp_path} cannot be read: Is a directory", ".")  # without Python's [Errno 21]
    Image.new("L", (8, 8)).save(tmp_path / "program.eps")  # Pillow would start Ghostscript
    refused("of an unknown kind", "program.eps")
    refused("width: of the test picture", "a.png", width=3)
    refused("is the picture that is blurred", "a.png", out=str(tmp_path / "a.png"))
    refused("there is no folder", "a.png", out=str(tmp_path / "none" / "a.png"))
    refused("does not end in one of .png", "a.png", out=str(tmp_path / "a.txt"))


def test_a_picture_of_a_thousand_million_pixels_is_refused(tmp_path):
    """Its header claims it; nothing of that size is allocated."""
    header = bytearray(b"P5 40000 25000 255\n")
    (tmp_path / "large.pgm").write_bytes(bytes(header) + b"\0" * 64)
    with pytest.raises(ValidationError, match=r"large.pgm has more than [\d,]+ pixels"):
        config_of(image=str(tmp_path / "large.pgm"))


def test_a_pipe_is_no_picture(tmp_path):
    """Opening it for reading waits until a writer opens it."""
    os.mkfifo(tmp_path / "pipe.png")
    flags = os.O_RDWR | os.O_NONBLOCK
    wake = threading.Timer(20, lambda: os.close(os.open(tmp_path / "pipe.png", flags)))
    wake.start()
    try:
        with pytest.raises(ValidationError, match="is a pipe, not a file"):
            config_of(image=str(tmp_path / "pipe.png"))
    finally:
        wake.cancel()


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.ppm", "a-blurred.ppm.png"),
        ("a.tga", "a-blurred.tga.png"),
        ("a", "a-blurred.picture.png"),
    ],
)
def test_kinds_that_are_not_written_become_png(tmp_path, name, written):
    """Of a name of its own: a-blurred.png is that of a.png, which stays as it is."""
    kind = "TGA" if name.endswith("tga") else "PPM"
    Image.fromarray(COLOURS).save(tmp_path / name, format=kind)
    Image.fromarray(COLOURS[::-1]).save(tmp_path / "a.png")
    run(tmp_path, image=str(tmp_path / "a.png"))
    before = (tmp_path / "a-blurred.png").read_bytes()
    config = config_of(image=str(tmp_path / name))
    report = societies.run(config, device="reference", out=tmp_path / "2.h5")
    planned = dict(societies.plan(config, device="reference").rows)
    rows = dict(report.rows)
    assert rows["picture"] == planned["blurred picture"] == str(tmp_path / written)
    assert rows["kind of picture"] == planned["kind of picture"]
    assert re.match("PNG: .* is read, but not written", rows["kind of picture"])
    assert (tmp_path / "a-blurred.png").read_bytes() == before
    with Image.open(tmp_path / written) as found:
        assert found.format == "PNG"
    elsewhere = config_of(image=str(tmp_path / name), out=str(tmp_path / "other.bmp"))
    planned = dict(societies.plan(elsewhere, device="reference").rows)
    assert planned["blurred picture"] == str(tmp_path / "other.bmp")
    assert "kind of picture" not in planned


def test_frames_of_a_kind_without_them_become_png(tmp_path):
    """A camera may put several pictures into a JPEG; there was an error of Pillow at the end."""
    first, *more = (Image.fromarray(np.full((9, 12, 3), 40 * i, np.uint8)) for i in range(1, 4))
    first.save(tmp_path / "a.jpg", format="MPO", save_all=True, append_images=more)
    found = run(tmp_path, image=str(tmp_path / "a.jpg"), frames="all")
    assert found == str(tmp_path / "a-blurred.jpg.png")
    with Image.open(found) as picture:
        assert picture.n_frames == 3
    (tmp_path / "run.h5").unlink()
    assert run(tmp_path, image=str(tmp_path / "a.jpg")) == str(tmp_path / "a-blurred.jpg")


@pytest.mark.parametrize("ending", ["png", "bmp", "jpg", "tif", "webp", "gif"])
def test_pictures_of_others_are_not_replaced(tmp_path, ending):
    image, existing = tmp_path / f"a.{ending}", tmp_path / f"a-blurred.{ending}"
    Image.fromarray(COLOURS).save(image)
    Image.fromarray(GREY).save(existing)
    before = existing.read_bytes()
    for overwrite in (False, True):
        config, out = config_of(image=str(image)), tmp_path / "run.h5"
        with pytest.raises(OutputError, match="it is not known that Societies wrote it") as refusal:
            societies.run(config, device="reference", out=out, overwrite=overwrite)
        assert str(refusal.value).endswith(f"override out=NAME.{ending}")
        assert existing.read_bytes() == before
        assert sorted(tmp_path.iterdir()) == sorted([image, existing])
    (warning,) = societies.plan(config, device="reference", out=out).warnings
    assert warning == "; ".join(str(refusal.value).split("\n"))
    report = societies.run(
        config_of(image=str(image), out=str(tmp_path / f"NAME.{ending}")),
        device="reference",
        out=out,
    )
    assert report.path == out and existing.read_bytes() == before
    # the warning is given also where the results will be replaced
    assert societies.plan(config, device="reference", out=out).warnings == (warning,)


def test_the_picture_itself_is_not_replaced_through_a_link(tmp_path):
    Image.fromarray(COLOURS).save(tmp_path / "a.png")
    link = tmp_path / "link.png"
    link.symlink_to(tmp_path / "a.png")
    with pytest.raises(ValidationError, match="is the picture that is blurred"):
        config_of(image=str(tmp_path / "a.png"), out=str(link))


GAUSSIAN = {"kind": "gaussian"}


@pytest.mark.parametrize(
    ("message", "settings"),
    [
        ("box has no sigma; set sigma: null", {"kind": "box", "sigma": 1.0}),
        ("neighbours has no radius; set radius: null", {"radius": 3}),
        ("gaussian needs a pixel everywhere", {"kind": "gaussian", "border": "available"}),
        ("gaussian has no arithmetic seed; choose float", GAUSSIAN | {"arithmetic": "seed"}),
        ("a radius of 1000 at most", {"kind": "box", "radius": 1001}),
        ("a radius up to 16; this is 20", GAUSSIAN | {"sigma": 5.0, "variant": "fused"}),
        ("have two forms", {"variant": "fused"}),
        ("greater than or equal to 0", {"kind": "box", "radius": -1}),
        ("greater than 0", {"kind": "gaussian", "sigma": 0.0}),
        ("less than or equal to 1000", {"kind": "gaussian", "sigma": 1001.0}),
        ("greater than or equal to 0", {"passes": -1}),
    ],
)
def test_nonsense_is_refused(message, settings):
    with pytest.raises(ValidationError, match=re.escape(message)):
        config_of(**settings)


def test_the_page_shows_every_pass():
    view = WORKLOAD.view(config_of(width=12, height=9, passes=2), device="reference")
    frames = [one for one in view.frames(view.initial) if one is not None]
    assert [one.caption for one in frames][1:] == ["pass 1 of 2", "pass 2 of 2"]
    assert frames[0].pixels.shape == (9, 12, 4)
    assert (frames[0].pixels != frames[2].pixels).any()
    config = view.configuration(view.initial)
    assert config.passes == 2 and config.kind == "neighbours"


def test_the_page_of_a_gaussian_has_its_sigma():
    from societies.workload import Change

    config = config_of(width=12, height=9, kind="gaussian", sigma=2.0)
    view = WORKLOAD.view(config, device="reference")
    names = [control.name for control in view.controls(view.initial)]
    assert names == ["passes", "sigma", "reset"]
    state = view.take(view.initial, Change("sigma", 0.5))
    assert view.configuration(state).window == 2
    two = [list(view.frames(one))[-1].pixels for one in (view.initial, state)]
    assert (two[0] != two[1]).any()


def test_a_picture_of_a_thousand_million_pixels_is_refused_before_it_is_read(tmp_path):
    """A file of a few bytes may announce any size."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 40_000, 25_000, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(bytes(100))
    chunks = [
        struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one))
        for one in (header, data, b"IEND")
    ]
    path = tmp_path / "huge.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    with pytest.raises(ValidationError, match=r"huge\.png has more than 178,956,970 pixels"):
        config_of(image=str(path))
