// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/confusion_matrix.hpp>

#include <doctest/doctest.h>

using straggle::status;
using straggle::stats::confusion_matrix;

TEST_CASE("confusion matrix: by hand") {
    confusion_matrix m;
    for (int i = 0; i < 3; ++i) CHECK(m.observe(true, true));
    m.observe(false, true);
    m.observe(true, false);
    m.observe(true, false);
    for (int i = 0; i < 4; ++i) m.observe(false, false);
    CHECK(m == confusion_matrix{3, 1, 2, 4});
    CHECK(m.total() == 10);
    CHECK(m.positives() == 5);
    CHECK(m.negatives() == 5);
    CHECK(m.said() == 4);
    CHECK(*m.accuracy() == 0.7);
    CHECK(*m.precision() == 0.75);
    CHECK(*m.recall() == 0.6);
    CHECK(*m.f1() == doctest::Approx(2 * 0.75 * 0.6 / 1.35).epsilon(1e-15));
    m += m;
    CHECK(m == confusion_matrix{6, 2, 4, 8});
}

TEST_CASE("confusion matrix: no share of nothing") {
    constexpr confusion_matrix none;
    for (auto const& share : {none.accuracy(), none.precision(), none.recall(), none.f1()})
        CHECK(share.reason() == status::insufficient_evidence);
    static_assert(*confusion_matrix{.true_negatives = 2}.accuracy() == 1);
    CHECK_FALSE(confusion_matrix{.true_negatives = 2}.f1().has_value());
    CHECK(*confusion_matrix{.false_positives = 2}.precision() == 0);
    CHECK_FALSE(confusion_matrix{.false_positives = 2}.recall().has_value());
    CHECK(*confusion_matrix{.false_positives = 2}.f1() == 0);
    CHECK(*confusion_matrix{.false_negatives = 2}.recall() == 0);
}
