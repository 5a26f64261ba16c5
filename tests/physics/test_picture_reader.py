"""Do blurs and plates see in a picture what others see, and stays what is not blurred?"""

import os
import struct
from pathlib import Path
from zlib import compress, crc32

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageSequence, PngImagePlugin

import societies
from societies import config_from_dict
from societies.errors import OutputError
from societies.physics.laplace.image import bright_cells
from societies.physics.picture_files import is_ours, write
from societies.physics.pictures import picture_in

DATA = Path(__file__).parents[1] / "data" / "companions"
RAMP = np.arange(0, 256 * 256, 257, dtype=np.uint16).reshape(16, 16)


def blurred(folder, path):
    """Blur a picture by nothing at all, on the reference, and return the file."""
    out = folder / f"out{Path(path).suffix}"
    given = {"workload": "blur", "image": str(path), "passes": 0, "out": str(out)}
    config = config_from_dict({**given, "frames": "all"})
    societies.run(config, device="reference", out=folder / "run.h5")
    return out


def rewritten(folder, path, name=""):
    """Write what was read of a picture, as a run does at its end."""
    found, out = (
        picture_in(path, every_frame=True),
        folder / (name or f"out{Path(path).suffix}"),
    )
    write(out, found.planes, found.alpha, found.metadata)
    return out


def frames_of(path):
    """Return the frames of an animation as Pillow shows them, and what it says of them."""
    with Image.open(path) as image:
        frames, durations = [], []
        for frame in ImageSequence.Iterator(image):
            frames.append(np.asarray(frame.convert("RGBA")))
            durations.append(frame.info.get("duration"))
        return np.stack(frames), durations, dict(image.info)


def moving(colours=3, count=4):
    """Return frames of an opaque square that moves over nothing."""
    chance, frames = np.random.default_rng(1), []
    for i in range(count):
        pixels = np.zeros((20, 30, 4), np.uint8)
        square = chance.integers(0, colours, (10, 12, 3)) * (255 // (colours - 1))
        pixels[2 + i : 12 + i, 3 * i : 3 * i + 12, :3] = square
        pixels[2 + i : 12 + i, 3 * i : 3 * i + 12, 3] = 255
        frames.append(pixels)
    return frames


def alike(found, expected, *, by=0):
    """Whether the same is seen: opacity, and colours where there is some."""
    assert found.shape == expected.shape
    assert (found[..., 3] == expected[..., 3]).all()
    seen = expected[..., 3] > 0
    assert np.abs(found[seen].astype(int) - expected[seen]).max() <= by


def test_what_moves_in_a_transparent_gif_leaves_no_trail(tmp_path):
    before, durations, info = frames_of(DATA / "d2t.gif")
    after, again, about = frames_of(blurred(tmp_path, DATA / "d2t.gif"))
    alike(after, before)
    assert again == durations and about["loop"] == info["loop"] == 0


@pytest.mark.parametrize("disposal", [0, 1, 2, 3])
def test_every_way_in_which_frames_follow_each_other(tmp_path, disposal):
    first, *more = map(Image.fromarray, moving())
    options = {"save_all": True, "append_images": more, "duration": [50, 60, 70, 80]}
    first.save(tmp_path / "a.gif", disposal=disposal, **options)
    before, durations, _ = frames_of(tmp_path / "a.gif")
    found = rewritten(tmp_path, tmp_path / "a.gif")
    after, again, about = frames_of(found)
    alike(after, before)
    assert again == durations and "loop" not in about  # it is shown once


@pytest.mark.parametrize("kind", ["gif", "png", "webp"])
@pytest.mark.parametrize("loop", [0, 1, 5])
def test_loops_and_durations_stay(tmp_path, kind, loop):
    first, *more = map(Image.fromarray, moving())
    options = {"lossless": True} if kind == "webp" else {}
    durations = [40, 50, 330, 70]
    path = tmp_path / f"a.{kind}"
    first.save(path, save_all=True, append_images=more, duration=durations, loop=loop, **options)
    before, expected, info = frames_of(path)
    after, found, about = frames_of(rewritten(tmp_path, path))
    alike(after, before)
    assert found == expected and about.get("loop") == info.get("loop")
    # Shown as often where another kind counts in another way: a GIF says how often more.
    _, found, about = frames_of(rewritten(tmp_path, path, "b.png"))
    assert found == expected
    assert about["loop"] == (loop + 1 if kind == "gif" and loop else loop)


def test_the_cover_of_an_animated_png_stays(tmp_path):
    first, *more = map(Image.fromarray, moving())
    options = {"append_images": more, "duration": [100, 200, 300], "default_image": True}
    first.save(tmp_path / "a.png", save_all=True, **options)
    before, durations, _ = frames_of(tmp_path / "a.png")
    after, again, about = frames_of(rewritten(tmp_path, tmp_path / "a.png"))
    alike(after, before)
    assert again == durations and about["default_image"]


def test_an_animation_of_which_one_frame_is_blurred_is_reported(tmp_path):
    given = {"workload": "blur", "image": str(DATA / "d2t.gif")}
    (said,) = [one.message for one in config_from_dict(given).warnings()]
    assert "has more frames; the first is blurred" in said
    assert not [*config_from_dict({**given, "frames": "first"}).warnings()]


def deep_files(folder):
    """Yield files of numbers of many bits, and the upper 8 of them."""
    upper = (RAMP >> 8).astype(np.uint8)
    for most in (1, 255, 65535):
        values = (RAMP // (65535 // most)).astype(np.uint16)
        Image.fromarray(values).save(folder / f"{most}.png")
        yield folder / f"{most}.png", values >> 8
        Image.fromarray(values).save(folder / f"{most}.tif")
        yield folder / f"{most}.tif", values >> 8
        Image.frombytes("I;16B", (16, 16), values.astype(">u2").tobytes()).save(folder / "b.tif")
        yield folder / "b.tif", values >> 8
        (folder / "a.pgm").write_bytes(b"P5 16 16 65535\n" + values.astype(">u2").tobytes())
        yield folder / "a.pgm", values >> 8
        Image.fromarray(values.astype(np.int32) << 15).save(folder / "w.tif")
        yield folder / "w.tif", values >> 8
    (folder / "a.pgm").write_bytes(b"P5 16 16 4095\n" + (RAMP >> 4).astype(">u2").tobytes())
    yield folder / "a.pgm", upper


def test_of_many_bits_the_upper_8_are_read_whatever_the_picture_shows(tmp_path):
    """They were scaled by the largest number of the picture, or of the frame."""
    for path, expected in deep_files(tmp_path):
        found = picture_in(path, every_frame=False)
        assert (np.abs(found.planes[0, 0].astype(int) - expected) <= (path.name == "a.pgm")).all()
        assert "the upper ones" in found.lost[0]
        assert found.lost[0].endswith("all of it is black") == (not expected.any())
    assert not picture_in(DATA / "dark255.png", every_frame=False).planes.any()


def test_numbers_without_a_sign_are_read_to_the_largest(tmp_path):
    """Pillow has them as numbers with a sign."""
    values = np.array([[0, 1 << 24, 0x80000000, 0xFFFFFFFF]], np.uint32)
    Image.fromarray(values.view(np.int32)).save(tmp_path / "a.tif")
    content, entry = (tmp_path / "a.tif").read_bytes(), struct.pack("<HHI", 339, 3, 1)
    assert content.count(entry) == 1  # the format of a sample: 2 with a sign, 1 without one
    for form, expected in ((2, [0, 2, 0, 0]), (1, [0, 1, 128, 255])):
        changed = content.replace(entry + struct.pack("<I", 2), entry + struct.pack("<I", form))
        (tmp_path / f"{form}.tif").write_bytes(changed)
        found = picture_in(tmp_path / f"{form}.tif", every_frame=False).planes
        assert found[0, 0].tolist() == [expected]


@pytest.mark.parametrize("kind", [np.uint16, np.int32, np.float32])
def test_every_frame_is_read_alike(tmp_path, kind):
    """Each had a scale of its own."""
    white = {np.uint16: 65535, np.int32: 2**31 - 1, np.float32: 255}[kind]
    dark, light = (Image.fromarray(np.full((5, 6), white * x, kind)) for x in (0.002, 1))
    dark.save(tmp_path / "a.tif", save_all=True, append_images=[light])
    found = picture_in(tmp_path / "a.tif", every_frame=True).planes
    assert found[:, 0, 0, 0].tolist() == [1 if kind == np.float32 else 0, 255]


def test_a_tiff_whose_white_is_zero(tmp_path):
    """Pillow turns only bytes round."""
    values, negative = np.array([[0, 65535, 512]], np.uint16), {262: 0}
    for array in (values, (values >> 8).astype(np.uint8)):
        Image.fromarray(array).save(tmp_path / "a.tif")
        with Image.open(tmp_path / "a.tif") as image:
            plain = picture_in(tmp_path / "a.tif", every_frame=False).planes
            image.load()
        content = (tmp_path / "a.tif").read_bytes()
        entry = np.array([262, 3], "<u2").tobytes() + np.array([1, 1], "<u4").tobytes()
        assert content.count(entry) == 1
        changed = entry[:-4] + np.array([negative[262]], "<u4").tobytes()
        (tmp_path / "n.tif").write_bytes(content.replace(entry, changed))
        assert (picture_in(tmp_path / "n.tif", every_frame=False).planes == 255 - plain).all()


def test_a_clear_value_of_many_bits(tmp_path):
    Image.fromarray(RAMP).save(tmp_path / "a.png", transparency=int(RAMP[1, 1]))
    found = picture_in(tmp_path / "a.png", every_frame=False)
    assert (found.alpha[0] == np.where(RAMP[1, 1] == RAMP, 0, 255)).all()


def png(path, bits, kind, row, clear):
    """Write a PNG of one row, whose transparent value or colour has the bits of its pixels."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc32(name + data))

    width = len(row) * 8 // bits // (3 if kind == 2 else 1)
    head = struct.pack(">IIBBBBB", width, 1, bits, kind, 0, 0, 0)
    parts = [(b"IHDR", head), (b"tRNS", struct.pack(f">{len(clear)}H", *clear))]
    parts += [(b"IDAT", compress(b"\0" + row)), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in parts))
    return picture_in(path, every_frame=False)


def test_a_clear_value_of_few_bits(tmp_path):
    """Pillow makes 85 of a pixel of value 1 in 2 bits, and leaves the transparent value at 1."""
    for bits, row, step in ((1, 0b01010101, 255), (2, 0b00011011, 85), (4, 0x12, 17)):
        found = png(tmp_path / "a.png", bits, 0, bytes([row]), [1])
        values = [row >> shift & ((1 << bits) - 1) for shift in range(8 - bits, -1, -bits)]
        assert found.planes.ravel().tolist() == [step * one for one in values]
        assert found.alpha.ravel().tolist() == [0 if one == 1 else 255 for one in values]


def test_a_clear_colour_of_many_bits_is_left_out(tmp_path):
    """Pillow compared its lower bits with the upper ones of the pixels."""
    row = struct.pack(">6H", 0x1234, 0x5678, 0x9ABC, 0x34FF, 0x78FF, 0xBCFF)
    found = png(tmp_path / "a.png", 16, 2, row, [0x1234, 0x5678, 0x9ABC])
    assert found.planes.ravel().tolist() == [0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC]
    assert found.alpha is None and found.lost[1:] == ("a transparent colour, which is left out",)


def test_a_picture_of_the_same_name_and_time_elsewhere_is_another(tmp_path, monkeypatch):
    """As `cp -p` makes them: a notebook that changes its folder got the picture of the former."""
    for name, level in (("one", 10), ("two", 200)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Image.new("L", (2, 2), level).save("a.png")
        os.utime("a.png", ns=(0, 0))
        assert picture_in("a.png", every_frame=False).planes.max() == level


def test_profile_and_resolution_stay(tmp_path):
    with Image.open(DATA / "icc.jpg") as before:
        profile, resolution = before.info["icc_profile"], before.info["dpi"]
    for name in ("a.jpg", "a.png", "a.tif", "a.webp", "a.bmp"):
        with Image.open(rewritten(tmp_path, DATA / "icc.jpg", name)) as after:
            exif = after.getexif()
            seen = after.info.get("dpi", (exif.get(0x011A), exif.get(0x011B)))
            assert np.allclose(np.array(seen, float), resolution, atol=0.01), name
            assert after.info.get("icc_profile") == (None if name == "a.bmp" else profile), name


def test_what_a_kind_of_file_cannot_have_is_said(tmp_path):
    given = {"workload": "blur", "image": str(DATA / "icc.jpg")}

    def said(**settings):
        return [one.message for one in config_from_dict({**given, **settings}).warnings()]

    assert said() == []
    assert said(out=str(tmp_path / "a.bmp")) == ["BMP has no colour profile; left out"]
    (one,) = said(out=str(tmp_path / "a.gif"))
    assert one == "GIF has no colour profile and no resolution; left out"
    clear = {"image": str(DATA / "d2t.gif"), "frames": "first"}
    assert said(out=str(tmp_path / "a.jpg"), **clear) == ["JPEG has no opacity; left out"]
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.new("L", (8, 8), 99).save(tmp_path / "grey.png", icc_profile=profile)
    (one,) = said(image=str(tmp_path / "grey.png"))
    assert "a colour profile that is not for grey" in one


def test_gamma_of_a_png_stays(tmp_path):
    about = PngImagePlugin.PngInfo()
    about.add(b"gAMA", (55555).to_bytes(4, "big"))
    about.add(b"sRGB", b"\x02")
    Image.new("RGB", (4, 4), 99).save(tmp_path / "a.png", pnginfo=about)
    with Image.open(rewritten(tmp_path, tmp_path / "a.png")) as after:
        assert (after.info["gamma"], after.info["srgb"]) == (0.55555, 2)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["png", "tif", "webp", "jpg"])
def test_a_picture_is_turned_with_its_resolution(tmp_path, orientation, kind):
    from PIL import ImageOps

    exif = Image.Exif()
    exif[0x0112] = orientation
    grey = (RAMP[:7, :11] >> 8).astype(np.uint8)
    path = tmp_path / f"a.{kind}"
    options = {"lossless": True} if kind == "webp" else {"quality": 100} if kind == "jpg" else {}
    resolution = {} if kind == "webp" else {"dpi": (100, 200)}
    Image.fromarray(grey).save(path, exif=exif, **options, **resolution)
    with Image.open(path) as image:
        image.load()
        expected = np.asarray(ImageOps.exif_transpose(image).convert("L"))
    found = picture_in(path, every_frame=False)
    assert (found.planes[0, 0] == expected).all()
    if resolution:
        sideways = orientation > 4
        assert np.allclose(
            found.metadata.resolution, (200, 100) if sideways else (100, 200), atol=0.1
        )


def test_deep_pictures_are_turned_too(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(RAMP[:5]).save(tmp_path / "a.png", exif=exif)
    found = picture_in(tmp_path / "a.png", every_frame=False).planes[0, 0]
    assert (found == np.rot90(RAMP[:5] >> 8, -1)).all()


def test_plates_read_pictures_as_blurs_do():
    """The mask of 0 and 1 held no cell, and the turned picture was upside down."""
    for name in ("f1.tif", "exif3.png"):
        planes = picture_in(DATA / name, every_frame=False).planes[0, 0]
        cells = bright_cells(DATA / name, planes.shape)
        assert (cells == (planes > 127)).all() and cells.any()
    with Image.open(DATA / "exif3.png") as image:
        as_stored = np.asarray(image.convert("L")) > 127
    assert (bright_cells(DATA / "exif3.png", as_stored.shape) == as_stored[::-1, ::-1]).all()


def test_grey_of_colours_is_that_of_pillow(tmp_path):
    colours = np.random.default_rng(2).integers(0, 256, (200, 100, 3)).astype(np.uint8)
    colours[[0, -1]] = colours[:, [0, -1]] = 0
    Image.fromarray(colours).save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        expected = np.asarray(image.convert("L")) > 127
    assert (bright_cells(tmp_path / "a.png", (200, 100)) == expected).all()


def test_a_plate_says_what_is_not_read(tmp_path):
    rows, columns = RAMP.shape
    given = {"workload": "laplace", "rows": rows, "columns": columns, "conductor": "none"}
    Image.fromarray(RAMP // 512).save(tmp_path / "dark.png")
    config = config_from_dict({**given, "steps": 1, "image": str(tmp_path / "dark.png")})
    said = [one.message for one in config.warnings()]
    assert "more than 8 bits a channel" in said[0]
    assert "no pixel above 127 of 255: it holds no cell" in said[1]


def test_a_picture_is_known_whichever_workload_wrote_it(tmp_path):
    """A blur over the picture of a scene was refused: it was not known that Societies wrote it."""
    scene = {"workload": "raytracer", "width": 8, "height": 8, "out": str(tmp_path / "a.png")}
    blur = {"workload": "blur", "width": 8, "height": 8, "out": str(tmp_path / "a.png")}
    for given in (scene, blur, scene):
        societies.run(config_from_dict(given), device="reference", out=tmp_path / "run.h5")
        (tmp_path / "run.h5").unlink()
        assert is_ours(tmp_path / "a.png")
    Image.new("L", (8, 8)).save(tmp_path / "a.png")
    for given in (scene, blur):
        with pytest.raises(OutputError, match="exists, and"):
            societies.run(config_from_dict(given), device="reference", out=tmp_path / "run.h5")


def test_more_frames_than_are_read_are_refused(tmp_path, monkeypatch):
    """What was behind the 10,000th was left out without a word."""
    monkeypatch.setattr("societies.physics.pictures.MOST_FRAMES", 3)
    planes = np.arange(5 * 64, dtype=np.uint8).reshape(5, 1, 8, 8)
    write(tmp_path / "a.png", planes[:3], None)
    write(tmp_path / "b.png", planes, None)
    assert len(picture_in(tmp_path / "a.png", every_frame=True).planes) == 3
    with pytest.raises(societies.errors.ConfigError, match="more than 3 frames; set frames: first"):
        picture_in(tmp_path / "b.png", every_frame=True)
