// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "keeper.hpp"

#include <straggle/blacklist/keeper.hpp>

#include <numeric>

namespace straggle_rank {

namespace {

template <class Selection, class... Guards>
class keeper_of final : public keeper {
  public:
    keeper_of(std::size_t nodes, std::unique_ptr<std::mt19937_64> engine, Selection selection,
              sentencing sentences, std::int64_t overlap, Guards... guards)
        : nodes_(nodes),
          engine_(std::move(engine)),
          keeper_(std::move(selection), std::move(sentences), std::move(guards)...) {
        std::iota(nodes_.begin(), nodes_.end(), 0u);
        keeper_.windows_overlap(overlap);
    }

    decision const& decide(ranking const& r, std::int64_t window) override {
        return keeper_.decide(r, window, std::span<std::uint32_t const>(nodes_));
    }
    [[nodiscard]] decision_record record(ranking const& r) const override {
        return straggle::record_of(r, keeper_);
    }
    [[nodiscard]] straggle::sentence sentence_of(std::uint32_t node) const override {
        return keeper_.sentence_of(node);
    }
    [[nodiscard]] bool remembers_nothing() const override {
        bool nothing = true;
        keeper_.for_each_sentence([&](std::uint32_t, straggle::sentence const&) { nothing = false; });
        return nothing;
    }
    [[nodiscard]] straggle::outcome<std::optional<decision_difference>>
    replay(decision_record const& record) override {
        return straggle::replay_decision(record, keeper_, nodes_);
    }

  private:
    std::vector<std::uint32_t> nodes_;
    std::unique_ptr<std::mt19937_64> engine_; // the policy may point at it
    straggle::blacklist_keeper<std::uint32_t, Selection, sentencing, Guards...> keeper_;
};

} // namespace

std::unique_ptr<keeper> make_keeper(fleet const& f, options const& o) {
    auto engine = std::make_unique<std::mt19937_64>();
    return with_selection(o.selection, *engine, [&](auto policy) {
        return std::apply(
            [&](auto... guards) -> std::unique_ptr<keeper> {
                return std::make_unique<keeper_of<decltype(policy), decltype(guards)...>>(
                    f.names.size(), std::move(engine), std::move(policy), o.sentences,
                    o.windows ? o.windows->slides() : 1, std::move(guards)...);
            },
            guards_of(f, o.guards));
    });
}

} // namespace straggle_rank
