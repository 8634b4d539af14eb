// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library's older parts, each alone and put together by hand: what its guides advised before there was a
/// `mitigator`.
#include "library_copying.hpp"
#include "library_watch.hpp"

#include <optional>

namespace lab {

namespace {

struct parts {
    bool avoids;
    bool copies;
};

class library_parts final : public policy {
  public:
    library_parts(parts with, setup const& where) {
        if (with.avoids) watch_.emplace(where);
        if (with.copies) copying_.emplace(where);
    }

    void on_task_end(attempt_record const& a, double now) override {
        if (watch_) watch_->ended(a, now);
        if (copying_) copying_->ended(a);
    }
    void on_job_end(std::uint32_t job, double) override {
        if (watch_) watch_->finish(job);
        if (copying_) copying_->finish(job);
    }
    void decide(cluster_view const& view, decisions& out) override {
        if (watch_) watch_->decide(view, out);
        if (copying_)
            copying_->copies(
                view,
                [this](std::uint32_t n) {
                    if (watch_ && watch_->avoids(n)) return straggle::node_state::excluded;
                    if (watch_ && watch_->tries(n)) return straggle::node_state::on_probation;
                    return straggle::node_state::healthy;
                },
                out);
        if (watch_) watch_->probe(view, out);
    }

  private:
    std::optional<library_watch<>> watch_;
    std::optional<library_copying> copying_;
};

template <parts With>
std::unique_ptr<policy> make(setup const& s) {
    return std::make_unique<library_parts>(With, s);
}

add_policy const watch({"parts_blacklist", "cluster_watch alone", false, make<parts{true, false}>});
add_policy const copies({"parts_copies", "node_aware and assigner alone", false, make<parts{false, true}>});
add_policy const both({"parts_together", "cluster_watch, node_aware and assigner", false,
                       make<parts{true, true}>});

} // namespace

} // namespace lab
