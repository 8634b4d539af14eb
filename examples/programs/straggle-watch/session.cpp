// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "session.hpp"

#include "metrics.hpp"

#include <algorithm>
#include <cstdio>

#include <sys/random.h>

namespace straggle_watch {

namespace {

std::uint64_t random_identity() {
    std::uint64_t id = 0;
    if (::getrandom(&id, sizeof id, 0) != sizeof id || id == 0)
        id = static_cast<std::uint64_t>(::getpid()) + 1;
    return id;
}

} // namespace

session::session(options const& o) : options_(o) {
    if (!o.state.empty()) state_ = std::make_unique<state_folder>(o.state);
    if (!o.lease.empty())
        lease_ = std::make_unique<lease_file>(o.lease, state_ ? state_->identity() : random_identity(),
                                              o.lease_length);
    watch_ = state_ ? state_->load(o.watch) : std::make_unique<watch>(o.watch);
    reopen_log();
    if (!o.log.empty() && !log_.is_open()) throw cannot_open(o.log);
    double const now = steady_clock();
    next_timer_ = now + o.timer;
    next_snapshot_ = now + o.snapshot_every;
    log(hello());
    write_metrics();
}

bool session::is_decider() {
    return !lease_ || lease_->hold(wall_clock());
}

std::string session::hello() {
    return watch_->hello(is_decider());
}

std::uint64_t session::take(journal_entry entry, answers& out) {
    if (options_.timer > 0) entry.when.wall = wall_clock();
    entry.when.is_decider = is_decider();
    if (state_) state_->append(entry);
    std::uint64_t const lines = apply(*watch_, entry, out);
    if (!out.log.empty()) log(out.log);
    return lines;
}

bool session::tick(answers& out) {
    double const now = steady_clock();
    bool has_news = false;
    if (options_.timer > 0 && now >= next_timer_) {
        next_timer_ = (std::max)(next_timer_ + options_.timer, now); // missed decisions are not made up for
        take({.is = journal_entry::kind::timer, .position = position()}, out);
        has_news = true;
    } else if (lease_) {
        static_cast<void>(is_decider()); // renews the lease, also between decisions
    }
    if (state_ && now >= next_sync_) {
        state_->sync();
        next_sync_ = now + 1;
    }
    if (state_ && (now >= next_snapshot_ || state_->journal_bytes() > options_.snapshot_bytes)) {
        state_->snapshot(*watch_);
        next_snapshot_ = now + options_.snapshot_every;
    }
    if (now >= next_metrics_) write_metrics();
    return has_news;
}

double session::next_tick() const {
    double next = 3600;
    double const now = steady_clock();
    if (options_.timer > 0) next = (std::min)(next, next_timer_ - now);
    if (state_) next = (std::min)(next, 1.0);
    if (lease_) next = (std::min)(next, options_.lease_length / 4);
    if (!options_.metrics.empty()) next = (std::min)(next, 1.0);
    return (std::max)(next, 0.0);
}

void session::reopen_log() {
    if (options_.log.empty()) return;
    descriptor fresh(::open(options_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
    if (fresh.is_open()) log_ = std::move(fresh);
}

void session::log(std::string_view text) {
    if (!log_.is_open() || write_all(log_.get(), text)) return;
    if (log_faults_++ == 0)
        std::fprintf(stderr, "straggle-watch: %s: %s\n", options_.log.c_str(), last_fault().c_str());
}

void session::write_metrics() {
    if (options_.metrics.empty()) return;
    next_metrics_ = steady_clock() + 1;
    std::string const text =
        metrics_text(*watch_, {.is_decider = is_decider(),
                               .connections = connections,
                               .refused = refused,
                               .dropped = dropped,
                               .write_faults = log_faults_ + (state_ ? state_->faults() : 0),
                               .journal_bytes = state_ ? state_->journal_bytes() : 0,
                               .wall = wall_clock()});
    std::string const part = options_.metrics + ".part";
    descriptor const to(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    bool const is_written =
        to.is_open() && write_all(to.get(), text) && ::rename(part.c_str(), options_.metrics.c_str()) == 0;
    if (!is_written && !metrics_failed_)
        std::fprintf(stderr, "straggle-watch: %s: %s\n", options_.metrics.c_str(), last_fault().c_str());
    metrics_failed_ = !is_written;
}

void session::finish() {
    write_metrics();
    if (state_) state_->snapshot(*watch_);
    if (lease_) lease_->release();
}

} // namespace straggle_watch
