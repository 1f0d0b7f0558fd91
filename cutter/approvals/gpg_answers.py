"""IO: keeps gpg's answers about signatures of lists for a short time. All statements of a list have one signature."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from cutter import limits
from cutter.gpg_status import SignatureEvidence


class Answers:
    """gpg's newest answers about signatures of lists. Only an answer that decides something is kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, ...], tuple[float, SignatureEvidence]] = OrderedDict()

    def get(self, asked: tuple[str, ...], ask: Callable[[], SignatureEvidence]) -> SignatureEvidence:
        """The answer to a question. `asked` names the policy epoch, gpg's home, the signed bytes and the signature."""
        with self._lock:
            at, answer = self._kept.get(asked, (-math.inf, SignatureEvidence()))
        if self._clock() - at < limits.LIST_ANSWER_SECONDS:
            return answer
        began, answer = self._clock(), ask()
        with self._lock:
            self._kept.pop(asked, None)
            if answer.unverifiable is None:
                self._kept[asked] = (began, answer)
            while len(self._kept) > limits.LIST_ANSWERS_MAX:
                self._kept.popitem(last=False)
        return answer


ANSWERS = Answers()
