"""Measures what learning comes to with other threads and instructions (`make determinism`); writes the page.

Each trainer is run in processes of its own: on one thread twice, on two threads, and on one thread with
no more than AVX2. All golden toys learn, and two nets of real size.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from demur.experiments.results import earlier, provenance
from demur.files import replacing
from demur.processor import LIBRARIES, THREADS

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "results" / "determinism.json"
AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
AVX2 |= {"OPENBLAS_CORETYPE": "Haswell"}
ONE, TWO = (dict.fromkeys((THREADS, *LIBRARIES), number) for number in "12")
WAYS: dict[str, dict[str, str]] = {"once": ONE, "again": ONE, "two threads": TWO, "AVX2 only": ONE | AVX2}
INTRODUCTION = """# Reproducibility: what is the same on another machine

The same seed on the same machine with as many threads gives the same weights, to the last bit, for every
trainer: a test holds it (`tests/golden/test_golden.py`). With another number of threads, or on a
processor with other instructions, sums are added up in another order. The last digits of a step then
differ, training carries the difference on, and after some epochs it is like having drawn another seed.
Transformers learn in bf16 in the stored results. A processor without bf16 multiplies the same rounded
numbers in fp32 ([how](decisions/022-precision-by-what-is-there.md)), which takes little longer than fp32.

`make determinism` measures it: each trainer learns from a few questions on one thread, then again,
then on two threads, and then with no more than AVX2. A cell says *same bits*, or by how much the furthest
of the scores is off. The toys are small; `minilm` is a real cross-encoder, and `words` a MatchPyramid
with vectors 300 wide. `word vectors` are made by counting, 50 wide, of the passages of demur's example,
and are numbers by the largest of them."""
AFTER = """## Stored figures, run again

`demur reproduce PAPER TABLE --verify N` draws N of the stored cells, runs them again from nothing in a
scratch folder, and compares, of each kind of rows first those that are still to be confirmed, and none
that a table marks as out of date (those are made anew instead); with
`--record` it writes them down in `results/confirmed.json`. What holds no net must come out the same to a
millionth; a net may be .003 off, or three standard deviations of the difference of two seeds of its
kind in that column (before 27 November 2026 it was the range of its row's seeds). Word vectors and embeddings
are taken from the cache where they are there. Results from before keys held editions keep their old keys;
tables mark them.

One difference was investigated: MatchPyramid on WikiQA, seed 0, differed from the stored figure. The commit
that the stored file names and a later one agreed to the last bit, on one thread each and with the same word
vectors, but neither gave the stored figure. So no change of code is the cause. In November 2026 a likely
one was found, which could not be proven for that figure, as its vectors are gone: word vectors made by
counting. Which way each of their directions points was left to the library that decomposes the counts,
which on another processor, or with another number of threads, turns many of them round. Cosines and sums
are the same then, but a net that learns from the vectors is another net. Since edition 2 each direction
points to where it reaches furthest, is worked out in double precision, and is the same but for last digits
(`word vectors` above). What nets made of vectors of edition 1 is out of date until it is made again, and
marked as that. Results made since then hold hashes of the word vectors that
they stand on.

One recipe and seed come to other weights on another machine. Rows that share an earlier stage, such as the
network of SQuAD-T in SCAN's tables, are only compared fairly if they began from the same weights; where a
cache was lost in between, they did not, and some of their difference may be the start's. So results name the
weights of each stage (`model_hashes`) since 29 November 2026. Where some of a table's results do, it says
below itself which rows have other initial weights than the rest, or of which they are not known.

The gates of MatchPyramid's committee on TrecQA were investigated on another machine, with
the same outcome: the commit of the stored file and today's code agree to the last digit, with AVX-512 and
without, and differ from what was stored. So those gates were made again. The concat net over word vectors
that was trained on SQuAD-T alone came out further off on SemEval than a net of one seed may be, though by
less than the seeds of such a net differ in Table 2; what it was made on is not known. So its rows, and
those of the same kind over the encoder, were made again. Lines below whose cells did not hold speak of
figures that have been made again since."""


def learn() -> dict[str, Any]:
    """What each trainer comes to in this process, and word vectors: scores, and a hash of the weights."""
    import demur
    from demur.asking import example
    from demur.embedders.word_vectors.skipgram import Training, train
    from demur.training import trainer
    from golden import trained

    if provenance.threads() != int(os.environ[THREADS]):
        raise SystemExit(f"torch computes in {provenance.threads()} threads, not in {os.environ[THREADS]}")
    made = {name: trained.fresh(name) for name in trained.SPECS}
    asked = {name: trained.scores_of(name, ranker) for name, ranker in made.items()}
    pools = [demur.Pool(p.id, p.question, p.candidates[:6]) for p in trained.handbook()]
    for name, by in {
        "minilm": trainer("cross-encoder(base=minilm, precision=fp32, tokens=1024)"),
        "words": trainer("match-pyramid", vectors=trained.wide(), epochs=3, early="none"),
    }.items():
        made[name] = by.train(pools)
        asked[name] = [float(x) for each in made[name].score_pools(pools[:6]) for x in each]
    found = {}
    for name, ranker in made.items():
        digest = hashlib.sha256(b"".join(trained.weights(ranker).values())).hexdigest()
        found[name] = {"weights": digest[:16], "scores": asked[name]}
    table = train([each.text for each in example.passages()], Training(model="ppmi", width=50, min_count=1))
    numbers = table.vectors / abs(table.vectors).max()
    found["word vectors"] = {
        "weights": hashlib.sha256(numbers.tobytes()).hexdigest()[:16],
        "scores": numbers.ravel().tolist(),
    }
    return found


def main() -> int:
    """Run all ways, keep what was found, and say where the same way came to other bits: 0 if nowhere."""
    if "--here" in sys.argv:
        sys.stdout.write(json.dumps(learn()))
        return 0
    found = {name: _apart(around) for name, around in WAYS.items()}
    rows = {}
    for name, first in found["once"].items():
        rows[name] = {
            way: {
                "same bits": each[name]["weights"] == first["weights"],
                "off": max(abs(a - b) for a, b in zip(first["scores"], each[name]["scores"], strict=True)),
            }
            for way, each in found.items()
            if way != "once"
        }
    about = {
        "commit": provenance.commit(),
        "processor": provenance.kind(),
        "command": "make determinism",
    }
    with replacing(RESULT) as file:
        json.dump({**about, "versions": _versions(), "trainers": rows}, file, indent=1, sort_keys=True)
        file.write("\n")
    other = [name for name, row in rows.items() if not row["again"]["same bits"]]
    print("\n".join(f"{name} came to other bits" for name in other) or f"{RESULT.name}: {len(rows)} trainers")
    return int(bool(other))


def _apart(around: dict[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **around, "DEMUR_CACHE": cache}
        command = [sys.executable, "-W", "ignore", "-m", "tools.determinism", "--here"]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("numpy", "torch", "transformers")}


def page() -> str:
    """`docs/determinism.md`, from what was kept."""
    parts = [INTRODUCTION]
    if RESULT.is_file():
        kept = json.loads(RESULT.read_text("utf-8"))
        ways = [way for way in WAYS if way != "once"]
        lines = ["| | " + " | ".join(ways) + " |", "|---|" + "---|" * len(ways)]
        for name, row in kept["trainers"].items():
            lines.append(f"| {name} | " + " | ".join(_said(row[way]) for way in ways) + " |")
        versions = ", ".join(f"{name} {number}" for name, number in kept["versions"].items())
        where = f"{kept['processor']['name']}, which has {', '.join(kept['processor']['has'])}"
        parts += ["\n".join(lines), f"<sub>{where}; {versions}; {kept['commit']}</sub>"]
    parts.append(AFTER)
    record = earlier.record(ROOT / "results")
    if record:
        lines = ["| kind | cells | hold | on AVX2 | furthest off | may be |", "|---|---|---|---|---|---|"]
        for name, cells in sorted(record.items()):
            worst = max(cells, key=lambda cell: float(cell["difference"]) - float(cell["tolerance"]))
            hold = sum(cell["holds"] for cell in cells)
            figures = f"{worst['difference']:.2g} | {worst['tolerance']:.2g}"
            less = sum("ATEN_CPU_CAPABILITY=avx2" in cell["processor"] for cell in cells)
            lines.append(f"| {name} | {len(cells)} | {hold} | {less} | {figures} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _said(found: dict[str, Any]) -> str:
    return "same bits" if found["same bits"] else f"{found['off']:.1g}"


if __name__ == "__main__":
    sys.exit(main())
