// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The nearest records by weighted Euclidean distance: against the literal scan, against a k-d tree that
/// takes the weights as its metric, against one of scaled coordinates, which has to be built anew whenever
/// weights change, and against a scan in single precision by instructions of the machine.
/// `BM_nearest/<rival>_<data>/records/factors/neighbors`; the rivals find the same distances, which is
/// checked before they are timed. Data: `uniform`, without any structure; `clustered`, 200 kinds of tasks;
/// `mixed`, with categories and gaps, which only a scan can handle.
///
/// Everything built is kept, up to 5 GB if all benchmarks run at once.

#include "support/lcg.hpp"

#include <straggle/predict/profile_store.hpp>

#include <benchmark/benchmark.h>

#if STRAGGLE_BENCH_HAS_NANOFLANN
#include <nanoflann.hpp>
#endif
#if STRAGGLE_BENCH_HAS_FAISS
#include <faiss/IndexFlat.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if STRAGGLE_BENCH_HAS_FAISS
// Its header is not always where the library is.
extern "C" void omp_set_num_threads(int);
#endif

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

enum class shape { uniform, clustered, mixed };

struct data_set {
    std::size_t records = 0, factors = 0;
    std::vector<straggle::predict::factor_kind> kinds;
    std::vector<double> rows, queries; // one after the other
    std::vector<double> weights, ranges;

    [[nodiscard]] std::span<double const> row(std::size_t i) const {
        return {rows.data() + i * factors, factors};
    }
    [[nodiscard]] std::span<double const> query(std::size_t i) const {
        return {queries.data() + i * factors, factors};
    }
};
// Too many for a branch predictor to learn by heart: no scheduler repeats the same 256 queries.
constexpr std::size_t query_count = 4096;

double normal(straggle_bench::lcg& random) {
    double const radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    return radius * std::cos(6.283185307179586 * random.uniform());
}

data_set make(shape how, std::size_t records, std::size_t factors) {
    straggle_bench::lcg random;
    data_set d{records, factors, {}, {}, {}, {}, {}};
    for (std::size_t k = 0; k < factors; ++k) {
        d.kinds.push_back(how == shape::mixed && k % 4 == 1 ? straggle::predict::factor_kind::categorical
                                                            : straggle::predict::factor_kind::numeric);
        d.weights.push_back(0.1 + random.uniform());
    }
    constexpr std::size_t clusters = 200;
    std::vector<double> centres(clusters * factors);
    for (double& x : centres) x = random.uniform();
    auto const append = [&](std::vector<double>& rows) {
        std::size_t const cluster = random() % clusters;
        for (std::size_t k = 0; k < factors; ++k) {
            double x = random.uniform();
            if (how != shape::uniform) x = centres[cluster * factors + k] + 0.02 * normal(random);
            if (d.kinds[k] == straggle::predict::factor_kind::categorical)
                x = static_cast<double>(k % 8 == 1 ? cluster : random() % 1000);
            if (how == shape::mixed && k % 4 == 2 && random() % 20 == 0)
                x = straggle::predict::missing_factor;
            rows.push_back(x);
        }
    };
    for (std::size_t i = 0; i < records; ++i) append(d.rows);
    for (std::size_t i = 0; i < query_count; ++i) append(d.queries);
    straggle::predict::profile_store store(d.kinds, {.capacity = records});
    for (std::size_t i = 0; i < records; ++i) (void)store.add(d.row(i), 1);
    d.ranges.assign(store.ranges().begin(), store.ranges().end());
    return d;
}

data_set const& data(benchmark::State const& state, shape how) {
    static std::map<std::tuple<shape, std::int64_t, std::int64_t>, data_set> known;
    auto const [at, is_new] = known.try_emplace({how, state.range(0), state.range(1)});
    if (is_new)
        at->second =
            make(how, static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
    return at->second;
}

// ------------------------------------------------------------------------------------------------ rivals
// `nearest(query, k)` gives the k distances, nearest first, and the sum of the places of the records.

struct answer {
    std::vector<double> distances{};
    std::uint64_t places = 0;
    void clear() {
        distances.clear();
        places = 0;
    }
};

std::vector<double> squared_scales(data_set const& d) {
    std::vector<double> scales;
    for (std::size_t k = 0; k < d.factors; ++k) scales.push_back(d.weights[k] / (d.ranges[k] * d.ranges[k]));
    return scales;
}

struct straggle_store {
    data_set const& d;
    straggle::predict::profile_store store;
    straggle::predict::nearest_scratch scratch{};
    std::vector<straggle::predict::neighbor> found{};

    explicit straggle_store(data_set const& all) : d(all), store(all.kinds, {.capacity = all.records}) {
        for (std::size_t i = 0; i < d.records; ++i) (void)store.add(d.row(i), static_cast<double>(i));
        store.arrange();
    }
    void nearest(std::span<double const> query, std::size_t k, answer& out) {
        (void)store.nearest(query, d.weights, k, infinity, scratch, found);
        out.clear();
        for (straggle::predict::neighbor const& n : found) {
            out.distances.push_back(n.distance);
            out.places += n.number;
        }
    }
};
// A typical state between two times that everything is sorted.
struct straggle_in_use : straggle_store {
    explicit straggle_in_use(data_set const& all) : straggle_store(all) {
        for (std::size_t i = 0; i < d.records / 16; ++i) (void)store.add(d.row(i), static_cast<double>(i));
    }
};

// Definition 1 literally, weight / range^2 aside.
struct scalar_scan {
    data_set const& d;
    std::vector<double> scales{};
    std::vector<std::pair<double, std::size_t>> heap{};
    explicit scalar_scan(data_set const& all) : d(all), scales(squared_scales(all)) {}

    [[nodiscard]] double distance(double const* x, double const* y) const {
        double sum = 0;
        for (std::size_t k = 0; k < d.factors; ++k) sum += scales[k] * (x[k] - y[k]) * (x[k] - y[k]);
        return std::sqrt(sum);
    }
    [[nodiscard]] double mixed_distance(double const* x, double const* y) const {
        double sum = 0;
        for (std::size_t k = 0; k < d.factors; ++k) {
            bool const numeric = d.kinds[k] == straggle::predict::factor_kind::numeric;
            bool const x_missing = std::isnan(x[k]), y_missing = std::isnan(y[k]);
            if (x_missing != y_missing || (!numeric && x[k] != y[k]))
                sum += d.weights[k];
            else if (numeric && !x_missing)
                sum += scales[k] * (x[k] - y[k]) * (x[k] - y[k]);
        }
        return std::sqrt(sum);
    }
    template <class Distance>
    void scan(double const* query, std::size_t k, Distance distance) {
        heap.clear();
        for (std::size_t i = 0; i < d.records; ++i) {
            double const found = distance(d.rows.data() + i * d.factors, query);
            if (heap.size() == k) {
                if (!(found < heap.front().first)) continue;
                std::pop_heap(heap.begin(), heap.end());
                heap.pop_back();
            }
            heap.emplace_back(found, i);
            std::push_heap(heap.begin(), heap.end());
        }
        std::sort_heap(heap.begin(), heap.end());
    }
    void nearest(std::span<double const> query, std::size_t k, answer& out) {
        if (std::count(d.kinds.begin(), d.kinds.end(), straggle::predict::factor_kind::categorical) == 0)
            scan(query.data(), k, [this](double const* x, double const* y) { return distance(x, y); });
        else
            scan(query.data(), k, [this](double const* x, double const* y) { return mixed_distance(x, y); });
        out.clear();
        for (auto const& [distance, place] : heap) {
            out.distances.push_back(distance);
            out.places += place;
        }
    }
};

// Coordinates in which weights and ranges are 1.
std::vector<double> scaled(data_set const& d, std::span<double const> rows) {
    std::vector<double> all(rows.begin(), rows.end());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] *= std::sqrt(d.weights[i % d.factors]) / d.ranges[i % d.factors];
    return all;
}

#if STRAGGLE_BENCH_HAS_NANOFLANN
struct point_cloud {
    std::vector<double> rows;
    std::size_t factors;
    std::vector<double> scales; // weight / range^2
    [[nodiscard]] std::size_t kdtree_get_point_count() const { return rows.size() / factors; }
    [[nodiscard]] double kdtree_get_pt(std::size_t i, std::size_t k) const { return rows[i * factors + k]; }
    template <class Box>
    bool kdtree_get_bbox(Box&) const {
        return false;
    }
};

// As nanoflann's L2_Adaptor, four at a time and stopping when it is too far, with weights.
struct weighted_metric {
    using ElementType = double;
    using DistanceType = double;
    point_cloud const& cloud;
    explicit weighted_metric(point_cloud const& points) : cloud(points) {}

    [[nodiscard]] double evalMetric(double const* x, std::uint32_t i, std::size_t n,
                                    double worst = -1) const {
        double const* const y = cloud.rows.data() + i * n;
        double const* const w = cloud.scales.data();
        auto const square = [&](std::size_t k) { return w[k] * (x[k] - y[k]) * (x[k] - y[k]); };
        double sum = 0;
        std::size_t k = 0;
        for (; k + 4 <= n; k += 4) {
            sum += square(k) + square(k + 1) + square(k + 2) + square(k + 3);
            if (worst > 0 && sum > worst) return sum;
        }
        for (; k < n; ++k) sum += square(k);
        return sum;
    }
    [[nodiscard]] double accum_dist(double x, double y, std::size_t k) const {
        return cloud.scales[k] * (x - y) * (x - y);
    }
};

template <class Metric>
struct nanoflann_tree {
    using tree = nanoflann::KDTreeSingleIndexAdaptor<Metric, point_cloud, -1, std::uint32_t>;
    static constexpr bool of_scaled = !std::is_same_v<Metric, weighted_metric>;
    data_set const& d;
    point_cloud cloud;
    tree index;
    std::vector<std::uint32_t> places{};
    std::vector<double> query_scales{};

    explicit nanoflann_tree(data_set const& all)
        : d(all),
          cloud{of_scaled ? scaled(all, all.rows) : all.rows, all.factors, squared_scales(all)},
          index(static_cast<int>(all.factors), cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10)) {
        index.buildIndex();
    }
    void nearest(std::span<double const> query, std::size_t k, answer& out) {
        out.distances.resize(k);
        places.resize(k);
        double const* from = query.data();
        if (of_scaled) {
            query_scales.resize(d.factors);
            for (std::size_t i = 0; i < d.factors; ++i)
                query_scales[i] = query[i] * std::sqrt(cloud.scales[i]);
            from = query_scales.data();
        }
        index.knnSearch(from, k, places.data(), out.distances.data());
        out.places = 0;
        for (std::uint32_t const p : places) out.places += p;
        for (double& x : out.distances) x = std::sqrt(x);
    }
};
using nanoflann_weights = nanoflann_tree<weighted_metric>;
using nanoflann_scaled = nanoflann_tree<nanoflann::L2_Adaptor<double, point_cloud>>;
#endif

#if STRAGGLE_BENCH_HAS_FAISS
struct faiss_flat {
    data_set const& d;
    faiss::IndexFlatL2 index;
    std::vector<float> distances{};
    std::vector<faiss::Index::idx_t> places{};

    explicit faiss_flat(data_set const& all) : d(all), index(static_cast<faiss::Index::idx_t>(all.factors)) {
        omp_set_num_threads(1);
        std::vector<float> const rows = singles(all.rows);
        index.add(static_cast<faiss::Index::idx_t>(all.records), rows.data());
    }
    [[nodiscard]] std::vector<float> singles(std::span<double const> rows) const {
        std::vector<double> const all = scaled(d, rows);
        std::vector<float> out;
        for (double const x : all) out.push_back(static_cast<float>(x));
        return out;
    }
    void nearest(std::span<double const> query, std::size_t k, answer& out) {
        distances.resize(k);
        places.resize(k);
        std::vector<float> const from = singles(query);
        index.search(1, from.data(), static_cast<faiss::Index::idx_t>(k), distances.data(), places.data());
        out.clear();
        for (float const x : distances) out.distances.push_back(std::sqrt(static_cast<double>(x)));
        for (auto const p : places) out.places += static_cast<std::uint64_t>(p);
    }
};
#endif

// ------------------------------------------------------------------------------------------------ kernels

template <class Rival>
Rival& built(data_set const& d) {
    static std::map<data_set const*, std::unique_ptr<Rival>> known;
    std::unique_ptr<Rival>& rival = known[&d];
    if (rival == nullptr) rival = std::make_unique<Rival>(d);
    return *rival;
}

template <class Rival>
void nearest(benchmark::State& state, shape how) {
    data_set const& d = data(state, how);
    auto const k = static_cast<std::size_t>(state.range(2));
    Rival& rival = built<Rival>(d);
    answer out, expected;
    scalar_scan scan(d);
    for (std::size_t i = 0; i < 3; ++i) {
        rival.nearest(d.query(i), k, out);
        scan.nearest(d.query(i), k, expected);
        for (std::size_t j = 0; j < k; ++j) // single precision loses half of the digits of a square
            if (!(std::abs(out.distances[j] - expected.distances[j]) < 1e-3))
                return state.SkipWithError("wrong");
    }
    std::size_t next = 0;
    for (auto _ : state) {
        rival.nearest(d.query(next), k, out);
        benchmark::DoNotOptimize(out.places);
        next = (next + 1) % query_count;
    }
}

// The work before the first query with other weights; the library has none.
template <class Rival>
void new_weights(benchmark::State& state, shape how) {
    data_set const& d = data(state, how);
    for (auto _ : state) {
        Rival rival(d);
        benchmark::DoNotOptimize(&rival);
    }
}

void arrange(benchmark::State& state, shape how) {
    data_set const& d = data(state, how);
    straggle::predict::profile_store& store = built<straggle_store>(d).store;
    for (auto _ : state) store.arrange();
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(d.records));
}

// Grows from the first record on, or replaces a record with each.
enum class filling { growing, oldest, random };

template <filling How>
void add(benchmark::State& state, shape how) {
    data_set const& d = data(state, how);
    straggle::predict::profile_store full(d.kinds, {.capacity = d.records});
    if (How != filling::growing)
        for (std::size_t i = 0; i < d.records; ++i) (void)full.add(d.row(i), 1);
    struct engine {
        straggle_bench::lcg random{};
        static constexpr std::uint32_t min() { return 0; }
        static constexpr std::uint32_t max() { return (1u << 31) - 1; }
        std::uint32_t operator()() { return random(); }
    } chance;
    for (auto _ : state) {
        if (How == filling::growing)
            full = straggle::predict::profile_store(d.kinds, {.capacity = d.records});
        for (std::size_t i = 0; i < d.records; ++i)
            (void)(How == filling::random ? full.add(d.row(i), 1, chance) : full.add(d.row(i), 1));
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(d.records));
}

using kernel = void (*)(benchmark::State&, shape);
constexpr std::pair<char const*, shape> shapes[] = {
    {"_uniform", shape::uniform}, {"_clustered", shape::clustered}, {"_mixed", shape::mixed}};

void add_nearest(std::string const& rival, kernel run, std::size_t shape_count = 2) {
    for (auto const& [name, how] : std::span(shapes).first(shape_count)) {
        auto* const b =
            benchmark::RegisterBenchmark(("BM_nearest/" + rival + name).c_str(),
                                         [run, how = how](benchmark::State& state) { run(state, how); });
        b->ArgNames({"records", "factors", "neighbors"})->Unit(benchmark::kMicrosecond);
        for (std::int64_t const factors : {4, 8, 16})
            for (std::int64_t records = 1000; records <= 1'000'000; records *= 10)
                for (std::int64_t const neighbors : {1, 32}) b->Args({records, factors, neighbors});
    }
}
void add_whole(std::string const& title, kernel run) {
    for (auto const& [name, how] : std::span(shapes).first(2)) {
        auto* const b = benchmark::RegisterBenchmark(
            ("BM_" + title + name).c_str(), [run, how = how](benchmark::State& state) { run(state, how); });
        b->ArgNames({"records", "factors"})->Unit(benchmark::kMillisecond);
        for (std::int64_t records = 1000; records <= 1'000'000; records *= 10) b->Args({records, 8});
    }
}

[[maybe_unused]] bool const registered = [] {
    add_nearest("straggle", nearest<straggle_store>, 3);
    add_nearest("straggle_in_use", nearest<straggle_in_use>, 3);
    add_nearest("scalar_scan", nearest<scalar_scan>, 3);
#if STRAGGLE_BENCH_HAS_NANOFLANN
    add_nearest("nanoflann_weights", nearest<nanoflann_weights>);
    add_nearest("nanoflann_scaled", nearest<nanoflann_scaled>);
    add_whole("new_weights/nanoflann_scaled", new_weights<nanoflann_scaled>);
#endif
#if STRAGGLE_BENCH_HAS_FAISS
    add_nearest("faiss_flat", nearest<faiss_flat>);
    add_whole("new_weights/faiss_flat", new_weights<faiss_flat>);
#endif
    add_whole("arrange/straggle", arrange);
    add_whole("add/straggle_growing", add<filling::growing>);
    add_whole("add/straggle_oldest", add<filling::oldest>);
    add_whole("add/straggle_random", add<filling::random>);
    return true;
}();

} // namespace
