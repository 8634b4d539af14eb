// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: trees either say why they cannot become what the bytes describe and stay as they were,
// or they are stored as just these bytes again and say a probability of any row. And whatever the examples:
// training says why not, or gives trees that do the same. tests/learn/boosted_trees.cpp replays the corpus.

#include <straggle/base/bytes.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/forecast_model.hpp>

#include "fuzzing.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace {

using fuzzing::demand;

inline void ask(straggle::learn::boosted_trees const& trees) {
    if (trees.columns() > 4096) return;
    constexpr float lacking = std::numeric_limits<float>::quiet_NaN(),
                    infinite = std::numeric_limits<float>::infinity();
    std::size_t const rows = 67; // more than a block
    std::vector<float> table(rows * trees.columns());
    float const values[] = {0, 1, -1, lacking, 0.5F, infinite, -infinite, 3e38F, -0.0F};
    for (std::size_t i = 0; i < table.size(); ++i) // the first rows have finite values only
        table[i] = i < table.size() / 2 ? static_cast<float>(i % 13) / 4 - 1 : values[(i * i + i / 7) % 9];
    straggle::learn::feature_matrix const all(table, trees.columns());
    if (all.empty()) return;
    std::vector<double> probabilities(rows);
    trees.predict(all, probabilities);
    for (std::size_t i = 0; i < rows; ++i) {
        demand(probabilities[i] >= 0 && probabilities[i] <= 1);
        demand(trees.predict(all.row(i)) == probabilities[i]);
    }
    std::vector<straggle::learn::feature_use> uses(trees.columns());
    trees.importances(uses);
    std::uint64_t splits = 0;
    for (straggle::learn::feature_use const& use : uses) splits += use.splits;
    demand(2 * splits + trees.trees() == trees.nodes());
}

inline void ask(straggle::learn::forecast_model const& model) {
    if (model.days > 100) return;
    straggle::learn::node_days<int> days(model.days);
    std::vector<double> rows;
    std::vector<straggle::learn::node_forecast<int>> out;
    days.observe(1, model.days - 1, 0.5);
    days.observe(2, 0, -0.5);
    demand((model.forecast(days, rows, out) == straggle::status::ok) == (model.trees.trees() > 0));
    for (auto const& node : out) demand(node.probability >= 0 && node.probability <= 1);
}

// Trees, or a stored forecast, whose trees have a frame of their own within.
template <class Stored>
void become(std::span<std::byte const> bytes) {
    Stored stored;
    if (stored.restore(bytes) != straggle::status::ok) {
        demand(stored == Stored());
        return;
    }
    std::vector<std::byte> const again = stored.serialize();
    demand(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    ask(stored);
}
inline void become_any(std::span<std::byte const> bytes) {
    become<straggle::learn::boosted_trees>(bytes);
    become<straggle::learn::forecast_model>(bytes);
}

// The first bytes say how to train, the others are floats and labels.
inline void train(std::span<std::byte const> bytes) {
    if (bytes.size() < 4) return;
    auto const at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    std::size_t const columns = 1 + at(0) % 5;
    double const weights[] = {1, 0, 0.2, 3};
    straggle::learn::boosted_trees_options const how{.rounds = 1u + at(0) / 64u,
                                                     .eta = (at(1) % 10 + 1) / 10.0,
                                                     .max_depth = 1u + at(1) / 16u,
                                                     .lambda = (at(2) & 7) / 2.0,
                                                     .gamma = (at(2) >> 3 & 3) / 4.0,
                                                     .min_child_weight = weights[at(2) >> 6],
                                                     .patience = at(3) % 3u};
    bytes = bytes.subspan(4);
    std::size_t const rows = (std::min)(bytes.size() / (4 * columns + 1), std::size_t{200});
    std::vector<float> table(rows * columns);
    std::vector<std::uint8_t> labels(rows);
    for (float& x : table) {
        x = std::bit_cast<float>(straggle::detail::load_little<std::uint32_t>(bytes.data()));
        bytes = bytes.subspan(4);
    }
    for (std::uint8_t& label : labels) {
        label = static_cast<std::uint8_t>(bytes.front()) % 3 == 1 ? 1 : 0;
        bytes = bytes.subspan(1);
    }
    straggle::learn::feature_matrix const all(table, columns);
    straggle::learn::boosted_trees_trainer trainer(how);
    straggle::status const s = trainer.fit(all, labels, all, labels);
    demand(s == straggle::status::ok || trainer.model() == straggle::learn::boosted_trees());
    if (s != straggle::status::ok) return;
    demand(trainer.validation_losses().size() >= trainer.model().trees());
    ask(trainer.model());
    become<straggle::learn::boosted_trees>(trainer.model().serialize());
    straggle::learn::boosted_trees const first = trainer.model();
    demand(trainer.fit(all, labels, all, labels) == s && trainer.model() == first);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::vector<std::byte> const bytes = fuzzing::bytes_of(data, size);
    train(bytes);
    fuzzing::as_is_and_mended(bytes, [](std::span<std::byte const> stored) { become_any(stored); });
    return 0;
}
