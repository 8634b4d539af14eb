// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/monitor.hpp`: serializes its evidence, and reads it from untrusted bytes.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/frame.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/rank/detail/relative_times.hpp>
#include <straggle/rank/detail/window_store.hpp>
#include <straggle/rank/monitor_counts.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Store, class Ticks>
class monitor_bytes {
    using moments_type = typename Store::moments_type;
    using scores_type = typename Store::scores_type;
    using node_id = typename Store::node_id;
    using job_id = typename Store::job_id;
    static constexpr std::uint32_t kind = frame_kind("moni");
    static constexpr std::uint32_t version = 1;
    // More attempts than any monitor sees, yet few enough for sums not to overflow.
    static constexpr std::uint64_t most_attempts = std::uint64_t{1} << 60;
    // One more than the latest possible step.
    static constexpr std::int64_t latest = (std::int64_t{1} << 62) + 1;
    static constexpr std::int64_t never = Store::never;

  public:
    [[nodiscard]] static std::vector<std::byte> write(Store const& store, Ticks step) {
        byte_writer out;
        base::writing_archive a(out);
        write_types(out, step);
        fields(a, store.counts());
        out.count(store.ring());
        out.flag(!store.empty());
        if (store.empty()) return std::move(out).seal(kind, version);

        out.i64(store.head());
        std::vector<std::uint32_t> order;
        for (std::uint32_t n = 0; n < store.nodes().bound(); ++n)
            if (store.nodes().contains(n)) order.push_back(n);
        std::sort(order.begin(), order.end(),
                  [&](std::uint32_t x, std::uint32_t y) { return store.seen(x) < store.seen(y); });
        std::vector<std::uint64_t> place(store.nodes().bound()); // in that order
        out.count(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
            out.identifier(store.nodes()[order[i]]);
        }
        for (std::int64_t number = store.oldest(); number <= store.head(); ++number)
            write_step(a, store.at(number), order, place);
        out.count(store.jobs().size());
        for (std::uint32_t const j : store.jobs_in_order()) write_job(a, store, j, place);
        return std::move(out).seal(kind, version);
    }

    // Reads into an empty store. After a failure, it is unspecified.
    [[nodiscard]] static status read(std::span<std::byte const> bytes, Store& store, Ticks step,
                                     store_bounds const& most) {
        auto const frame = open_frame(bytes, kind, version);
        if (!frame) return frame.reason();
        byte_reader in = frame->payload;
        return monitor_bytes(in, store, most).read(step);
    }

  private:
    monitor_bytes(byte_reader& in, Store& store, store_bounds const& most)
        : in_(in), a_(in), store_(store), most_(most), found_(store.ring()) {}

    [[nodiscard]] status read(Ticks step) {
        byte_writer expected;
        write_types(expected, step);
        bool same = true;
        for (std::byte const b : expected.payload()) same = in_.u8() == static_cast<std::uint8_t>(b) && same;
        if (in_.ok() && !same) return status::wrong_kind;
        fields(a_, store_.counts());
        if (in_.varint() != store_.ring()) return in_.ok() ? status::wrong_kind : in_.reason();
        if (!in_.flag()) return in_.finish();

        std::int64_t const head = in_.i64();
        if (!in_.expect(head >= -latest && head <= latest && (step > 0 || head == 0))) return in_.reason();
        store_.advance(head);
        nodes_.resize(in_.count(1));
        for (node_id& node : nodes_) in_.identifier(node);
        for (std::int64_t number = store_.oldest(); number <= head && in_.ok(); ++number) read_step(number);
        for (std::size_t left = in_.count(2); left != 0 && in_.ok(); --left) read_job();
        if (status const s = in_.finish(); s != status::ok) return s;
        // Each node occurs once, and has evidence.
        std::vector<bool> met(store_.nodes().bound());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            std::uint32_t const n = store_.nodes().find(nodes_[i]);
            if (n == Store::none || met[n]) return status::corrupt;
            met[n] = true;
            store_.set_seen(n, i);
        }
        return status::ok;
    }

    // Properties that must match between the writing and the reading monitor.
    static void write_types(byte_writer& out, Ticks step) {
        out.u8(Store::exact ? 1 : 2);
        out.u8(std::integral<Ticks> ? 1 : 2);
        if constexpr (std::integral<Ticks>)
            out.u64(static_cast<std::uint64_t>(step));
        else
            out.real(static_cast<double>(step));
        out.tag(base::identifier_form<job_id>);
        out.tag(base::identifier_form<node_id>);
    }

    static void write_step(base::writing_archive& a, typename Store::step const& step,
                           std::vector<std::uint32_t> const& order, std::vector<std::uint64_t> const& place) {
        fields(a, step.counts);
        a.varint(step.finished.scored);
        a.varint(step.finished.jobs);
        std::size_t known = 0;
        step.finished.for_each([&](std::uint32_t, scores_type const&) { ++known; });
        a.bytes().count(known);
        if (known == 0) return;
        // Each node, with the first node in that order with which it was compared.
        node_links links;
        links.reset(place.size());
        step.finished.for_each_link([&](std::uint32_t x, std::uint32_t y) { links.join(x, y); });
        std::vector<std::uint64_t> first(place.size() + 1, order.size() + 1);
        first[links.component(node_links::somewhere)] = order.size();
        step.finished.for_each([&](std::uint32_t node, scores_type const&) {
            std::uint64_t& together = first[links.component(node)];
            if (together != order.size()) together = (std::min)(together, place[node]);
        });
        for (std::uint32_t const node : order) {
            if (!step.finished.has(node)) continue;
            a.varint(place[node]);
            a.varint(first[links.component(node)]);
            fields(a, step.finished[node]);
        }
    }
    void read_step(std::int64_t number) {
        auto& step = store_.at(number);
        fields(a_, step.counts);
        a_.varint(step.finished.scored);
        std::uint64_t const jobs = in_.varint();
        step.finished.jobs = static_cast<std::size_t>(jobs);
        in_.expect(step.finished.jobs == jobs, status::out_of_range); // from a machine with larger integers
        for (std::size_t left = in_.count(3); left != 0 && in_.ok(); --left) {
            std::uint64_t const node = in_.varint(), together = in_.varint();
            scores_type scores;
            fields(a_, scores);
            if (!in_.expect(node < nodes_.size() && together <= nodes_.size() &&
                            takes(scores.count(), number)))
                return;
            node_id const& id = nodes_[static_cast<std::size_t>(node)];
            if (!in_.expect(!is_finished(step, id))) return; // duplicate
            if (!store_.add_finished(id, number, scores, most_)) return fill();
            std::uint32_t const here = store_.nodes().find(id);
            if (together == nodes_.size()) {
                step.finished.link(here, node_links::somewhere);
                continue;
            }
            node_id const& other = nodes_[static_cast<std::size_t>(together)];
            if (in_.expect(is_finished(step, other))) step.finished.link(here, store_.nodes().find(other));
        }
    }
    [[nodiscard]] bool is_finished(typename Store::step const& step, node_id const& id) const {
        std::uint32_t const n = store_.nodes().find(id);
        return n != Store::none && step.finished.has(n);
    }

    static void write_job(base::writing_archive& a, Store const& store, std::uint32_t j,
                          std::vector<std::uint64_t> const& place) {
        auto const& row = store.job(j);
        a.bytes().identifier(store.jobs()[j]);
        a(row.is_finished, row.last, row.longest);
        fields(a, row.gone);
        std::vector<typename Store::cell const*> cells;
        store.for_each_cell(j, [&](typename Store::cell const& c) { cells.push_back(&c); });
        a.bytes().count(cells.size());
        for (std::size_t i = cells.size(); i-- > 0;) { // the latest last, as they were added
            a.varint(place[cells[i]->node()]);
            a.varint(static_cast<std::uint64_t>(store.head() - store.number_of(cells[i]->slot())));
            fields(a, cells[i]->sums);
        }
    }
    void read_job() {
        job_id id{};
        in_.identifier(id);
        if (!in_.expect(store_.jobs().find(id) == Store::none)) return;
        if (store_.jobs().size() >= most_.jobs) return fill(); // the store would evict an idle one
        bool is_finished = false;
        std::int64_t last = never;
        double longest = 0;
        a_(is_finished, last, longest);
        moments_type gone;
        fields(a_, gone);
        in_.expect(last == never || (last >= -latest && last <= store_.head()));
        in_.expect(is_finite(longest) && longest >= 0 && gone.count() <= most_attempts && is_possible(gone));
        std::size_t const cells = in_.count(4);
        in_.expect(cells != 0 || (gone.count() != 0 && last != never)); // a job must have evidence
        if (!in_.ok()) return;
        for (std::size_t left = cells; left != 0; --left) {
            std::uint64_t const node = in_.varint(), back = in_.varint();
            moments_type sums;
            fields(a_, sums);
            if (!in_.expect(node < nodes_.size() && back < store_.ring())) return;
            std::int64_t const number = store_.head() - static_cast<std::int64_t>(back);
            if (!in_.expect(takes(sums.count(), number) && is_possible(sums))) return;
            moments_type* const to =
                store_.find_or_insert(id, nodes_[static_cast<std::size_t>(node)], number, longest, most_);
            if (to == nullptr) return fill();
            if (!in_.expect(to->count() == 0)) return; // duplicate
            to->merge(sums);
        }
        auto* const row = store_.remember(id, most_);
        if (row == nullptr) return fill();
        row->gone = gone;
        row->last = last;
        row->longest = longest;
        row->is_finished = is_finished;
        store_.settle(store_.jobs().find(id));
    }

    // Whether durations can have this sum: they are not negative.
    [[nodiscard]] static bool is_possible(moments_type const& m) {
        if (m.count() == 0) return true;
        if constexpr (Store::exact) {
            detail::uint128 const sum = m.sums().sum; // as large as fits at most, if it is a single one
            if (m.count() == 1 && (sum.hi != 0 || sum.lo >> 63 != 0)) return false;
        } else {
            if (m.count() == 1 && m.origin() < 0) return false;
        }
        return !(m.mean() < 0 && is_finite(m.mean()));
    }
    // Whether a step can have this many more attempts: no more in all than were counted as used.
    [[nodiscard]] bool takes(std::uint64_t n, std::int64_t number) {
        if (n < 1 || n > most_attempts || all_ > most_attempts) return false;
        all_ += n;
        std::uint64_t& here = found_[store_.slot(number)];
        here += n;
        return here <= store_.at(number).counts.used;
    }
    // A limit is exceeded.
    void fill() { in_.expect(false, status::out_of_range); }

    template <class Archive, class Counts>
        requires requires(Counts& c) { c.too_old; }
    static void fields(Archive& a, Counts& c) {
        fields(a, c.attempts);
        for (auto* const n :
             {&c.too_old, &c.early, &c.over_capacity, &c.unfinished_jobs, &c.forgotten_jobs, &c.evicted_jobs})
            a.varint(*n);
    }
    template <class Archive, class Counts>
        requires requires(Counts& c) { c.rejected; }
    static void fields(Archive& a, Counts& c) {
        for (auto* const n : {&c.seen, &c.used, &c.failed, &c.killed, &c.superseded}) a.varint(*n);
        for (auto& n : c.rejected.by_reason) a.varint(n);
    }
    template <class Archive>
    static void fields(Archive& a, scores_type const& s) {
        if constexpr (Store::exact)
            fields(a, s.ticks());
        else
            fields(a, s.plain());
        s.times().fields(s.times(), a);
    }
    static void fields(base::reading_archive& a, scores_type& s) {
        moments_type sums;
        fields(a, sums);
        auto times = s.times();
        times.fields(times, a);
        if constexpr (!Store::exact) {
            // Bounds on sums of scores and their squares, far beyond any z_score. Later observations and
            // merges also stay within them, wherever the origin moves.
            constexpr double far_out = 0x1p40;
            auto const is_within = [](double x, double bound) { return -bound <= x && x <= bound; };
            stats::moments::sums_type const m = sums.sums();
            double const n = static_cast<double>(m.n);
            a.expect(is_within(m.origin, far_out) && is_within(m.sum + n * m.origin, n * far_out) &&
                     is_within(m.squares + m.origin * (2 * m.sum + n * m.origin), n * (far_out * far_out)));
        }
        s = {scores_type::from(sums), times};
    }
    template <class Archive>
    static void fields(Archive& a, stats::tick_moments const& m) {
        stats::tick_sums s = m.sums();
        tick_fields(a, s);
    }
    static void fields(base::reading_archive& a, stats::tick_moments& m) {
        stats::tick_sums s;
        tick_fields(a, s);
        m = stats::tick_moments::from(s);
        a.expect(m.is_plausible());
    }
    template <class Archive>
    static void tick_fields(Archive& a, stats::tick_sums& s) {
        for (std::uint64_t* const n :
             {&s.n, &s.sum.lo, &s.sum.hi, &s.squares.low.lo, &s.squares.low.hi, &s.squares.top})
            a.varint(*n);
    }
    template <class Archive>
    static void fields(Archive& a, stats::moments const& m) {
        stats::moments::sums_type s = m.sums();
        if (double const least = least_squares(s); s.squares < least) s.squares = least; // by rounding
        real_fields(a, s);
    }
    static void fields(base::reading_archive& a, stats::moments& m) {
        stats::moments::sums_type s;
        real_fields(a, s);
        // If durations are so long that squares overflow, the job is unusable, and only `squares` can show
        // it.
        bool const known = is_finite(s.origin) && is_finite(s.sum);
        a.expect((known && !(s.squares < least_squares(s))) || !is_finite(s.squares));
        m = stats::moments::from(s);
    }
    template <class Archive>
    static void real_fields(Archive& a, stats::moments::sums_type& s) {
        a.varint(s.n);
        a(s.origin, s.sum, s.squares);
    }
    [[nodiscard]] static double least_squares(stats::moments::sums_type const& s) noexcept {
        return s.n == 0 ? 0.0 : s.sum * (s.sum / static_cast<double>(s.n));
    }

    byte_reader& in_;
    base::reading_archive a_;
    Store& store_;
    store_bounds const& most_;
    std::vector<node_id> nodes_;
    std::vector<std::uint64_t> found_; // attempts by slot
    std::uint64_t all_ = 0;
};

} // namespace straggle::detail
