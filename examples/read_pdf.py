"""Ask a PDF: the words that answer are quoted with their page, or there is a reason why nothing is.

    python examples/read_pdf.py [FILE.pdf [QUESTION…]]     # pip install 'demur[formats]'

handbook.pdf beside this file is a chapter of the handbook that comes with demur. A folder of files works too.
"""

import sys
from pathlib import Path

import demur
from demur.asking import Session

QUESTIONS = [
    "For how long are hand tools lent?",
    "How many reservations may I have open?",
    "How high is the deposit for the pressure washer?",  # the chapter names deposits, but not this one
    "What is the wifi password?",
]

file = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("handbook.pdf")
session = Session.open(file)  # reads the file, and loads the models that come with demur
for question in sys.argv[2:] or QUESTIONS:
    found = session.ask(question)
    print(f"\n{question}")
    if isinstance(found, demur.Abstention):
        print(f"  no answer: {found.reason}")
        continue
    place = found.candidate.extra["source"]
    quote = found.span.text if found.span else found.candidate.text
    print(f"  “{quote}”  ({place}, confidence {found.confidence:.2f})")
print(f"\n{getattr(session.gate, 'promise', 'No gate is set.')}")
print("It was not made on your file: docs/how-to.md says how to calibrate a gate for it.")
