// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library without one of its mechanisms: by an option, by withholding data from it, or by a switch in
/// headers that switches.py has made for this file alone.
#include "../policies/library_policy.hpp"

#include <switches.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace lab {

namespace {

namespace off = straggle_ablation;

struct ablation {
    std::string_view name;
    std::string_view what;
    unsigned off = 0; // switches
    parts use{};
    void (*change)(straggle::mitigator_options&) = [](straggle::mitigator_options&) {};
};

// Never excludes a node or makes it a last resort.
void excludes_nothing(straggle::mitigator_options& o) {
    o.nodes.fail_open = 0;
}

constexpr std::array ablations{
    ablation{"all", "everything, as `library`"},
    ablation{"progress", "what running tasks report", 0, {.progress = false}},
    ablation{"races", "what races between tasks and copies teach", off::races},
    ablation{"kinds", "which jobs are alike", 0, {.kinds = false}},
    ablation{"load_watch", "whether the load lets a slow node be spared", off::load_watch},
    ablation{"slow_now", "which nodes may be slow just now", off::slow_now},
    ablation{"classes", "which machines are alike", 0, {.classes = false}},
    ablation{"running", "running attempts as evidence against nodes", off::running},
    ablation{"storm",
             "no copies while many tasks are late",
             0,
             {},
             [](straggle::mitigator_options& o) { o.copies.storm = 1; }},
    ablation{"hung", "nodes whose tasks do not end", off::hung},
    ablation{"outrun", "originals that lost as evidence against nodes", off::outrun},
    ablation{"exclusions", "exclusions, last resorts and probes", 0, {}, excludes_nothing},
    ablation{"placement", "where new tasks go", 0, {.places = false}},
    ablation{"nodes", "exclusions and placement", 0, {.places = false}, excludes_nothing},
};

class ablated final : public policy {
  public:
    explicit ablated(ablation const& what) : off_(what.off) {
        straggle::mitigator_options options;
        what.change(options);
        switched([&] { library_ = std::make_unique<library<>>(what.use, options); });
    }
    void on_task_end(attempt_record const& a, double now) override {
        switched([&] { library_->on_task_end(a, now); });
    }
    void on_job_end(std::uint32_t job, double now) override {
        switched([&] { library_->on_job_end(job, now); });
    }
    void decide(cluster_view const& view, decisions& out) override {
        switched([&] { library_->decide(view, out); });
    }
    std::uint32_t place(waiting_task const& t, std::span<std::uint32_t const> free, double now) override {
        std::uint32_t at = wait;
        switched([&] { at = library_->place(t, free, now); });
        return at;
    }

  private:
    template <class Call>
    void switched(Call call) const {
        off::off = off_; // other policies run on this thread between calls
        call();
    }

    unsigned off_;
    std::unique_ptr<library> library_;
};

template <std::size_t... I>
auto add_all(std::index_sequence<I...>) {
    return std::array{add_policy(
        {ablations[I].name, ablations[I].what, false,
         [](setup const&) -> std::unique_ptr<policy> { return std::make_unique<ablated>(ablations[I]); },
         true})...};
}
auto const added = add_all(std::make_index_sequence<ablations.size()>{});

} // namespace

} // namespace lab
