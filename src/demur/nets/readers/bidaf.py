"""BiDAF (Seo et al. 2017), with a trained position for no answer (Clark and Gardner 2018): b pairs of texts.

The question has m words, the passage n, each with c letters; 0 fills up, and changes nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from demur.nets.matching.match_net import BothWays
from demur.nets.transformers.dropout import dropout


class BiDAF(nn.Module):
    """How well each position starts and ends the answer, the first being no answer; and each layer."""

    def __init__(
        self,
        words: int,
        letters: int,
        wide: int,
        hidden: int = 100,
        filters: int = 100,
        drop: float = 0.2,
        fixed: int = 0,
    ) -> None:
        super().__init__()
        both, self.drop = wide + filters, drop
        self.sizes = {"wide": wide, "hidden": hidden, "filters": filters, "drop": drop, "fixed": fixed}
        self.words = nn.Embedding(words - fixed, wide, padding_idx=0)
        self.fixed = nn.Embedding(1 + fixed, wide, padding_idx=0).requires_grad_(False)  # the last words'
        self.letters = nn.Embedding(letters, 16, padding_idx=0)
        self.convolution = nn.Conv1d(16, filters, 5)
        self.gates = nn.ModuleList(nn.Linear(both, both) for _ in range(2))
        self.changes = nn.ModuleList(nn.Linear(both, both) for _ in range(2))
        self.context = BothWays(nn.LSTM, both, hidden)
        self.alike = nn.Linear(6 * hidden, 1, bias=False)
        self.modelling = nn.ModuleList(BothWays(nn.LSTM, e, hidden) for e in (8 * hidden, 2 * hidden))
        self.ending = BothWays(nn.LSTM, 2 * hidden, hidden)
        self.start, self.end = nn.Linear(10 * hidden, 1), nn.Linear(10 * hidden, 1)
        self.null = nn.Parameter(torch.zeros(1))

    def embed(self, words: Tensor, letters: Tensor) -> Tensor:
        """The vector of each word, from itself and from its letters: b × t × e."""
        b, t, c = letters.shape
        spelt = self.letters(letters).view(b * t, c, -1).transpose(1, 2)  # b·t × 16 × c
        spelt = relu(self.convolution(self._dropped(spelt))).amax(2).view(b, t, -1)  # b × t × filters
        learnt = self.words.num_embeddings
        meant = self.words(words * (words < learnt)) + self.fixed((words - learnt + 1).clamp(min=0))
        x = torch.cat([self._dropped(meant), spelt], 2)  # b × t × e
        for gate, change in zip(self.gates, self.changes, strict=True):  # the highway
            share = torch.sigmoid(gate(x))
            x = share * relu(change(x)) + (1 - share) * x
        return x

    def forward(
        self, question: Tensor, spelt_question: Tensor, passage: Tensor, spelt_passage: Tensor
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Starts and ends, b × 1 + n, -inf where the passage is filled up; and each layer's b × n × width."""
        asked, there = question > 0, passage > 0  # b × m, b × n
        embedded = self.embed(passage, spelt_passage)  # b × n × e
        q = self.context(self._dropped(self.embed(question, spelt_question)), asked)  # b × m × 2h
        p = self.context(self._dropped(embedded), there)  # b × n × 2h
        of_p, of_q, of_both = self.alike.weight[0].chunk(3)  # 2h each
        s = (p @ of_p)[:, :, None] + (q @ of_q)[:, None] + (p * of_both) @ q.mT  # b × n × m
        s = s.float().masked_fill(~asked[:, None], -torch.inf)
        to_q = s.softmax(2).type_as(q) @ q  # b × n × 2h: what of the question each word is about
        most = s.amax(2).masked_fill(~there, -torch.inf).softmax(1).type_as(p)  # b × n
        to_p = (most[:, None] @ p).expand_as(p)  # b × n × 2h: what of the passage the question is about
        attended = torch.cat([p, to_q, p * to_q, p * to_p], 2)  # b × n × 8h
        modelled = attended
        for layer in self.modelling:
            modelled = layer(self._dropped(modelled), there)  # b × n × 2h
        ended = self.ending(self._dropped(modelled), there)  # b × n × 2h
        starts = self.start(self._dropped(torch.cat([attended, modelled], 2)))[:, :, 0]  # b × n
        ends = self.end(self._dropped(torch.cat([attended, ended], 2)))[:, :, 0]  # b × n
        null = self.null.expand(len(passage), 1).float()  # b × 1
        starts, ends = (
            torch.cat([null, x.float().masked_fill(~there, -torch.inf)], 1) for x in (starts, ends)
        )
        return starts, ends, [embedded, p, attended, modelled, ended]

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.drop, self.training)
