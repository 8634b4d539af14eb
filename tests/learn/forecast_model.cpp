// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/forecast_model.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace straggle;

namespace {

// Twenty nodes in a period of five days; every third is slow on the last two days, and weak afterwards.
learn::node_days<std::string> five_days(int period) {
    learn::node_days<std::string> days(5);
    for (int node = 0; node < 20; ++node)
        for (std::size_t day = 0; day < 5; ++day)
            for (int k = 0; k < 3; ++k)
                days.observe("n" + std::to_string(node), day,
                             0.01 * ((node * 7 + k * 5 + period) % 11) +
                                 (day >= 3 && (node + period) % 3 == 0 ? 1.0 : 0.0));
    return days;
}

learn::forecast_model learned() {
    std::vector<learn::node_period<std::string>> periods;
    learn::forecast_model model{.days = 5, .day_length = 86400000, .features{.look_back = 2}};
    for (int period = 0; period < 6; ++period) {
        auto const days = five_days(period);
        learn::node_period<std::string> p;
        days.table(p.features, model.features);
        for (std::size_t i = 0; i < days.size(); ++i) {
            p.nodes.push_back(days.node(i));
            p.weak.push_back((static_cast<int>(i) + period - 1) % 3 == 0 ? 1 : 0);
        }
        periods.push_back(std::move(p));
    }
    learn::forecaster<std::string, learn::boosted_trees_trainer> f;
    REQUIRE(f.fit(periods) == status::ok);
    model.trees = f.learner().model();
    return model;
}

status read(std::vector<std::byte> const& bytes, learn::forecast_model& model) {
    return model.restore(bytes);
}

} // namespace

TEST_CASE("forecast_model: says what the forecaster it comes from says") {
    learn::forecast_model const model = learned();
    auto const days = five_days(9);
    std::vector<double> rows;
    std::vector<learn::node_forecast<std::string>> out;
    REQUIRE(model.forecast(days, rows, out) == status::ok);
    REQUIRE(out.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(out[i].id == "n" + std::to_string(i));
        CHECK((out[i].probability >= 0.5) == (i % 3 == 0)); // slow at the end of period 9
        std::vector<double> table;
        CHECK(out[i].probability == model.trees.predict(days.table(table, {.look_back = 2}).row(i)));
    }
}

TEST_CASE("forecast_model: comes back from its bytes") {
    learn::forecast_model const model = learned();
    auto const bytes = model.serialize();
    learn::forecast_model again;
    REQUIRE(read(bytes, again) == status::ok);
    CHECK(again == model);
    CHECK(again.serialize() == bytes);
    learn::forecast_model paper{.days = 30, .features{.idle = learn::idle_days::missing, .look_back = 0}};
    REQUIRE(read(paper.serialize(), again) == status::ok); // one without trees, too
    CHECK(again == paper);
    CHECK_FALSE(again == model);
}

TEST_CASE("forecast_model: stays as it was when the bytes are no model") {
    learn::forecast_model const model = learned();
    auto const bytes = model.serialize();
    learn::forecast_model kept = model;
    for (std::size_t n = 0; n < bytes.size(); n += 1 + n / 40) {
        CHECK(read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}, kept) != status::ok);
        auto flipped = bytes;
        flipped[n] ^= std::byte{0x10};
        CHECK(read(flipped, kept) != status::ok);
    }
    CHECK(read(model.trees.serialize(), kept) == status::wrong_kind); // trees alone are no model
    CHECK(kept == model);

    auto const sealed = [&](std::uint64_t days, std::uint64_t back, learn::boosted_trees const& trees) {
        byte_writer out;
        out.varint(days);
        out.varint(1);
        out.flag(false);
        out.varint(back);
        out.flag(false); // not tested
        out.varint(0);
        out.varint(0);
        auto const grown = trees.serialize();
        out.text({reinterpret_cast<char const*>(grown.data()), grown.size()});
        return std::move(out).seal(frame_kind("fore"), 1);
    };
    CHECK(read(sealed(5, 2, model.trees), kept) == status::ok);
    CHECK(read(sealed(4, 2, model.trees), kept) == status::corrupt); // of other columns
    CHECK(read(sealed(0, 2, {}), kept) == status::corrupt);
    CHECK(read(sealed(40001, 2, {}), kept) == status::corrupt);
    CHECK(read(sealed(5, UINT64_MAX, {}), kept) == status::corrupt);
    CHECK(kept.days == 5);
}

TEST_CASE("forecast_model: what was found no better than as it was before says so, also when stored") {
    learn::forecast_model model = learned();
    CHECK(model.is_useful()); // nobody has tested it
    model.is_tested = true;
    CHECK(!model.is_useful());
    model.better = 5;
    model.worse = 3; // by chance
    CHECK(!model.is_useful());
    learn::forecast_model copy;
    REQUIRE(copy.restore(model.serialize()) == status::ok);
    CHECK(copy == model);
    CHECK(!copy.is_useful());
    model.better = 40;
    REQUIRE(copy.restore(model.serialize()) == status::ok);
    CHECK(copy.better == 40);
    CHECK(copy.worse == 3);
    CHECK(copy.is_useful());
}

TEST_CASE("forecast_model: is silent without trees, and about other days") {
    learn::forecast_model model = learned();
    std::vector<double> rows;
    std::vector<learn::node_forecast<std::string>> out;
    CHECK(model.forecast(learn::node_days<std::string>(5), rows, out) == status::ok);
    CHECK(out.empty());
    CHECK(model.forecast(learn::node_days<std::string>(6), rows, out) == status::out_of_domain);
    model.days = 6;
    CHECK(model.forecast(learn::node_days<std::string>(6), rows, out) == status::out_of_domain);
    model.trees = {};
    CHECK(model.forecast(learn::node_days<std::string>(6), rows, out) == status::insufficient_evidence);
}

TEST_CASE("forecast_model: allocates nothing in the steady state") {
    learn::forecast_model const model = learned();
    auto const days = five_days(3); // names that need no memory of their own
    std::vector<double> rows;
    std::vector<learn::node_forecast<std::string>> out;
    REQUIRE(model.forecast(days, rows, out) == status::ok);
    CHECK(straggle_test::allocations_during([&] { (void)model.forecast(days, rows, out); }) == 0);
}
