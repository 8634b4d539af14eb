// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: its evidence as bytes, and back from bytes that may be anything.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/monitor/detail/window_store.hpp>

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
    // More attempts than any monitor sees, and few enough for sums of them not to overflow.
    static constexpr std::uint64_t most_attempts = std::uint64_t{1} << 60;

    template <class Evidence, class Counts, class Ticks>
    [[nodiscard]] static std::vector<std::byte> write(Evidence const& e, Counts const& counts, Ticks step) {
        byte_writer out;
        write_types<Evidence>(out, step);
        write_counts(out, counts.attempts);
        for (std::uint64_t const n : {counts.late, counts.early, counts.over_capacity}) out.varint(n);
        out.count(e.ring());
        out.flag(!e.empty());
        if (e.empty()) return std::move(out).seal(kind, version);

        out.i64(e.head());
        std::vector<std::size_t> place(e.nodes().bound()); // of a node in the order of first appearance
        out.count(e.order().size());
        for (std::size_t i = 0; i < e.order().size(); ++i) {
            place[e.order()[i]] = i;
            out.identifier(e.nodes()[e.order()[i]]);
        }
        for (std::int64_t number = e.oldest(); number <= e.head(); ++number) {
            auto const& bucket = e.at(number);
            write_counts(out, bucket.counts);
            out.varint(bucket.finished.scored);
            out.varint(bucket.finished.jobs);
            std::uint64_t known = 0;
            bucket.finished.for_each([&](std::uint32_t, auto const&) { ++known; });
            out.count(known);
            for (std::uint32_t const node : e.order()) {
                auto const* const scores = bucket.finished.find(node);
                if (scores == nullptr) continue;
                out.varint(place[node]);
                write_scores(out, *scores);
                scores->times().write(out);
            }
        }
        std::vector<std::uint32_t> const jobs = e.jobs_in_order();
        out.count(jobs.size());
        for (std::uint32_t const job : jobs) {
            out.identifier(e.jobs()[job]);
            auto const pairs = e.pairs_of(job).all();
            out.count(pairs.size());
            for (auto const& pair : pairs) {
                out.varint(place[pair.node]);
                out.varint(static_cast<std::uint64_t>(e.head() - e.number_of(pair.slot())));
                write_sums(out, pair.moments(e.wide()));
            }
        }
        return std::move(out).seal(kind, version);
    }

    // Into evidence that is empty. `e` and `counts` may be anything after a failure.
    template <class Evidence, class Counts, class Ticks>
    [[nodiscard]] static status read(std::span<std::byte const> bytes, Evidence& e, Counts& counts,
                                     Ticks step, std::size_t most_pairs) {
        using node_id = std::remove_cvref_t<decltype(e.nodes()[0])>;
        using job_id = std::remove_cvref_t<decltype(e.jobs()[0])>;
        auto const frame = open_frame(bytes, kind, version);
        if (!frame) return frame.reason();
        byte_reader in = frame->payload;
        if (status const s = read_types<Evidence>(in, step); s != status::ok) return s;
        counts.attempts = read_counts(in);
        for (std::uint64_t* const n : {&counts.late, &counts.early, &counts.over_capacity}) *n = in.varint();
        if (in.varint() != e.ring()) return in.ok() ? status::wrong_kind : in.reason();
        if (!in.flag()) return in.finish();

        std::int64_t const head = in.i64();
        constexpr std::int64_t far_out = (std::int64_t{1} << 62) + 1;
        if (head < -far_out || head > far_out) return status::corrupt;
        e.advance(head);
        std::vector<node_id> nodes(in.count(1));
        for (node_id& node : nodes) in.identifier(node);
        // Attempts in pairs and finished jobs, of all and of each bucket: no more than it says were used.
        std::uint64_t attempts = 0;
        std::vector<std::uint64_t> found(e.ring(), 0);
        auto const plausible = [&](std::uint64_t n, std::int64_t number) {
            if (n < 1 || n > most_attempts || attempts > most_attempts) return false;
            attempts += n;
            found[e.slot(number)] += n;
            return found[e.slot(number)] <= e.at(number).counts.used;
        };
        for (std::int64_t number = e.oldest(); number <= head && in.ok(); ++number) {
            auto& bucket = e.at(number);
            bucket.counts = read_counts(in);
            bucket.finished.scored = in.varint();
            std::uint64_t const finished_jobs = in.varint();
            bucket.finished.jobs = static_cast<std::size_t>(finished_jobs);
            if (bucket.finished.jobs != finished_jobs) return status::out_of_range; // of a larger machine
            for (std::size_t left = in.count(2); left != 0 && in.ok(); --left) {
                std::uint64_t const node = in.varint();
                typename Evidence::scores_type scores;
                bool const is_read = read_scores(in, scores);
                scores.times().read(in);
                if (!is_read || node >= nodes.size() || !plausible(scores.count(), number)) return failed(in);
                node_id const& id = nodes[static_cast<std::size_t>(node)];
                std::uint32_t const known = e.nodes().find(id);
                if (known != e.nodes().none && bucket.finished.find(known) != nullptr)
                    return status::corrupt; // twice
                e.add_finished(id, number, scores);
            }
        }
        for (std::size_t left = in.count(2); left != 0 && in.ok(); --left) {
            job_id job{};
            in.identifier(job);
            std::size_t const pairs = in.count(4);
            if (!in.ok() || pairs == 0 || e.jobs().find(job) != e.jobs().none) return failed(in);
            for (std::size_t i = 0; i < pairs; ++i) {
                std::uint64_t const node = in.varint(), back = in.varint();
                typename Evidence::pair_type::moments_type sums;
                if (!read_sums(in, sums) || node >= nodes.size() || back >= e.ring()) return failed(in);
                std::int64_t const number = head - static_cast<std::int64_t>(back);
                if (!plausible(sums.count(), number)) return status::corrupt;
                std::size_t const before = e.pairs();
                node_id const& id = nodes[static_cast<std::size_t>(node)];
                auto* const pair = e.find_or_insert(job, id, number, most_pairs);
                if (pair == nullptr) return status::out_of_range;
                if (e.pairs() == before) return status::corrupt; // twice
                e.merge_into(*pair, sums);
            }
        }
        if (status const s = in.finish(); s != status::ok) return s;
        return restore_order(e, nodes);
    }

  private:
    static status failed(byte_reader const& in) { return in.ok() ? status::corrupt : in.reason(); }

    // All nodes in the order they had; each is there once, and has something to say.
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

    // What makes bytes of one monitor no use for another.
    template <class Evidence, class Ticks>
    static void write_types(byte_writer& out, Ticks step) {
        using pair = typename Evidence::pair_type;
        out.u8(std::integral<typename pair::value_type> ? 1 : 2);
        out.u8(std::integral<Ticks> ? 1 : 2);
        if constexpr (std::integral<Ticks>)
            out.u64(static_cast<std::uint64_t>(step));
        else
            out.real(static_cast<double>(step));
        out.tag(
            base::identifier_form<std::remove_cvref_t<decltype(std::declval<Evidence const&>().jobs()[0])>>);
        out.tag(
            base::identifier_form<std::remove_cvref_t<decltype(std::declval<Evidence const&>().nodes()[0])>>);
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
    static void write_sums(byte_writer& out, real_pair const& p) {
        out.varint(p.count());
        out.real(p.mean());
        out.real(p.sum_of_squared_deviations());
    }
    [[nodiscard]] static bool read_sums(byte_reader& in, real_pair& p) {
        std::uint64_t const n = in.varint();
        double const mean = in.real(), m2 = in.real();
        p = real_pair::from(n, mean, m2);
        return in.ok() && is_finite(mean) && mean >= 0 && m2 >= 0;
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
        // Sums of scores and of their squares that scores within these bounds could have; no z_score is near
        // them. What is observed and merged later keeps within them, too, wherever the origin moves.
        constexpr double far_out = 0x1p40;
        double const n = static_cast<double>(s.n);
        return in.ok() && is_within(s.origin, far_out) && is_within(s.sum + n * s.origin, n * far_out) &&
               is_within(s.squares + s.origin * (2 * s.sum + n * s.origin), n * (far_out * far_out));
    }
};

} // namespace straggle::detail
