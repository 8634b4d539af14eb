// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Trained trees: what they predict, what they cost, and that they come back from bytes as they were.

#include <straggle/learn/boosted_trees.hpp>
#include <straggle/learn/detail/boosted_trees_bytes.hpp>

#include "../fuzz/boosted_trees.cpp"
#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/corpus.hpp"
#include "../support/seed.hpp"
#include "tree_examples.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using namespace straggle_test;

namespace {

using bytes = std::vector<std::byte>;
constexpr double infinite = std::numeric_limits<double>::infinity();

// The definition: a leaf of each tree, found by asking, and the logistic function.
double literal_probability(learn::boosted_trees const& model, std::span<double const> row, double margin) {
    for (std::size_t t = 0; t < model.trees(); ++t) {
        auto const tree = model.tree(t);
        std::size_t at = 0;
        while (!tree[at].is_leaf()) {
            learn::tree_node const& n = tree[at];
            double const x = row[n.column()];
            bool const left = std::isnan(x) ? n.default_left() : static_cast<float>(x) < n.threshold();
            at = left ? n.left() : n.right();
        }
        margin += static_cast<double>(tree[at].value());
    }
    return 1 / (1 + std::exp(-margin));
}

learn::boosted_trees some_trees(std::uint64_t seed, std::uint32_t rounds, std::size_t columns = 6) {
    std::mt19937_64 draw(seed);
    return trained(random_examples(draw, 120, columns, 0.1), {.rounds = rounds, .base_score = 0.3});
}

// A payload whose numbers are given one by one.
struct payload {
    byte_writer out;
    payload(std::uint64_t columns, float base, std::uint64_t trees) {
        out.varint(columns);
        number(base);
        out.count(trees);
    }
    void number(float x) { out.u32(std::bit_cast<std::uint32_t>(x)); }
    payload& leaf(float value) {
        out.varint(0);
        number(value);
        return *this;
    }
    payload& split(std::uint64_t column, bool left, float threshold, float gain) {
        out.varint(2 * (column + 1) + (left ? 1 : 0));
        number(threshold);
        number(gain);
        return *this;
    }
    status read(learn::boosted_trees& trees) {
        return trees.restore(std::move(out).seal(frame_kind("tree"), 1));
    }
    status read() {
        learn::boosted_trees trees = some_trees(1, 2);
        learn::boosted_trees const before = trees;
        status const s = read(trees);
        CHECK((s == status::ok) != (trees == before));
        return s;
    }
};

} // namespace

TEST_CASE("boosted_trees: without trees everything is as likely as not") {
    learn::boosted_trees const none;
    CHECK(none.columns() == 0);
    CHECK(none.trees() == 0);
    CHECK(none.nodes() == 0);
    CHECK(none.predict(std::vector<double>{}) == 0.5);
    CHECK(none.predict(std::vector<double>{1, lacking, infinite}) == 0.5);
    std::vector<double> out(3);
    none.predict(learn::feature_matrix(std::vector<float>(6), 2), out);
    CHECK(out == std::vector<double>{0.5, 0.5, 0.5});
    none.importances({});
}

TEST_CASE("boosted_trees: predictions by the definition, one by one and all at once") {
    std::uint64_t const seed = seed_or(31);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (std::uint32_t const rounds : {1u, 7u, 8u, 9u, 40u}) {
        example_set const learned = random_examples(draw, 200, 5, 0.1);
        learn::boosted_trees const model = trained(learned, {.rounds = rounds, .base_score = 0.3});
        // Blocks that are full and not, with values missing in some, huge in others.
        for (std::size_t const rows : {0u, 1u, 7u, 8u, 63u, 64u, 65u, 200u}) {
            example_set asked = random_examples(draw, rows, 5);
            if (rows > 70)
                for (std::size_t i = 64; i < 130; ++i) asked.table[5 * i + i % 5] = lacking;
            if (rows == 200)
                asked.table[777] = infinite, asked.table[888] = -infinite, asked.table[999] = 1e300;
            std::vector<double> out(rows);
            model.predict(asked.all(), out);
            std::vector<float> const narrow(asked.table.begin(), asked.table.end());
            std::vector<double> narrow_out(rows);
            model.predict(learn::feature_matrix(narrow, 5), narrow_out);
            CHECK(out == narrow_out);
            for (std::size_t i = 0; i < rows; ++i) {
                CHECK(out[i] == model.predict(asked.all().row(i)));
                CHECK(out[i] == model.predict(learn::feature_matrix(narrow, 5).row(i)));
                // 40 sums in single precision
                CHECK(std::fabs(out[i] -
                                literal_probability(model, asked.all().row(i), std::log(0.3 / 0.7))) < 1e-6);
            }
        }
    }
}

TEST_CASE("boosted_trees: asking allocates nothing, and the rows have to fit") {
    learn::boosted_trees const model = some_trees(seed_or(32), 20);
    std::vector<double> const table(6 * 100, 0.5);
    std::vector<double> out(100);
    CHECK(allocations_during([&] {
              model.predict(learn::feature_matrix(table, 6), out);
              out[0] = model.predict(learn::feature_matrix(table, 6).row(0));
          }) == 0);
    std::vector<learn::feature_use> uses(6);
    CHECK(allocations_during([&] { model.importances(uses); }) == 0);

    contract_trap const trap;
    CHECK_THROWS_AS((void)model.predict(std::span(table).first(5)), broken_contract);
    CHECK_THROWS_AS((void)model.predict(std::span(table).first(7)), broken_contract);
    CHECK_THROWS_AS(model.predict(learn::feature_matrix(table, 5), out), broken_contract);
    CHECK_THROWS_AS(model.predict(learn::feature_matrix(table, 6), std::span(out).first(99)),
                    broken_contract);
    CHECK_THROWS_AS(model.importances(std::span(uses).first(5)), broken_contract);
    CHECK_THROWS_AS((void)model.tree(20), broken_contract);
}

TEST_CASE("boosted_trees: importances are the sums over the questions") {
    learn::boosted_trees const model = some_trees(seed_or(33), 30);
    std::vector<learn::feature_use> uses(6, {99, 99}), expected(6);
    model.importances(uses);
    for (std::size_t t = 0; t < model.trees(); ++t)
        for (learn::tree_node const& n : model.tree(t))
            if (!n.is_leaf()) {
                ++expected[n.column()].splits;
                expected[n.column()].gain += static_cast<double>(n.gain());
            }
    CHECK(uses == expected);
}

TEST_CASE("boosted_trees: there and back as bytes") {
    for (std::uint32_t const rounds : {0u, 1u, 30u})
        for (std::size_t const columns : {1u, 6u, 200u}) {
            learn::boosted_trees const model = some_trees(seed_or(34), rounds, columns);
            bytes const stored = model.serialize();
            learn::boosted_trees back = some_trees(1, 3);
            REQUIRE(back.restore(stored) == status::ok);
            CHECK(back == model);
            CHECK(back.columns() == columns);
            CHECK(back.serialize() == stored);
            CHECK(stored.size() <= 32 + 5 + 4 + 3 + 11 * model.nodes());
            std::vector<double> const row(columns, 0.7);
            CHECK(back.predict(row) == model.predict(row));
        }
    learn::boosted_trees none;
    CHECK(none.restore(learn::boosted_trees().serialize()) == status::ok);
    CHECK(none == learn::boosted_trees());
}

TEST_CASE("boosted_trees: the bytes stay the same from version to version") {
    payload p(3, 0.5F, 2);
    p.split(2, true, 1.5F, 4.0F).leaf(-0.25F).split(0, false, -1.0F, 2.0F).leaf(0.125F).leaf(1.0F).leaf(0.5F);
    learn::boosted_trees trees;
    REQUIRE(p.read(trees) == status::ok);
    CHECK(trees.trees() == 2);
    CHECK(trees.tree(0).size() == 5);
    CHECK(trees.tree(0)[2].left() == 3);
    CHECK(trees.tree(1).size() == 1);
    CHECK(trees.predict(std::vector<double>{-2, 0, 1.5}) ==
          doctest::Approx(1 / (1 + std::exp(-0.5 - 0.125 - 0.5))).epsilon(1e-6));
    CHECK(trees.predict(std::vector<double>{lacking, 0, lacking}) ==
          doctest::Approx(1 / (1 + std::exp(-0.5 + 0.25 - 0.5))).epsilon(1e-6));
    std::string hex;
    for (std::byte const b : trees.serialize()) {
        hex += "0123456789abcdef"[static_cast<unsigned>(b) / 16];
        hex += "0123456789abcdef"[static_cast<unsigned>(b) % 16];
    }
    CHECK(hex == "8e73747261670d0a7472656501000000"       // magic, kind, version 1
                 "2c00000000000000030000003f02"           // length, 3 features, base, 2 trees
                 "070000c03f0000804000000080be"           // question, leaf
                 "02000080bf00000040000000003e000000803f" // question, two leaves
                 "000000003fc9291ffef4e9a82a");           // leaf; checksum
}

TEST_CASE("boosted_trees: bytes that are something else, or not whole") {
    bytes const stored = some_trees(seed_or(35), 4).serialize();
    learn::boosted_trees trees = some_trees(1, 2);
    learn::boosted_trees const before = trees;
    for (std::size_t n = 0; n < stored.size(); ++n) {
        CHECK(trees.restore(std::span(stored).first(n)) != status::ok);
        bytes damaged = stored;
        damaged[n] ^= std::byte{0x10};
        CHECK(trees.restore(damaged) != status::ok);
    }
    CHECK(trees.restore(byte_writer().seal(frame_kind("moni"), 1)) == status::wrong_kind);
    CHECK(trees.restore(byte_writer().seal(frame_kind("tree"), 2)) == status::unknown_version);
    CHECK(trees.restore(byte_writer().seal(frame_kind("tree"), 1)) == status::truncated);
    CHECK(trees == before);
}

TEST_CASE("boosted_trees: numbers that no training gives") {
    constexpr float huge = 1.1e17F, endless = std::numeric_limits<float>::infinity(),
                    nothing = std::numeric_limits<float>::quiet_NaN();
    CHECK(payload(2, 0, 1).leaf(1).read() == status::ok);
    CHECK(payload(2, 0, 1).leaf(9e16F).read() == status::ok);
    CHECK(payload(2, 0, 1).split(1, true, endless, 0).leaf(1).leaf(1).read() == status::ok);
    for (float const bad : {huge, -huge, endless, -endless, nothing}) {
        CHECK(payload(2, bad, 1).leaf(1).read() == status::corrupt);
        CHECK(payload(2, 0, 1).leaf(bad).read() == status::corrupt);
    }
    CHECK(payload(2, 0, 1).split(1, true, nothing, 0).leaf(1).leaf(1).read() == status::corrupt);
    for (float const bad : {-1.0F, endless, nothing})
        CHECK(payload(2, 0, 1).split(1, true, 0, bad).leaf(1).leaf(1).read() == status::corrupt);
    // Columns that are not there; 2^64 - 1 is what a lone 1 would be.
    for (std::uint64_t const bad :
         {std::uint64_t{2}, std::uint64_t{1} << 30, std::uint64_t{1} << 62, UINT64_MAX})
        CHECK(payload(2, 0, 1).split(bad, true, 0, 0).leaf(1).leaf(1).read() == status::corrupt);
    CHECK(payload(0, 0, 1).leaf(1).read() == status::corrupt);
    CHECK(payload(learn::tree_node::most_columns, 0, 1).leaf(1).read() == status::ok);
    CHECK(payload(learn::tree_node::most_columns + 1, 0, 1).leaf(1).read() == status::corrupt);
    CHECK(payload(UINT64_MAX, 0, 1).leaf(1).read() == status::corrupt);
    // Too few nodes, too many.
    CHECK(payload(2, 0, 1).split(1, true, 0, 0).leaf(1).read() == status::truncated);
    CHECK(payload(2, 0, 2).leaf(1).read() == status::truncated);
    CHECK(payload(2, 0, 1).leaf(1).leaf(1).read() == status::corrupt);
}

TEST_CASE("boosted_trees: a chain is as deep as it is long, and ends") {
    std::uint32_t const depth = 20'000;
    payload p(1, 0, 1);
    // To the left of each question a leaf, to the right the next question.
    for (std::uint32_t i = 0; i < depth; ++i) p.split(0, false, static_cast<float>(i), 0).leaf(-1);
    p.leaf(0.5F);
    learn::boosted_trees trees;
    REQUIRE(p.read(trees) == status::ok);
    std::vector<double> const table(16, 1e9);
    std::vector<double> out(16);
    trees.predict(learn::feature_matrix(table, 1), out);
    for (double const x : out) CHECK(x == doctest::Approx(1 / (1 + std::exp(-0.5))).epsilon(1e-6));
    CHECK(trees.predict(std::vector<double>{1e9}) == out[0]);
    CHECK(trees.predict(std::vector<double>{-1}) == doctest::Approx(1 / (1 + std::exp(1.0))).epsilon(1e-6));
}

TEST_CASE("boosted_trees: hostile counts take no memory") {
    for (std::uint64_t const many : {std::uint64_t{100'000}, std::uint64_t{1} << 32, UINT64_MAX}) {
        bytes const sealed = std::move(payload(3, 0, many).leaf(1).out).seal(frame_kind("tree"), 1);
        learn::boosted_trees trees;
        std::size_t const before = allocated_bytes();
        CHECK(trees.restore(sealed) == status::truncated);
        CHECK(allocated_bytes() - before < 1000);
    }
}

TEST_CASE("boosted_trees: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "boosted_trees", LLVMFuzzerTestOneInput);
}

TEST_CASE("boosted_trees: what the fuzzer does, on damaged trees with the checksum put right") {
    std::uint64_t const seed = seed_or(36);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::vector<bytes> inputs;
    for (std::uint32_t rounds = 0; rounds < 8; ++rounds)
        inputs.push_back(some_trees(seed + rounds, rounds, 1 + rounds).serialize());
    for (int round = 0; round < 2000; ++round) {
        bytes input = inputs[draw() % inputs.size()];
        for (std::uint64_t flips = 1 + draw() % 4; flips > 0; --flips)
            input[24 + draw() % (input.size() - 24)] =
                static_cast<std::byte>(draw() % 3 == 0 ? draw() : draw() % 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(input.data()), input.size());
    }
}
