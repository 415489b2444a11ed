"""Which ranker, with twenty labelled questions? demur advises, and a test set says what the advice was worth.

    python examples/few_labels.py [MINUTES]     # DEMUR_DATA names the folder with SemEval 2016

Without that data it takes the forty questions about the handbook that comes with demur, twenty for each part.
"""

import os
import sys
import tempfile

import demur
from demur import advice
from demur.data import pools

if os.environ.get("DEMUR_DATA"):
    labelled, test = pools("semeval2016/dev/sample-20"), pools("semeval2016/test")
else:
    labelled, test = pools("example/questions/sample-20"), pools("example/questions/rest-20")

found = advice.advise(labelled, minutes=float(sys.argv[1]) if sys.argv[1:] else 1.0)
print(found.recommendation)
print(f"More labels: {found.labels}.")

with tempfile.TemporaryDirectory() as folder:
    advice.save(found, labelled, f"{folder}/model")  # trained on all twenty, if it is one that learns
    advised = demur.evaluate(demur.open(f"{folder}/model"), test, ["MAP"])
words = demur.evaluate("bm25", test, ["MAP"])
for name, report in {"advised": advised, "bm25": words}.items():
    MAP = report.measures["MAP"]
    print(f"{name:8} MAP {MAP.mean:.3f} ({MAP.low:.3f} – {MAP.high:.3f}) on {report.pools} test questions")
(row,) = demur.compare({"bm25": words, "advised": advised}).rows
print(f"The difference is {row.difference:+.3f} ({row.low:+.3f} – {row.high:+.3f}), p = {row.adjusted:.2g}.")
