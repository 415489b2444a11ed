"""An FAQ of our own writing, of questions that have little to do with each other, and strange ones."""

from __future__ import annotations

from demur.kb.passages import Passage

ROWS = {
    "How long may I keep a drill?": "One week, and a second one if nobody waits for it.",
    "What does a lost card cost?": "Three pounds, which you pay at the desk.",
    "Is the workshop open on Sunday?": "No, it is closed all day.",
    "Who repairs toasters?": "The volunteers of the repair evening, each Friday.",
    "Can children join a course?": "From the age of ten, with a grown-up.",
    "Where do I park my bicycle?": "In the yard behind the building.",
    "How do I pay the yearly fee?": "By bank transfer or in cash.",
    "Do you lend cargo trailers?": "Yes, against a deposit of a hundred pounds.",
    "What happens if I break a saw?": "Tell us; wear is ours, carelessness is yours.",
    "Which paint can I dispose of here?": "None; take it to the recycling centre.",
    "May my dog come in?": "On a leash, but not into the machine room.",
    "Is there a kitchen for members?": "There is a kettle and a microwave oven.",
    "How do I cancel my membership?": "Write a letter by the end of November.",
    "Why was my reservation deleted?": "It lapses two hours after the agreed time.",
    "Do you sharpen knives?": "On the first Tuesday of each month.",
    "Can I get a receipt for taxes?": "We send one each January for gifts.",
    "Are the toilets step-free?": "Yes, the one on the ground floor.",
    "What tools need training first?": "The lathe, the table saw and the welder.",
    "How are new tools chosen?": "Members vote on a list each spring.",
    "Is there wireless internet?": "The password hangs beside the door.",
    "Can I donate an old ladder?": "Only if it has no cracks and bears the mark.",
    "Who holds the keys at night?": "Nobody; the alarm company is called.",
    "What size are the lockers?": "Forty by forty by sixty centimetres.",
    "Do you ship abroad?": "No, everything is collected in person.",
    "How loud is the compressor?": "Ninety decibels, so wear ear protection.",
    "May I photograph the machines?": "Yes, but no people without asking them.",
    "When was the library founded?": "In 2009, by six neighbours.",
    "What glue holds glass?": "The two-part resin on shelf nine.",
    "Is firewood sold in winter?": "In sacks of ten kilos from October.",
    "How many eggs do the hens lay?": "About thirty a week, sold at the gate.",
    "Where is the first-aid box?": "Red cabinet, next to the sink.",
    "Do students pay less?": "Half of it, with a valid card.",
    "Which bus stops nearby?": "Number twelve, at the old mill.",
    "Can I rent the hall for a party?": "On Saturdays, for forty pounds.",
    "How often is the sander's belt changed?": "After each loan, by us.",
    "Are gift vouchers available?": "For any sum, at the desk.",
    "Who cleans the floor?": "Whoever made the dirt, before leaving.",
    "What language are courses in?": "English, and sign language on request.",
    "Can I borrow seeds for tomatoes?": "Yes; bring some back in autumn.",
    "Is the roof garden open to visitors?": "In summer, until dusk.",
}
STRANGE = "Who won the chess championship of 1972?", "What is the boiling point of mercury?"


def rows() -> list[Passage]:
    """The FAQ as a CSV of it is read."""
    return [
        Passage(f"faq.csv:{line}", answer, "faq.csv", line, question, question)
        for line, (question, answer) in enumerate(ROWS.items(), 2)
    ]
