// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Dynamic server blacklisting as printed (papers/dsb_2019.hpp): every window all nodes are ranked, and the
/// weakest level gets nothing in the next one. The windows are those of the guide: ten usual tasks. A
/// mitigator runs it, with the paper's blacklist as its stage of nodes; `dsb_alone` is the blacklist without
/// one, and the checks compare the two.
#include "library_fields.hpp"
#include "library_policy.hpp"
#include "make_policy.hpp"

#include <straggle/mitigate/stages.hpp>
#include <straggle/papers/dsb_2019.hpp>

namespace lab {

namespace {

double window_of(setup const& where) {
    return 300 * where.heartbeat;
}

class dsb_alone final : public policy {
  public:
    explicit dsb_alone(setup const& where)
        : monitor_(attempt_fields, {.window = window_of(where),
                                    .ranking = straggle::papers::dsb_2019::ranking(),
                                    .baseline = straggle::score_baseline::window}) {}

    void on_task_end(attempt_record const& ended, double now) override {
        if (ended.how == ending::lost) return; // as the mitigator is fed
        attempt_record a = ended;
        a.start += since_first(now) - now;
        a.end += since_first(now) - now;
        (void)monitor_.observe(a, since_first(now));
    }
    bool is_due(double now) override { return monitor_.window_number(since_first(now)) != window_; }
    void decide(cluster_view const& view, decisions& out) override {
        window_ = monitor_.window_number(since_first(view.now));
        if (window_ < 0) return;
        straggle::papers::dsb_2019::blacklist().decide(monitor_.rank(since_first(view.now)), decision_);
        for (std::uint32_t n = 0; n < out.nodes.size(); ++n)
            out.nodes[n] = decision_.avoids(n) ? service::none : service::normal;
    }

  private:
    // Windows begin at the first time seen, as those of a mitigator do.
    double since_first(double now) {
        if (!first_) first_ = now;
        return now - *first_;
    }

    straggle::monitor<attempt_record, decltype(attempt_fields)> monitor_;
    std::optional<double> first_{};
    std::int64_t window_ = -1;
    straggle::blacklist_decision<std::uint32_t> decision_;
};

std::unique_ptr<policy> make_dsb(setup const& where) {
    straggle::mitigate::stages own{.nodes = straggle::papers::dsb_2019::nodes(window_of(where))};
    return std::make_unique<library<decltype(own)>>(parts{.copies = false, .places = false},
                                                    straggle::mitigator_options{}, std::move(own));
}

add_policy const added({"dsb", "dynamic server blacklisting to the letter", true, make_dsb});
add_policy const
    alone({"dsb_alone", "the same without a mitigator", true,
           [](setup const& s) -> std::unique_ptr<policy> { return std::make_unique<dsb_alone>(s); }, true});

} // namespace

} // namespace lab
