// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "keeper.hpp"

#include <straggle/blacklist/rolling_blacklister.hpp>

#include <algorithm>
#include <cmath>

namespace straggle_rank {

namespace {

template <class Selection, class... Limits>
class keeper_of final : public keeper {
  public:
    keeper_of(std::unique_ptr<std::mt19937_64> engine, Selection selection, excluding exclusions,
              std::int64_t overlap, Limits... limits)
        : engine_(std::move(engine)),
          keeper_(std::move(selection), std::move(exclusions), std::move(limits)...) {
        keeper_.windows_overlap(overlap);
    }

    decision const& decide(ranking const& r, std::int64_t window, double,
                           std::span<running_attempt const>) override {
        see(r.nodes());
        see(r.unranked());
        return keeper_.decide(r, window, std::span<std::uint32_t const>(nodes_));
    }
    [[nodiscard]] logged_decision record(ranking const& r) const override { return record_of(r, keeper_); }
    [[nodiscard]] std::uint32_t strikes_of(std::uint32_t node) const override {
        return keeper_.exclusion_of(node).strikes;
    }
    [[nodiscard]] bool remembers_nothing() const override {
        bool nothing = true;
        keeper_.for_each_exclusion(
            [&](std::uint32_t, straggle::blacklist::exclusion const&) { nothing = false; });
        return nothing;
    }
    [[nodiscard]] straggle::outcome<std::optional<decision_difference>>
    replay(logged_decision const& record) override {
        see(record.nodes);
        see(record.unranked);
        return replay_decision(record, keeper_, nodes_);
    }

  private:
    // A window must not know nodes that appear later.
    template <class Nodes>
    void see(Nodes const& nodes) {
        for (auto const& node : nodes) {
            if (node.id >= is_seen_.size()) is_seen_.resize(node.id + std::size_t{1});
            if (is_seen_[node.id]) continue;
            is_seen_[node.id] = true;
            nodes_.insert(std::ranges::upper_bound(nodes_, node.id), node.id);
        }
    }

    std::vector<std::uint32_t> nodes_;
    std::vector<bool> is_seen_;
    std::unique_ptr<std::mt19937_64> engine_; // the policy may point at it
    straggle::rolling_blacklister<std::uint32_t, Selection, excluding, Limits...> keeper_;
};

class evidence_keeper final : public keeper {
  public:
    evidence_keeper(fleet const& f, options const& o, std::size_t attempts, double slide, double origin)
        : slide_(slide), origin_(origin), evidence_(f, o, attempts, 1000) {}

    void observe(past_attempt const& a) override { evidence_.observe(a); }
    decision const& decide(ranking const&, std::int64_t window, double now,
                           std::span<running_attempt const> running) override {
        window_ = window;
        return evidence_.decide(now, running);
    }
    [[nodiscard]] logged_decision record(ranking const& r) const override {
        return record_of(r, evidence_.decision(), window_);
    }
    [[nodiscard]] std::uint32_t strikes_of(std::uint32_t node) const override {
        auto const* const v = evidence_.decision().find(node);
        return v == nullptr ? 0 : v->strikes;
    }
    [[nodiscard]] straggle::blacklist::failure_rate failures_of(std::uint32_t node) const override {
        return evidence_.failures_of(node);
    }
    [[nodiscard]] std::int64_t window_of(double point) const override {
        return point == 0 ? 0 : static_cast<std::int64_t>(std::floor(point / slide_ + origin_));
    }
    [[nodiscard]] bool remembers_nothing() const override {
        auto const& d = evidence_.decision();
        return d.blacklisted().empty() && d.on_probation().empty() && d.spared().empty();
    }
    [[nodiscard]] straggle::outcome<std::optional<decision_difference>>
    replay(logged_decision const&) override {
        return straggle::status::wrong_kind; // by attempts: see replay_log
    }

  private:
    double slide_, origin_;
    std::int64_t window_ = 0;
    evidence evidence_;
};

} // namespace

std::unique_ptr<keeper> make_keeper(fleet const& f, options const& o, std::size_t attempts, double slide,
                                    double origin) {
    if (o.decides_by_slowdown()) return std::make_unique<evidence_keeper>(f, o, attempts, slide, origin);
    auto engine = std::make_unique<std::mt19937_64>();
    return with_selection(o.selection, *engine, [&](auto policy) {
        return std::apply(
            [&](auto... limits) -> std::unique_ptr<keeper> {
                return std::make_unique<keeper_of<decltype(policy), decltype(limits)...>>(
                    std::move(engine), std::move(policy), o.exclusions, o.windows ? o.windows->slides() : 1,
                    std::move(limits)...);
            },
            limits_of(f, o.limits));
    });
}

} // namespace straggle_rank
