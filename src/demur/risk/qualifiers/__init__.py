"""How sure a ranker may be of its best answer: one number for each question."""
