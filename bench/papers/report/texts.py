# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The texts of the report, paper by paper."""
import dsb_texts
import evaluation_texts
import ml_na_texts
import riski_texts
import together_texts

INTRODUCTION = (
    "SimGrid runs the clusters; all decisions are made through straggle's public headers, as a scheduler would make them. "
    "Numbers are medians over the runs, with an interval between order statistics that contains the true median with at least 95 %; "
    "improvements are compared run by run, on the same seeds. Where an expectation is not met, the report says so.")

CHAPTERS = [dsb_texts.CHAPTER, evaluation_texts.CHAPTER, riski_texts.CHAPTER, ml_na_texts.CHAPTER, together_texts.CHAPTER]
