// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/classifier.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace straggle;

namespace {

// Can do what the concept asks for and nothing else.
struct minimal_classifier {
    static constexpr char const* name = "minimal_classifier";
    status fit(learn::feature_matrix<double>, std::span<std::uint8_t const>) { return status::ok; }
    double predict(std::span<double const>) const { return 0; }
};
struct without_name : minimal_classifier {
    static constexpr int name = 1;
};
struct without_fit {
    [[maybe_unused]] static constexpr char const* name = "";
    double predict(std::span<double const>) const { return 0; }
};
struct fits_without_a_word : minimal_classifier {
    void fit(learn::feature_matrix<double>, std::span<std::uint8_t const>) {}
};
struct without_predict {
    [[maybe_unused]] static constexpr char const* name = "";
    status fit(learn::feature_matrix<double>, std::span<std::uint8_t const>) { return status::ok; }
};
struct predicts_a_class : minimal_classifier {
    bool predict(std::span<double const>) const { return false; }
};
struct changes_when_asked : minimal_classifier {
    double predict(std::span<double const>) { return 0; }
};
struct cannot_move : minimal_classifier {
    cannot_move(cannot_move&&) = delete;
};
struct takes_floats_only : minimal_classifier {
    status fit(learn::feature_matrix<float>, std::span<std::uint8_t const>) { return status::ok; }
};

static_assert(learn::classifier<minimal_classifier>);
static_assert(!learn::classifier<without_name>);
static_assert(!learn::classifier<without_fit>);
static_assert(!learn::classifier<fits_without_a_word>);
static_assert(!learn::classifier<without_predict>);
static_assert(!learn::classifier<predicts_a_class>);
static_assert(!learn::classifier<changes_when_asked>);
static_assert(!learn::classifier<cannot_move>);
static_assert(!learn::classifier<takes_floats_only>);
static_assert(!learn::classifier<learn::boosted_trees>); // they are only asked

// A classifier of the user's: the share of ones, whatever the row.
class base_rate {
  public:
    static constexpr std::string_view name = "base_rate";
    status fit(learn::feature_matrix<double> const& rows, std::span<std::uint8_t const> labels) {
        if (rows.empty()) return status::insufficient_evidence;
        double ones = 0;
        for (std::uint8_t const label : labels) ones += label;
        rate_ = ones / static_cast<double>(rows.rows());
        return status::ok;
    }
    [[nodiscard]] double predict(std::span<double const>) const { return rate_; }

  private:
    double rate_ = 0.5;
};

template <learn::classifier Classifier>
double asked_after_learning(Classifier learner) {
    std::vector<double> const table{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<std::uint8_t> const labels{0, 0, 0, 1};
    REQUIRE(learner.fit(learn::feature_matrix(table, 2), labels) == status::ok);
    return learner.predict(std::span(table).last(2));
}

} // namespace

TEST_CASE("classifier: ours and the user's take each other's place") {
    CHECK(asked_after_learning(base_rate{}) == 0.25);
    CHECK(asked_after_learning(learn::boosted_trees_trainer({.min_child_weight = 0})) > 0.5);
    CHECK(learn::boosted_trees_trainer::name == "boosted_trees");
}
