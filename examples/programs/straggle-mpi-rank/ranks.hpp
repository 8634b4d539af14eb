// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// All processes of the job: what they tell each other.
#pragma once

#include "../common/failure.hpp"
#include "shard.hpp"

#include <cstdint>
#include <new>
#include <optional>

namespace straggle_mpi {

/// MPI from its start to its end; one per process.
class ranks {
  public:
    ranks(int& argc, char**& argv);
    ~ranks();
    ranks(ranks const&) = delete;
    ranks& operator=(ranks const&) = delete;

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }

    /// Does a piece of work on every rank. Should it fail on any, then this is a `failure` on all of them,
    /// with the status and the words of the first one: no rank waits for one that has given up.
    template <class Work>
    void together(Work&& work) const {
        std::optional<program::failure> mine;
        try {
            work();
        } catch (program::failure const& e) {
            mine = e;
        } catch (std::bad_alloc const&) {
            mine.emplace(program::exit_status::bad_input, "not enough memory");
        }
        agree(mine);
    }

    /// Of all ranks, known to all.
    [[nodiscard]] std::uint64_t sum(std::uint64_t mine) const;
    [[nodiscard]] std::uint64_t least(std::uint64_t mine) const;

    /// Puts the shards of all ranks together: rank 0 then has everything, the others part of it. A rank that
    /// fails takes its part in the messages still, so that no other one waits. To be called in `together`.
    void reduce(shard& mine) const;

  private:
    void agree(std::optional<program::failure> const& mine) const;
    void climb(shard& mine, int& bit) const;
    void climb_without_shard(int bit) const;
    void send(shard const& mine, int to) const;
    void receive_into(shard& mine, int from) const;

    int rank_ = 0, size_ = 1;
};

} // namespace straggle_mpi
