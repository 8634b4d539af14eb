// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The cost of identifiers that were chosen so that their hashes collide: a table of them, and a monitor
/// whose attempts have such nodes, observed, stored and restored; against ordinary ones of the same length.

#include <straggle/base/interner.hpp>
#include <straggle/rank/monitor.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

// Reads the key of a table: an explicit instantiation may name private members.
struct key_of_text {
    friend constexpr auto member(key_of_text);
};
template <class Tag, auto Member>
struct show {
    friend constexpr auto member(Tag) { return Member; }
};
template struct show<key_of_text, &straggle::interner<std::string>::key_>;

// 16 bytes that differ only in a number: ordinary, or such that a factor of the hash is 0, without a key or
// with the key that a table changes to.
std::string text(std::uint64_t number, std::uint64_t first) {
    std::string s(16, ' ');
    std::memcpy(s.data(), &first, 8);
    std::memcpy(s.data() + 8, &number, 8);
    return s;
}
constexpr std::uint64_t colliding = 0xA0761D6478BD642Fu ^ 16;

std::vector<std::string> texts(std::string_view kind, std::size_t size) {
    std::vector<std::string> out;
    std::mt19937_64 draw(1);
    straggle::interner<std::string> table;
    for (std::size_t i = 0; i < size; ++i) {
        std::uint64_t const key = kind == "every_key" ? table.*member(key_of_text{}) : 0;
        out.push_back(text(draw(), kind == "ordinary" ? 0x2d65646f6e2d6563u : colliding ^ key));
        table.insert(out.back());
    }
    return out;
}

// Numbers whose hashes without a key end in 32 zeros, or random numbers.
std::vector<std::uint64_t> numbers(bool crafted, std::size_t size) {
    std::vector<std::uint64_t> out;
    std::mt19937_64 draw(2);
    for (std::uint64_t i = 0; i < size; ++i) {
        std::uint64_t const h = i << 32;
        std::uint64_t x = h ^ (h >> 29);
        x = h ^ (x >> 29);
        x = h ^ (x >> 29);
        std::uint64_t inverse = 1;
        for (int k = 0; k < 6; ++k) inverse *= 2 - 0x9E3779B97F4A7C15u * inverse;
        x *= inverse;
        out.push_back(crafted ? x ^ (x >> 32) : draw());
    }
    return out;
}

template <class Id>
struct attempt {
    int job = 0;
    Id node{};
    std::int64_t duration = 0;
};
template <class Id>
std::vector<attempt<Id>> attempts(std::vector<Id> const& ids) {
    std::vector<attempt<Id>> out;
    std::mt19937_64 draw(3);
    for (std::size_t i = 0; i < ids.size(); ++i)
        out.push_back({static_cast<int>(i % 100), ids[i], static_cast<std::int64_t>(1000 + draw() % 1000)});
    return out;
}

template <class Id>
void fill(benchmark::State& state, std::vector<Id> const& ids) {
    for (auto _ : state) {
        straggle::interner<Id> table;
        for (Id const& id : ids) benchmark::DoNotOptimize(table.insert(id));
        for (Id const& id : ids) benchmark::DoNotOptimize(table.find(id));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ids.size()));
}

// Observes attempts, each on its own node, stores the state and restores it.
template <class Id>
void watch(benchmark::State& state, std::vector<Id> const& ids) {
    using record = attempt<Id>;
    std::vector<record> const log = attempts(ids);
    straggle::attempt_fields const fields{
        .job = &record::job, .node = &record::node, .duration = &record::duration};
    for (auto _ : state) {
        straggle::monitor<record, std::remove_const_t<decltype(fields)>> all{fields}, copy{fields};
        for (record const& r : log) benchmark::DoNotOptimize(all.observe(r));
        std::vector<std::byte> const bytes = all.serialize();
        benchmark::DoNotOptimize(copy.restore(bytes));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ids.size()));
}

template <class Id>
void both(std::string const& name, std::vector<Id> const& ids) {
    benchmark::RegisterBenchmark(("fill/" + name).c_str(), [ids](benchmark::State& s) {
        fill(s, ids);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("watch/" + name).c_str(), [ids](benchmark::State& s) {
        watch(s, ids);
    })->Unit(benchmark::kMillisecond);
}

} // namespace

int main(int argc, char** argv) {
    for (std::string const kind : {"ordinary", "first_key", "every_key"})
        both("text_" + kind, texts(kind, 40000));
    both("numbers_ordinary", numbers(false, 80000));
    both("numbers_first_key", numbers(true, 80000));
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
