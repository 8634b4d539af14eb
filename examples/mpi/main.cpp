// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Which rank of an MPI program do the others wait for? Each step of each rank is some work and a barrier.
// Rank 0 gathers how long every rank worked and waited, and watches. The wall times are equal; the waits are
// not.
//
//   mpirun -n 8 steps [STEPS [MILLISECONDS OF WORK]]

#include <straggle/gang.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

// Volatile: otherwise the compiler could move the work out of the timed section.
std::uint64_t volatile result;

void work(std::uint64_t turns) {
    std::uint64_t x = result;
    for (std::uint64_t i = 0; i < turns; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    result = x;
}

// Does not spin: ranks may share cores.
void barrier() {
    MPI_Request all;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int done = 0;;) {
        MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        if (done != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// The median, since the rank that watches may lose its core in the middle.
double median(std::vector<double>& x) {
    auto const middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    std::nth_element(x.begin(), middle, x.end());
    return *middle;
}

//! [report]
struct step_time {
    int step, rank;
    double took, waited;
};
constexpr straggle::gang::step_fields fields{.step = &step_time::step,
                                             .rank = &step_time::rank,
                                             .duration = &step_time::took,
                                             .waited = &step_time::waited};
//! [report]

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const steps = argc > 1 ? std::max(static_cast<int>(std::strtol(argv[1], nullptr, 10)), 1) : 60;
    double const milliseconds = argc > 2 ? std::strtod(argv[2], nullptr) : 10;

    double fastest = 1e9; // trial
    constexpr std::uint64_t trial = 1u << 20;
    for (int i = 0; i < 10; ++i) {
        auto const begin = clock_type::now();
        work(trial);
        fastest = std::min(fastest, seconds_since(begin));
    }
    auto turns = static_cast<std::uint64_t>(static_cast<double>(trial) * milliseconds / 1000 / fastest);
    MPI_Bcast(&turns, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD); // the same work for all

    auto watch = straggle::gang::step_watch_of<step_time>(fields);
    std::vector<double> all(2 * static_cast<std::size_t>(ranks));
    std::vector<double> reporting, with_closing; // in seconds for each report, by step
    int found = -1;
    for (int step = 0; step < steps; ++step) {
        auto const start = clock_type::now();
        work(turns);
        double const worked = seconds_since(start);
        barrier();
        double const times[] = {worked, seconds_since(start) - worked};
        MPI_Gather(times, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank != 0) continue;
        auto const watching = clock_type::now();
        for (int r = 0; r < ranks; ++r) {
            double const* const of = &all[2 * static_cast<std::size_t>(r)];
            watch.observe({step, r, of[0] + of[1], of[1]});
        }
        reporting.push_back(seconds_since(watching) / ranks);
        watch.close(step);
        with_closing.push_back(seconds_since(watching) / ranks);
        if (found < 0 && !watch.stragglers().empty()) found = step;
    }
    if (rank == 0) {
        for (auto const& s : watch.stragglers())
            std::printf("rank %d takes %.2f times as long as the others (%.2f to %.2f) since step %lld\n",
                        s.rank, s.slow.value, s.slow.low, s.slow.high, static_cast<long long>(s.since));
        auto const loss = watch.loss();
        std::printf("first named after %d steps; a step takes %.1f ms, without stragglers %.1f ms; %.2f us a "
                    "report, %.2f us with closing the step\n",
                    found + 1, 1e3 * loss.seconds, 1e3 * loss.without_stragglers, 1e6 * median(reporting),
                    1e6 * median(with_closing));
    }
    MPI_Finalize();
}
