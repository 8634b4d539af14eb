// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "ranks.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace straggle_mpi {

namespace {

using program::exit_status;
using program::failure;

constexpr int message_tag = 1;

// MPI counts in int; a monitor may be larger than that.
template <class Byte, class Transfer>
void in_pieces(std::span<Byte> bytes, Transfer&& transfer) {
    constexpr std::size_t most = std::size_t{1} << 30;
    while (!bytes.empty()) {
        std::size_t const n = (std::min)(bytes.size(), most);
        transfer(bytes.data(), static_cast<int>(n));
        bytes = bytes.subspan(n);
    }
}

void tell(int rank, std::uint64_t number) {
    MPI_Send(&number, 1, MPI_UINT64_T, rank, message_tag, MPI_COMM_WORLD);
}

std::uint64_t hear(int rank) {
    std::uint64_t number = 0;
    MPI_Recv(&number, 1, MPI_UINT64_T, rank, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return number;
}

constexpr std::uint64_t refused = 0, accepted = 1;

//! [merge]
void take_in(shard& mine, std::span<std::byte const> bytes) {
    shard theirs = new_shard();
    if (straggle::status const s = theirs.restore(bytes); s != straggle::status::ok)
        throw failure(exit_status::bad_input, "a shard arrived broken: " + std::string(to_string(s)));
    mine.merge(theirs);
}
//! [merge]

} // namespace

// Nobody looks at what MPI returns: left alone, it ends all processes when the network fails.
ranks::ranks(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

ranks::~ranks() {
    MPI_Finalize();
}

std::uint64_t ranks::sum(std::uint64_t mine) const {
    std::uint64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

std::uint64_t ranks::least(std::uint64_t mine) const {
    std::uint64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

void ranks::agree(std::optional<failure> const& mine) const {
    auto const size = static_cast<std::uint64_t>(size_), rank = static_cast<std::uint64_t>(rank_);
    std::uint64_t const first = least(mine ? rank : size);
    if (first == size) return;
    std::uint64_t const failed = sum(mine ? 1 : 0);
    std::string words = mine ? mine->what() : "";
    int status = mine ? static_cast<int>(mine->status()) : 0;
    int length = static_cast<int>((std::min)(words.size(), std::size_t{1} << 16));
    int const root = static_cast<int>(first);
    MPI_Bcast(&status, 1, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Bcast(&length, 1, MPI_INT, root, MPI_COMM_WORLD);
    words.resize(static_cast<std::size_t>(length));
    MPI_Bcast(words.data(), length, MPI_CHAR, root, MPI_COMM_WORLD);
    if (failed != size)
        words += " (on " + std::to_string(failed) + " of " + std::to_string(size) + " ranks, first on rank " +
                 std::to_string(first) + ")";
    throw failure(static_cast<exit_status>(status), words);
}

//! [tree]
// In each round the ranks with the bit send all they have to those without it, and are done.
void ranks::climb(shard& mine, int& bit) const {
    for (; bit < size_; bit *= 2) {
        if ((rank_ & bit) != 0) return send(mine, rank_ - bit);
        if (rank_ + bit < size_) receive_into(mine, rank_ + bit);
    }
}
//! [tree]

void ranks::reduce(shard& mine) const {
    int bit = 1;
    try {
        climb(mine, bit);
    } catch (...) {
        climb_without_shard(bit);
        throw;
    }
}

// The same from the round after `bit` on, with nothing to send and no use for what others send.
void ranks::climb_without_shard(int bit) const {
    if ((rank_ & bit) != 0) return;
    for (bit *= 2; bit < size_; bit *= 2) {
        if ((rank_ & bit) != 0) return tell(rank_ - bit, 0);
        if (rank_ + bit < size_ && hear(rank_ + bit) != 0) tell(rank_ + bit, refused);
    }
}

// A message is its size, 0 if there is none; whether the other side has room for it; its bytes.
void ranks::send(shard const& mine, int to) const {
    std::vector<std::byte> bytes;
    try {
        bytes = mine.serialize();
    } catch (...) {
        tell(to, 0);
        throw;
    }
    tell(to, bytes.size());
    if (hear(to) == refused) return;
    in_pieces(std::span(bytes), [to](std::byte const* from, int n) {
        MPI_Send(from, n, MPI_BYTE, to, message_tag, MPI_COMM_WORLD);
    });
}

void ranks::receive_into(shard& mine, int from) const {
    std::uint64_t const size = hear(from);
    if (size == 0) return;
    std::vector<std::byte> bytes;
    try {
        bytes.resize(size);
    } catch (...) {
        tell(from, refused);
        throw;
    }
    tell(from, accepted);
    in_pieces(std::span(bytes), [from](std::byte* to, int n) {
        MPI_Recv(to, n, MPI_BYTE, from, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    take_in(mine, bytes);
}

} // namespace straggle_mpi
