"""An answer about the signature of a list is used again for a short time, if it decided something."""

from __future__ import annotations

from cutter import limits
from cutter.approvals.reader import Answers
from cutter.openpgp import Outcome, SignatureEvidence, SignatureRecord

GOOD = SignatureEvidence(records=(SignatureRecord(outcomes=(Outcome.GOOD,)),))
AWAY = SignatureEvidence(unverifiable="gpg was killed")


class Gpg:
    """Gives the same answer each time, and counts."""

    def __init__(self, answer: SignatureEvidence) -> None:
        self.answer, self.asked = answer, 0

    def __call__(self) -> SignatureEvidence:
        self.asked += 1
        return self.answer


def test_an_answer_is_used_again_until_its_time_is_over() -> None:
    now, gpg = [1000.0], Gpg(GOOD)
    answers = Answers(clock=lambda: now[0])
    for seconds, asked in ((0, 1), (limits.LIST_ANSWER_SECONDS - 1, 1), (limits.LIST_ANSWER_SECONDS, 2)):
        now[0] = 1000.0 + seconds
        assert (answers.get(("epoch", "home", "head", "signature"), gpg), gpg.asked) == (GOOD, asked)


def test_each_part_of_a_question_makes_another_question() -> None:
    answers, gpg = Answers(), Gpg(GOOD)
    question = ["epoch", "home", "head", "signature"]
    answers.get(tuple(question), gpg)
    for number in range(len(question)):
        answers.get((*question[:number], "other", *question[number + 1 :]), gpg)
    assert gpg.asked == 1 + len(question)


def test_what_gpg_could_not_judge_is_asked_again() -> None:
    answers, gpg = Answers(), Gpg(AWAY)
    assert [answers.get(("one",), gpg) for _ in range(2)] == [AWAY, AWAY]
    assert gpg.asked == 2


def test_the_oldest_answer_makes_room() -> None:
    answers, gpg = Answers(), Gpg(GOOD)
    for number in range(limits.LIST_ANSWERS_MAX + 1):
        answers.get((str(number),), gpg)
    answers.get((str(limits.LIST_ANSWERS_MAX),), gpg)
    assert gpg.asked == limits.LIST_ANSWERS_MAX + 1
    answers.get(("0",), gpg)
    assert gpg.asked == limits.LIST_ANSWERS_MAX + 2
