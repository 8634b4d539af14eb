// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "keeper.hpp"

#include <straggle/blacklist/ranked_blacklist.hpp>

#include <numeric>

namespace straggle_rank {

namespace {

template <class Selection, class... Limits>
class keeper_of final : public keeper {
  public:
    keeper_of(std::size_t nodes, std::unique_ptr<std::mt19937_64> engine, Selection selection,
              excluding exclusions, std::int64_t overlap, Limits... limits)
        : nodes_(nodes),
          engine_(std::move(engine)),
          keeper_(std::move(selection), std::move(exclusions), std::move(limits)...) {
        std::iota(nodes_.begin(), nodes_.end(), 0u);
        keeper_.windows_overlap(overlap);
    }

    decision const& decide(ranking const& r, std::int64_t window) override {
        return keeper_.decide(r, window, std::span<std::uint32_t const>(nodes_));
    }
    [[nodiscard]] decision_record record(ranking const& r) const override {
        return straggle::blacklist::record_of(r, keeper_);
    }
    [[nodiscard]] straggle::blacklist::exclusion exclusion_of(std::uint32_t node) const override {
        return keeper_.exclusion_of(node);
    }
    [[nodiscard]] bool remembers_nothing() const override {
        bool nothing = true;
        keeper_.for_each_exclusion(
            [&](std::uint32_t, straggle::blacklist::exclusion const&) { nothing = false; });
        return nothing;
    }
    [[nodiscard]] straggle::outcome<std::optional<decision_difference>>
    replay(decision_record const& record) override {
        return straggle::blacklist::replay_decision(record, keeper_, nodes_);
    }

  private:
    std::vector<std::uint32_t> nodes_;
    std::unique_ptr<std::mt19937_64> engine_; // the policy may point at it
    straggle::ranked_blacklist<std::uint32_t, Selection, excluding, Limits...> keeper_;
};

} // namespace

std::unique_ptr<keeper> make_keeper(fleet const& f, options const& o) {
    auto engine = std::make_unique<std::mt19937_64>();
    return with_selection(o.selection, *engine, [&](auto policy) {
        return std::apply(
            [&](auto... limits) -> std::unique_ptr<keeper> {
                return std::make_unique<keeper_of<decltype(policy), decltype(limits)...>>(
                    f.names.size(), std::move(engine), std::move(policy), o.exclusions,
                    o.windows ? o.windows->slides() : 1, std::move(limits)...);
            },
            guards_of(f, o.limits));
    });
}

} // namespace straggle_rank
