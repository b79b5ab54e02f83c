#!/usr/bin/env python3
"""How much memory the process of server and worker takes for documents of many pages, each in a process of its own.

Born-digital PDFs with real text, a PDF of pictures without text, so that every page is rendered and recognised, and PDFs of dense pages, 40 000
words each, as far as a page may go. Readers are other processes and are not counted: they have limits of their own. Ends with 1 when a document
took more than the bar. The number of slots is the default one.

  python3 bench/documents/memory.py [--born 300 1000 2000] [--pictures 300] [--dense 12 100] [--bar 150]
"""
import argparse
import os
import pathlib
import random
import sys
import tempfile
import time
import zlib

from running import ROOT, Millrace, make_sample

sys.path.insert(0, str(ROOT / "bench"))

from verdicts import Verdicts  # noqa: E402


def picture_pdf(pages, width=620, height=877):
    """Pages of one grey picture each: a few dark bars, other ones on every page. Nothing to read, and nothing that could be taken over."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>".encode(),
               f"<< /Type /Pages /Count {pages} /Kids [ {' '.join(f'{3 + 3 * i} 0 R' for i in range(pages))} ] >>".encode()]
    for page in range(pages):
        rows = [b"\xfa" * width] * height
        for bar in range(3):
            row = bytearray(b"\xfa" * width)
            begin = 40 + (page * 37 + bar * 113) % (width - 260)
            row[begin:begin + 200] = b"\x20" * 200
            at = 60 + (page * 53 + bar * 271) % (height - 80)
            for y in range(at, at + 3):
                rows[y] = bytes(row)
        pixels = zlib.compress(b"".join(rows), 6)
        content = f"q {width * 0.96:.2f} 0 0 {height * 0.96:.2f} 0 0 cm /I Do Q".encode()
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width * 0.96:.2f} {height * 0.96:.2f}] /Contents {4 + 3 * page} 0 R "
                       f"/Resources << /XObject << /I {5 + 3 * page} 0 R >> >> >>".encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 "
                       b"/Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (width, height, len(pixels), pixels))
    return pdf_of(objects)


def dense_pdf(pages, words=40_000, columns=200):
    """Sheets the size of a wall with so many words, other ones on every page. In small type readers leave most of them out."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>".encode(),
               f"<< /Type /Pages /Count {pages} /Kids [ {' '.join(f'{4 + 2 * i} 0 R' for i in range(pages))} ] >>".encode(),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    # Many different ones: what packs too well is taken for a bomb.
    dice, said = random.Random(pages), [f"{a}{b}{c}" for a in ("sta", "ro", "wa", "he", "mi", "pla") for b in "lrnt" for c in ("ed", "ing", "er", "y", "on")]
    for page in range(pages):
        rows = words // columns
        lines = ["BT /F 16 Tf 56 TL 160 12480 Td"]
        for row in range(rows):
            # Readers differ in how long a string may be: ten words each.
            lines += [f"({' '.join(dice.choices(said, k=10))} ) Tj" for _ in range(columns // 10)] + ["T*"]
        content = zlib.compress("\n".join(lines + ["ET"]).encode(), 6)
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9792 12672] /Contents {5 + 2 * page} 0 R "
                       f"/Resources << /Font << /F 3 0 R >> >> >>".encode())
        objects.append(b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return pdf_of(objects)


def pdf_of(objects):
    out, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def measure(kind, pages):
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = pathlib.Path(name)
        if kind == "pictures":
            content = picture_pdf(pages)
        elif kind == "dense":
            content = dense_pdf(pages)
        else:
            source = folder / "source.pdf"
            make_sample(kind, pages, 7000 + pages, source)
            content = source.read_bytes()
        millrace = Millrace(folder, slots=None)
        try:
            idle = millrace.memory_mb("VmRSS")
            begun = time.monotonic()
            millrace.process_file(f"{kind}.pdf", content)
            peak, after = millrace.memory_mb(), millrace.memory_mb("VmRSS")
        finally:
            millrace.stop()
    print(f"{kind}, {pages} pages, {len(content) / 1e6:.1f} MB: idle {idle:.0f} MB, most {peak:.0f} MB, afterwards {after:.0f} MB; "
          f"{time.monotonic() - begun:.1f} s", flush=True)
    return peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--born", type=int, nargs="*", default=[300, 1000, 2000])
    parser.add_argument("--pictures", type=int, nargs="*", default=[300])
    parser.add_argument("--dense", type=int, nargs="*", default=[12, 100])
    parser.add_argument("--bar", type=int, default=150, help="MB")
    options = parser.parse_args()
    verdicts = Verdicts()
    for kind, sizes in (("born", options.born), ("pictures", options.pictures), ("dense", options.dense)):
        for pages in sizes:
            verdicts.at_most(f"{kind}, {pages} pages: server and worker, MB", measure(kind, pages), options.bar, form=".0f")
    return verdicts.end()


sys.exit(main())
