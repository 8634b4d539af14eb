// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "watch.hpp"

#include <cmath>

namespace straggle_watch {

namespace {

constexpr std::uint32_t watch_frame = straggle::frame_kind("wtch"), watch_version = 6;

} // namespace

straggle::mitigate::mitigator_counts watch::mitigator_counts() const {
    auto sum = base_;
    auto const& now = mitigator_.counts();
    sum.attempts += now.attempts;
    sum.running.seen += now.running.seen;
    sum.running.used += now.running.used;
    sum.running.unreported += now.running.unreported;
    sum.running.rejected += now.running.rejected;
    sum.other_clock += now.other_clock;
    sum.no_room += now.no_room;
    sum.nodes_refused += now.nodes_refused;
    sum.decisions += now.decisions;
    return sum;
}

std::vector<std::byte> watch::serialize() const {
    straggle::byte_writer out;
    auto const learned = mitigator_.serialize();
    out.text({reinterpret_cast<char const*>(learned.data()), learned.size()});
    cluster_.write(out);
    history_.write(out);
    auto const c = mitigator_counts();
    for (std::uint64_t const n : {c.attempts.seen, c.attempts.used, c.attempts.failed, c.attempts.killed,
                                  c.attempts.superseded, c.running.seen, c.running.used, c.running.unreported,
                                  c.other_clock, c.no_room, c.nodes_refused, c.decisions})
        out.varint(n);
    for (std::uint64_t const n : c.attempts.rejected) out.varint(n);
    for (std::uint64_t const n : c.running.rejected) out.varint(n);
    for (std::uint64_t const n : {tally_.lines, tally_.plans, tally_.copies, tally_.kills, tally_.places})
        out.varint(n);
    for (std::uint64_t const n : tally_.faults) out.varint(n);
    for (std::uint64_t const n : {gangs_.used, gangs_.dropped}) out.varint(n);
    for (std::uint64_t const n : {load_.waiting, load_.slots, load_.busy, ended_.count}) out.varint(n);
    for (double const x : {ended_.sum, ended_.longest}) out.real(x);
    out.flag(now_.has_value());
    out.real(now_.value_or(0));
    out.flag(is_on_);
    out.count(listed_.size());
    for (auto const& [name, nothing] : listed_) out.text(name);
    return std::move(out).seal(watch_frame, watch_version);
}

straggle::status watch::restore(std::span<std::byte const> bytes) {
    auto const opened = straggle::open_frame(bytes, watch_frame, watch_version);
    if (!opened) return opened.reason();
    if (opened->version != watch_version) return straggle::status::unknown_version;
    straggle::byte_reader in = opened->payload;
    std::string_view const learned = in.text();
    if (auto const s =
            mitigator_.restore({reinterpret_cast<std::byte const*>(learned.data()), learned.size()});
        s != straggle::status::ok)
        return s;
    if (!cluster_.read(in)) return in.ok() ? straggle::status::out_of_range : in.reason();
    history_.read(in);
    auto& c = base_;
    for (std::uint64_t* const n :
         {&c.attempts.seen, &c.attempts.used, &c.attempts.failed, &c.attempts.killed, &c.attempts.superseded,
          &c.running.seen, &c.running.used, &c.running.unreported, &c.other_clock, &c.no_room,
          &c.nodes_refused, &c.decisions})
        *n = in.varint();
    for (std::uint64_t& n : c.attempts.rejected.by_reason) n = in.varint();
    for (std::uint64_t& n : c.running.rejected.by_reason) n = in.varint();
    for (std::uint64_t* const n :
         {&tally_.lines, &tally_.plans, &tally_.copies, &tally_.kills, &tally_.places})
        *n = in.varint();
    for (std::uint64_t& n : tally_.faults) n = in.varint();
    for (std::uint64_t* const n : {&gangs_.used, &gangs_.dropped}) *n = in.varint();
    for (std::uint64_t* const n : {&load_.waiting, &load_.slots, &load_.busy, &ended_.count})
        *n = in.varint();
    for (double* const x : {&ended_.sum, &ended_.longest}) {
        *x = in.real();
        in.expect(std::isfinite(*x) && *x >= 0);
    }
    bool const is_known = in.flag();
    double const last = in.real();
    if (in.expect(std::isfinite(last)) && is_known) now_ = last;
    is_on_ = in.flag();
    mitigator_.enable(is_on_);
    for (std::size_t n = in.count(1); n-- > 0 && in.ok();) listed_.try_emplace(std::string(in.text()));
    return in.finish();
}

} // namespace straggle_watch
