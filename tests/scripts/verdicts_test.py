"""The comparison of verdicts refuses what has changed, and the page shows what it is given."""
import copy
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "theory"))

import page
import plots
import verdicts

CHECK = {"what": "a count", "rule": "near", "predicted": 3, "measured": 3, "tolerance": 0, "judged": True, "verdict": "holds"}
TIME = dict(CHECK, what="a time", judged=False, tolerance=0.1, verdict="as predicted")
PLOT = {"title": "T", "x_label": "x", "y_label": "y", "log_x": True, "log_y": True,
        "curves": [{"name": "<b>", "predicted": False, "points": False, "x": [1, 10, 100], "y": [1, 0, "NaN"]}]}
CLAIM = {"row": "R1", "statement": "A <claim>.", "formula": "f", "source": "s", "remarks": [], "checks": [CHECK, TIME],
         "plots": [PLOT], "pictures": [{"title": "P", "x_label": "k", "y_label": "q", "rows": [[1, 0], [0.5, 0.5]]}]}
RESULT = {"program": "theory_recurrent", "quick": True, "seed": 0, "claims": [CLAIM]}


def changed(**values):
    """What the comparison says of a result whose count has other values."""
    found = copy.deepcopy(RESULT)
    found["claims"][0]["checks"][0].update(values)
    return list(verdicts.differences("x", verdicts.judged(verdicts.reduced(RESULT)), verdicts.judged(found)))


class Verdicts(unittest.TestCase):
    def test_the_same_result_has_no_difference(self):
        self.assertEqual(changed(), [])

    def test_another_verdict_is_a_difference(self):
        self.assertIn("'fails', was 'holds'", changed(verdict="fails")[0])

    def test_a_looser_tolerance_is_a_difference(self):
        self.assertIn("looser", changed(tolerance=1)[0])

    def test_another_count_is_a_difference(self):
        self.assertIn("counted 4, was 3", changed(measured=4, predicted=4)[0])

    def test_a_new_and_a_missing_check_are_differences(self):
        self.assertEqual(len(changed(what="another count")), 2)

    def test_a_time_is_not_compared(self):
        found = copy.deepcopy(RESULT)
        found["claims"][0]["checks"][1]["verdict"] = "not as predicted"
        self.assertEqual(list(verdicts.differences("x", verdicts.judged(RESULT), verdicts.judged(found))), [])

    def test_a_value_that_is_not_finite_is_named(self):
        self.assertIn("measured nan", changed(verdict="fails", measured="NaN")[0])


class Documentation(unittest.TestCase):
    def test_the_docs_list_every_claim(self):
        root = os.path.join(os.path.dirname(__file__), "..", "..")
        with open(os.path.join(root, "docs", "theory.md"), encoding="utf-8") as file:
            docs = file.read()
        reference = os.path.join(root, "examples", "studies", "reference")
        for name in os.listdir(reference):
            for claim in verdicts.load(os.path.join(reference, name))["claims"]:
                self.assertIn(f'**{claim["row"]}** {claim["statement"]}', docs, name)


class Page(unittest.TestCase):
    def test_names_are_escaped(self):
        text = page.page([RESULT])
        self.assertIn("A &lt;claim&gt;.", text)
        self.assertIn("&lt;b&gt;", text)
        self.assertNotIn("</svg><b>", text)

    def test_the_headline_counts_what_fails(self):
        self.assertIn("All 1 verdicts hold.", page.page([RESULT]))
        failing = copy.deepcopy(RESULT)
        failing["claims"][0]["checks"][0]["verdict"] = "fails"
        self.assertIn("1 of 1 verdicts do not hold.", page.page([failing]))

    def test_axes_leave_out_what_they_cannot_show(self):
        self.assertEqual(list(plots.shown_points(PLOT["curves"][0], PLOT)), [(1, 1)])

    def test_numbers(self):
        self.assertEqual(plots.number(1312), "1\u202f312")
        self.assertEqual(plots.number(2.9e-5), "2.9·10⁻⁵")
        self.assertEqual(plots.number("Inf"), "∞")


if __name__ == "__main__":
    unittest.main()
