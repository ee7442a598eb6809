"""Plain BM25 over the same messages, beside the service in the same run: k1 1.2, b 0.75, ``speaker: text``, the
product's analyser, no context, no vectors."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from evals.retrieval.chats import Chat
from evals.retrieval.scoring import Ranking
from neve.adapters.segments.analysis import Analyzer

K1, B = 1.2, 0.75


class PlainBm25:
    def __init__(self, chat: Chat) -> None:
        self._messages, self._analyzer = chat.messages, Analyzer()
        documents = [Counter(self._analyzer.terms(message.indexed_text)) for message in self._messages]
        lengths = [sum(document.values()) for document in documents]
        mean = sum(lengths) / len(lengths)
        self._weights: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for number, document in enumerate(documents):
            norm = K1 * (1 - B + B * lengths[number] / mean)
            for term, tf in document.items():
                self._weights[term].append((number, tf * (K1 + 1) / (tf + norm)))

    def rank(self, question: str, k: int) -> Ranking:
        scores: dict[int, float] = defaultdict(float)
        total = len(self._messages)
        for term in set(self._analyzer.terms(question)):
            hits = self._weights.get(term, [])
            idf = math.log(1 + (total - len(hits) + 0.5) / (len(hits) + 0.5))
            for number, weight in hits:
                scores[number] += idf * weight
        best = sorted(scores, key=lambda number: (-scores[number], number))[:k]
        return [frozenset({self._messages[number].id}) for number in best]
