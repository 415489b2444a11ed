"""What is said to a question once passages are ranked: an answer with its quotation, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from demur.asking.gates.gate import Gate
from demur.asking.meaning.ranker import LEAST
from demur.asking.quoting import also_answers, around, asked, found, quote, same
from demur.asking.reading import Look, looks, within
from demur.asking.searching import Search, with_look, without_look
from demur.types import Abstention, Answer, Candidate, Ranking, Verdict


@dataclass(frozen=True)
class Asked:
    """A question, the passages that a search found for it, and the gate that judges them, if any."""

    search: Search
    question: str
    ranking: Ranking
    gate: Gate | None = None
    least: float = LEAST
    """The chance below which nothing is answered where no gate judges."""

    @cached_property
    def words(self) -> list[str]:
        """The question's words that carry meaning."""
        return asked(self.question, self.search.library.stem)

    def result(self, top: int, reader: object | None = None) -> Answer | Abstention:
        """The answer or the abstention, with the best passages, read by the reader.

        Where somebody has written an answer under this very question, that is the answer: neither a reader's
        doubts nor a gate for given candidates are asked about it. A gate for these files is, as it was
        calibrated with such questions among the others; but not one that bounds how often questions without
        an answer get one, as these have theirs.
        """
        judged = self._gate_is_for_files and not self._gate_is_of_unanswerable
        there = None if judged else self._written()
        ranking = self.ranking if there is None else _first(self.ranking, there)
        best = self._read(reader, ranking.candidates[:top])
        told = tuple(map(self._told, best))
        if told and (unseen := sum(also_answers(told[0], each) for each in ranking.candidates[top:])):
            told = (replace(told[0], extra={**told[0].extra, "also_answered_by": unseen}), *told[1:])
        shown = Ranking(self.question, told, ranking.scores[:top])
        if not best:
            return Abstention(self.question, self._why_nothing(), shown)
        if there is not None and not self._gate_is_for_files:
            return _answer(shown, None)
        if self.gate is None and "chance" in best[0].extra:
            chance = float(best[0].extra["chance"])
            if chance < self.least:
                said, least = f"{chance:.2g}", f"{self.least:.2g}"
                said = f"{chance:.4g}" if said == least else said
                likely = f"the likeliest passage is right with a chance of {said}, less than {least}"
                if self.least > LEAST:
                    likely = f"{likely}, the threshold of the gate that is set aside"
                why = f"{likely}{self._without_words()}"
                return Abstention(self.question, why, shown, chance, threshold=self.least)
            return replace(_answer(shown, chance), threshold=self.least)
        if self.gate is None:
            look: Look | None = best[0].extra.get("look")
            if look is not None and look.span is None:
                reason = "the reader finds no answer in the passage that came nearest"
                return Abstention(self.question, reason, shown, look.confidence)
            return _answer(shown, look and look.confidence)
        verdict, certificate = self._verdict(self.gate), self.gate.certificate
        if verdict.refusal and there is None:
            reason = f"{verdict.refusal}{self._without_words()}"
            return Abstention(
                self.question, reason, shown, verdict.confidence, certificate, verdict.threshold
            )
        return replace(
            _answer(shown, verdict.confidence), certificate=certificate, threshold=verdict.threshold
        )

    @property
    def _gate_is_for_files(self) -> bool:
        return self.gate is not None and self.search.known_to(self.gate) is self.search

    @property
    def _gate_is_of_unanswerable(self) -> bool:
        from demur.risk.gates.certificate import UNANSWERABLE

        return self.gate is not None and self.gate.certificate.get("about") == UNANSWERABLE

    def _written(self) -> int | None:
        """The place of the best passage that stands under a heading which asks the very same."""
        headings = (candidate.extra["heading"] for candidate in self.ranking.candidates)
        return next((place for place, heading in enumerate(headings) if same(self.question, heading)), None)

    def _verdict(self, gate: Gate) -> Verdict:
        """What the gate says; one for given candidates judges what its ranker was given, headings and all."""
        if self._gate_is_for_files:
            return gate.judge(self.ranking)
        given = tuple(replace(each, text=_above(each) + each.text) for each in self.ranking.candidates)
        return gate.judge(replace(self.ranking, candidates=given))

    def _read(self, reader: object | None, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """The candidates with what the reader sees in each, whoever has read them to rank them."""
        if reader is None:
            return tuple(map(without_look, candidates))
        if reader is self.search.ranker and all("look" in candidate.extra for candidate in candidates):
            return candidates
        texts = [_above(candidate) + candidate.text for candidate in candidates]
        return tuple(map(with_look, candidates, looks(reader, self.question, texts)))

    def _told(self, candidate: Candidate) -> Candidate:
        """The candidate with a quotation, its sentence, the question's words in it, and their share.

        Where a reader found nothing to quote, the sentence with the weightiest words is quoted.
        """
        library, text = self.search.library, candidate.text
        weights = {word: library.idf(word) for word in self.words}
        matched = found(self.words, f"{candidate.extra['heading']}\n{text}", library.stem)
        look: Look | None = candidate.extra.get("look")
        span = None if look is None else within(look.span, len(_above(candidate)), text)
        sentence = quote(text, weights, library.stem) if span is None else around(text, span)
        extra = {
            **candidate.extra,
            "span": span or sentence,
            "sentence": sentence,
            "matched": matched,
            "coverage": sum(weights[word] for word in matched) / (sum(weights.values()) or 1.0),
        }
        return replace(candidate, extra=extra)

    def _without_words(self) -> str:
        """What is added to a refusal where passages are near in meaning alone."""
        if not self.words or len(self.search.library.by_words(self.question, 1)[0]):
            return ""
        return f"; {self._why_nothing()}"

    def _why_nothing(self) -> str:
        passages, words = len(self.search.library), self.words
        if not passages:
            return "there are no passages to look in"
        if not words:
            return "the question has no words to look for"
        where = f"the {passages:,} passages" if passages > 1 else "the one passage"
        if len(words) > 1:
            return f"none of its words – {', '.join(words)} – occurs in {where}"
        return f"its only word to look for, {words[0]}, does not occur in {where}"


def _first(ranking: Ranking, place: int) -> Ranking:
    """The ranking with one of its candidates before all others."""
    order = [place, *(each for each in range(len(ranking)) if each != place)]
    candidates = tuple(ranking.candidates[each] for each in order)
    return Ranking(ranking.question, candidates, tuple(ranking.scores[each] for each in order))


def _answer(shown: Ranking, confidence: float | None) -> Answer:
    """The best passage as the answer."""
    best = shown.candidates[0]
    return Answer(shown.question, best, shown.scores[0], best.extra["span"], shown, confidence)


def _above(candidate: Candidate) -> str:
    """What stands before a candidate's text in what is searched."""
    return f"{candidate.extra['heading']}\n" if candidate.extra["heading"] else ""
