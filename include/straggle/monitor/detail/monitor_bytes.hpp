// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: serializes its evidence, and reads it from untrusted bytes.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/monitor/detail/window_store.hpp>
#include <straggle/rank/relative_times.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

struct monitor_bytes {
    static constexpr std::uint32_t kind = frame_kind("moni");
    static constexpr std::uint32_t version = 1;
    // More attempts than any monitor sees, yet few enough for sums not to overflow.
    static constexpr std::uint64_t most_attempts = std::uint64_t{1} << 60;

    template <class Evidence, class Counts, class Ticks>
    [[nodiscard]] static std::vector<std::byte> write(Evidence const& e, Counts const& counts, Ticks step) {
        auto const& held = e.held();
        byte_writer out;
        write_types<Evidence>(out, step);
        write_counts(out, counts.attempts);
        for (std::uint64_t const n : {counts.too_old, counts.early, counts.over_capacity,
                                      counts.unfinished_jobs, held.forgotten(), held.evicted()})
            out.varint(n);
        out.count(e.ring());
        out.flag(!e.empty());
        if (e.empty()) return std::move(out).seal(kind, version);

        out.i64(e.head());
        std::vector<std::size_t> place(held.nodes().bound()); // of a node, in order of first appearance
        out.count(held.order().size());
        for (std::size_t i = 0; i < held.order().size(); ++i) {
            place[held.order()[i]] = i;
            out.identifier(held.nodes()[held.order()[i]]);
        }
        for (std::int64_t number = e.oldest(); number <= e.head(); ++number)
            write_bucket(out, e.at(number), held.order(), place);
        std::vector<std::uint32_t> const jobs = jobs_in_order(held);
        out.count(jobs.size());
        for (std::uint32_t const job : jobs) write_job(out, e, job, place);
        return std::move(out).seal(kind, version);
    }

    // Reads into empty evidence. After a failure, `e` and `counts` are unspecified.
    template <class Evidence, class Counts, class Ticks>
    [[nodiscard]] static status read(std::span<std::byte const> bytes, Evidence& e, Counts& counts,
                                     Ticks step, store_bounds const& bounds) {
        using node_id = typename Evidence::node_id;
        auto const frame = open_frame(bytes, kind, version);
        if (!frame) return frame.reason();
        byte_reader in = frame->payload;
        if (status const s = read_types<Evidence>(in, step); s != status::ok) return s;
        counts.attempts = read_counts(in);
        std::uint64_t forgotten = 0, evicted = 0;
        for (std::uint64_t* const n : {&counts.too_old, &counts.early, &counts.over_capacity,
                                       &counts.unfinished_jobs, &forgotten, &evicted})
            *n = in.varint();
        e.held().count_lost_jobs(forgotten, evicted);
        if (in.varint() != e.ring()) return in.ok() ? status::wrong_kind : in.reason();
        if (!in.flag()) return in.finish();

        std::int64_t const head = in.i64();
        if (head < -latest || head > latest || (!(step > 0) && head != 0)) return status::corrupt;
        e.advance(head);
        std::vector<node_id> nodes(in.count(1));
        for (node_id& node : nodes) in.identifier(node);
        tally found{std::vector<std::uint64_t>(e.ring(), 0)};
        for (std::int64_t number = e.oldest(); number <= head && in.ok(); ++number)
            if (status const s = read_bucket(in, e, number, nodes, found, bounds); s != status::ok) return s;
        for (std::size_t left = in.count(2); left != 0 && in.ok(); --left)
            if (status const s = read_job(in, e, nodes, found, bounds); s != status::ok) return s;
        if (status const s = in.finish(); s != status::ok) return s;
        return restore_order(e.held(), nodes);
    }

  private:
    // One more than the latest possible step.
    static constexpr std::int64_t latest = (std::int64_t{1} << 62) + 1;

    // Attempts in pairs and finished jobs, in total and per bucket: at most as many as counted as used.
    struct tally {
        std::vector<std::uint64_t> by_slot;
        std::uint64_t all = 0;

        template <class Evidence>
        [[nodiscard]] bool takes(std::uint64_t n, Evidence const& e, std::int64_t number) {
            if (n < 1 || n > most_attempts || all > most_attempts) return false;
            all += n;
            std::uint64_t& here = by_slot[e.slot(number)];
            here += n;
            return here <= e.at(number).counts.used;
        }
    };

    template <class Bucket>
    static void write_bucket(byte_writer& out, Bucket const& bucket, std::span<std::uint32_t const> order,
                             std::vector<std::size_t> const& place) {
        write_counts(out, bucket.counts);
        out.varint(bucket.finished.scored);
        out.varint(bucket.finished.jobs);
        std::uint64_t known = 0;
        bucket.finished.for_each([&](std::uint32_t, auto const&) { ++known; });
        out.count(known);
        if (known == 0) return;
        // Each node with the first node in order of appearance that it was compared with.
        node_links links;
        links.reset(place.size());
        bucket.finished.for_each_link([&](std::uint32_t a, std::uint32_t b) { links.join(a, b); });
        std::vector<std::size_t> first(place.size() + 1, order.size() + 1);
        first[links.component(node_links::somewhere)] = order.size();
        for (std::uint32_t const node : order) {
            auto const* const scores = bucket.finished.find(node);
            if (scores == nullptr) continue;
            std::size_t& together = first[links.component(node)];
            if (together > order.size()) together = place[node];
            out.varint(place[node]);
            out.varint(together);
            write_scores(out, *scores);
            scores->times().write(out);
        }
    }
    template <class Evidence, class NodeId>
    [[nodiscard]] static status read_bucket(byte_reader& in, Evidence& e, std::int64_t number,
                                            std::vector<NodeId> const& nodes, tally& found,
                                            store_bounds const& bounds) {
        auto& bucket = e.at(number);
        bucket.counts = read_counts(in);
        bucket.finished.scored = in.varint();
        std::uint64_t const jobs = in.varint();
        bucket.finished.jobs = static_cast<std::size_t>(jobs);
        if (bucket.finished.jobs != jobs) return status::out_of_range; // from a machine with larger integers
        for (std::size_t left = in.count(3); left != 0 && in.ok(); --left) {
            std::uint64_t const node = in.varint(), together = in.varint();
            typename Evidence::scores_type scores;
            bool const is_read = read_scores(in, scores);
            scores.times().read(in);
            if (!is_read || node >= nodes.size() || together > nodes.size() ||
                !found.takes(scores.count(), e, number))
                return failed(in);
            NodeId const& id = nodes[static_cast<std::size_t>(node)];
            std::uint32_t const known = e.held().nodes().find(id);
            if (known != Evidence::none && bucket.finished.find(known) != nullptr)
                return status::corrupt; // duplicate
            if (!e.add_finished(id, number, scores, bounds)) return status::out_of_range;
            auto const here = e.held().nodes().find(id);
            if (together == nodes.size()) {
                bucket.finished.link(here, node_links::somewhere);
                continue;
            }
            auto const with = e.held().nodes().find(nodes[static_cast<std::size_t>(together)]);
            if (with == Evidence::none || bucket.finished.find(with) == nullptr) return status::corrupt;
            bucket.finished.link(here, with);
        }
        return status::ok;
    }

    template <class Evidence>
    static void write_job(byte_writer& out, Evidence const& e, std::uint32_t job,
                          std::vector<std::size_t> const& place) {
        auto const& held = e.held();
        auto const& row = held.row(job);
        auto const& past = held.past(job);
        out.identifier(held.jobs()[job]);
        write_origin(out, row.origin);
        out.flag(past.is_finished);
        bool const has_past = past.gone.count() != 0 || past.longest > 0;
        out.flag(has_past);
        if (has_past) {
            out.i64(past.last);
            out.real(static_cast<double>(past.longest));
            write_sums(out, past.gone);
        }
        // Steps in ascending order, so that the latest is read last, and found first.
        using span_type = typename Evidence::store_type::job_span;
        std::vector<span_type const*> spans;
        for (auto const* s = held.is_in_ring(job) ? &row.first : nullptr; s != nullptr; s = held.after(*s))
            spans.push_back(s);
        std::sort(spans.begin(), spans.end(), [&](span_type const* a, span_type const* b) {
            return e.number_of(a->table.slot) < e.number_of(b->table.slot);
        });
        out.count(spans.size());
        for (span_type const* const s : spans) {
            out.varint(static_cast<std::uint64_t>(e.head() - e.number_of(s->table.slot)));
            out.real(static_cast<double>(s->longest));
            out.count(s->table.size());
            for (auto const& pair : s->table.all()) {
                out.varint(place[pair.node]);
                write_sums(out, pair.moments(held.wide()));
            }
        }
    }
    template <class Evidence, class NodeId>
    [[nodiscard]] static status read_job(byte_reader& in, Evidence& e, std::vector<NodeId> const& nodes,
                                         tally& found, store_bounds const& bounds) {
        auto& held = e.held();
        typename Evidence::job_id id{};
        in.identifier(id);
        typename Evidence::origin_type origin;
        if (!read_origin(in, origin) || held.jobs().find(id) != Evidence::none) return failed(in);
        if (held.jobs().size() >= bounds.jobs) return status::out_of_range;
        std::uint32_t const job = held.find_or_insert(id, origin, bounds);
        bool const is_finished = in.flag();
        if (in.flag()) {
            auto& past = held.past(job);
            past.last = in.i64();
            if (!read_length(in, past.longest) || !read_sums(in, past.gone, origin)) return failed(in);
            if (past.last < -latest || past.last > e.head()) return status::corrupt;
            if (past.gone.count() > most_attempts) return status::corrupt;
        }
        std::uint64_t before = e.ring();
        for (std::size_t spans = in.count(13); spans != 0 && in.ok(); --spans) {
            std::uint64_t const back = in.varint();
            float longest = 0;
            if (!read_length(in, longest) || back >= before) return failed(in);
            before = back;
            std::int64_t const number = e.head() - static_cast<std::int64_t>(back);
            std::size_t const pairs = in.count(3);
            if (pairs == 0) return failed(in);
            for (std::size_t i = 0; i < pairs; ++i) {
                std::uint64_t const node = in.varint();
                typename Evidence::moments_type sums;
                if (!read_sums(in, sums, origin) || node >= nodes.size()) return failed(in);
                if (!found.takes(sums.count(), e, number)) return status::corrupt;
                std::size_t const known = held.pairs();
                auto const at = held.find_or_insert(id, nodes[static_cast<std::size_t>(node)], e.slot(number),
                                                    origin, bounds);
                if (at.pair == nullptr) return status::out_of_range;
                if (held.pairs() == known) return status::corrupt; // duplicate
                at.pair->merge(sums, held.wide());
                at.span->longest = longest;
            }
        }
        // An idle job must have remembered sums.
        if (!in.ok() || (!held.is_in_ring(job) && held.past(job).gone.count() == 0)) return failed(in);
        held.past(job).is_finished = is_finished;
        held.rest(job);
        return status::ok;
    }

    [[nodiscard]] static bool read_length(byte_reader& in, float& length) {
        double const x = in.real();
        if (!in.ok() || !is_finite(x) || x < 0) return false;
        length = as_length(x);
        return true;
    }

    static void write_origin(byte_writer&, tick_pair::origin_type) {}
    [[nodiscard]] static bool read_origin(byte_reader&, tick_pair::origin_type&) { return true; }
    static void write_origin(byte_writer& out, real_pair::origin_type origin) { out.real(origin.value); }
    [[nodiscard]] static bool read_origin(byte_reader& in, real_pair::origin_type& origin) {
        origin.value = in.real();
        return is_finite(origin.value) && origin.value >= 0;
    }

    static status failed(byte_reader const& in) { return in.ok() ? status::corrupt : in.reason(); }

    // Reads all nodes in their original order; each occurs once and has evidence.
    template <class Evidence, class NodeId>
    [[nodiscard]] static status restore_order(Evidence& e, std::vector<NodeId> const& nodes) {
        std::vector<std::uint32_t> order;
        order.reserve(nodes.size());
        std::vector<unsigned char> met(e.nodes().bound(), 0);
        for (NodeId const& id : nodes) {
            std::uint32_t const node = e.nodes().find(id);
            if (node == e.nodes().none || met[node] != 0) return status::corrupt;
            met[node] = 1;
            order.push_back(node);
        }
        e.set_order(std::move(order));
        return status::ok;
    }

    // Properties that must match between the writing and the reading monitor.
    template <class Evidence, class Ticks>
    static void write_types(byte_writer& out, Ticks step) {
        using pair = typename Evidence::pair_type;
        out.u8(std::integral<typename pair::value_type> ? 1 : 2);
        out.u8(std::integral<Ticks> ? 1 : 2);
        if constexpr (std::integral<Ticks>)
            out.u64(static_cast<std::uint64_t>(step));
        else
            out.real(static_cast<double>(step));
        out.tag(base::identifier_form<typename Evidence::job_id>);
        out.tag(base::identifier_form<typename Evidence::node_id>);
    }
    template <class Evidence, class Ticks>
    [[nodiscard]] static status read_types(byte_reader& in, Ticks step) {
        byte_writer expected;
        write_types<Evidence>(expected, step);
        bool same = true;
        for (std::byte const b : expected.payload()) same = in.u8() == static_cast<std::uint8_t>(b) && same;
        if (!in.ok()) return in.reason();
        return same ? status::ok : status::wrong_kind;
    }

    static void write_counts(byte_writer& out, attempt_counts const& counts) {
        for (std::uint64_t const n :
             {counts.seen, counts.used, counts.failed, counts.killed, counts.superseded})
            out.varint(n);
        out.count(counts.rejected.size());
        for (std::uint64_t const n : counts.rejected) out.varint(n);
    }
    [[nodiscard]] static attempt_counts read_counts(byte_reader& in) {
        attempt_counts counts;
        for (std::uint64_t* const n :
             {&counts.seen, &counts.used, &counts.failed, &counts.killed, &counts.superseded})
            *n = in.varint();
        std::size_t const reasons = in.count(1);
        for (std::size_t i = 0; i < reasons && in.ok(); ++i) {
            std::uint64_t const n = in.varint();
            if (i < counts.rejected.size()) counts.rejected[i] = n;
        }
        return counts;
    }

    static void write_sums(byte_writer& out, stats::tick_moments const& m) {
        stats::tick_sums const s = m.sums();
        out.varint(s.n);
        out.varint(s.sum.lo);
        out.varint(s.sum.hi);
        out.varint(s.squares.low.lo);
        out.varint(s.squares.low.hi);
        out.varint(s.squares.top);
    }
    [[nodiscard]] static bool read_sums(byte_reader& in, stats::tick_moments& m) {
        stats::tick_sums s;
        s.n = in.varint();
        s.sum.lo = in.varint();
        s.sum.hi = in.varint();
        s.squares.low.lo = in.varint();
        s.squares.low.hi = in.varint();
        s.squares.top = in.varint();
        m = stats::tick_moments::from(s);
        return in.ok() && m.is_plausible();
    }
    static void write_sums(byte_writer& out, real_sums const& p) {
        out.varint(p.count());
        out.real(p.mean());
        out.real(p.sum_of_squared_deviations());
    }
    [[nodiscard]] static bool read_sums(byte_reader& in, real_sums& p, real_pair::origin_type origin) {
        std::uint64_t const n = in.varint();
        double const mean = in.real(), m2 = in.real();
        p = real_sums::from(n, mean, m2);
        // Durations are nonnegative, up to rounding.
        return in.ok() && is_finite(mean + origin.value) && mean >= -(1 + 0x1p-30) * origin.value && m2 >= 0;
    }
    [[nodiscard]] static bool read_sums(byte_reader& in, stats::tick_moments& m, tick_pair::origin_type) {
        return read_sums(in, m);
    }

    [[nodiscard]] static bool is_within(double x, double bound) { return -bound <= x && x <= bound; }
    static void write_scores(byte_writer& out, rank::score_moments const& m) { write_sums(out, m.ticks()); }
    [[nodiscard]] static bool read_scores(byte_reader& in, rank::score_moments& m) {
        stats::tick_moments ticks;
        bool const good = read_sums(in, ticks);
        m = rank::score_moments::from(ticks);
        return good;
    }
    static void write_scores(byte_writer& out, rounded_score_moments const& m) {
        stats::moments::sums_type const s = m.plain().sums();
        out.varint(s.n);
        for (double const x : {s.origin, s.sum, s.squares}) out.real(x);
    }
    [[nodiscard]] static bool read_scores(byte_reader& in, rounded_score_moments& m) {
        stats::moments::sums_type s;
        s.n = in.varint();
        for (double* const x : {&s.origin, &s.sum, &s.squares}) *x = in.real();
        m = rounded_score_moments::from(stats::moments::from(s));
        // Bounds on sums of scores and their squares, far beyond any z_score. Later observations and merges
        // also stay within them, wherever the origin moves.
        constexpr double far_out = 0x1p40;
        double const n = static_cast<double>(s.n);
        return in.ok() && is_within(s.origin, far_out) && is_within(s.sum + n * s.origin, n * far_out) &&
               is_within(s.squares + s.origin * (2 * s.sum + n * s.origin), n * (far_out * far_out));
    }
};

} // namespace straggle::detail
