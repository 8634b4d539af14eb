// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The attempts of a history in order of their ends, for a single pass: on their last use, each is freed once
/// it has been processed, since histories are long.
#pragma once

#include "history.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle_rank {

/// Those that have an end; with equal ends, in the order of the history.
/// @par Cost
/// 4 bytes per attempt in addition to the history, or nothing if it is in that order already. On the last
/// use, the memory of a second history while it is sorted, then less and less.
template <class Time>
class attempts_by_end {
  public:
    /// @param all taken over if `is_last_use`, otherwise they must outlive it
    attempts_by_end(std::vector<attempt<Time>>& all, bool is_last_use) : all_(&all) {
        Time last{};
        bool is_in_order = true;
        for (attempt<Time> const& a : all) {
            is_in_order = is_in_order && a.end() && (size_ == 0 || *a.end() >= last);
            if (!a.end()) continue;
            last = *a.end();
            ++size_;
        }
        if (!is_in_order) sort();
        if (is_last_use) take(all);
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    /// @pre it was not forgotten
    [[nodiscard]] attempt<Time> const& operator[](std::size_t i) const {
        if (all_ == nullptr) return chunks_[i / chunk][i % chunk];
        return (*all_)[order_.empty() ? i : order_[i]];
    }
    /// Those before will not be used again.
    void forget_before(std::size_t i) {
        for (; all_ == nullptr && forgotten_ < i / chunk; ++forgotten_) free(chunks_[forgotten_]);
    }

  private:
    static constexpr std::size_t chunk = 4096; // so large that its memory returns to the system at once

    void sort() {
        order_.reserve(size_);
        for (std::uint32_t i = 0; i < all_->size(); ++i)
            if ((*all_)[i].end()) order_.push_back(i);
        std::ranges::sort(order_, [this](std::uint32_t i, std::uint32_t j) {
            auto const a = *(*all_)[i].end(), b = *(*all_)[j].end();
            return a < b || (a == b && i < j);
        });
    }
    void take(std::vector<attempt<Time>>& all) {
        chunks_.resize((size_ + chunk - 1) / chunk);
        for (std::size_t i = 0; i < size_; ++i) {
            if (i % chunk == 0) chunks_[i / chunk].reserve((std::min)(chunk, size_ - i));
            chunks_[i / chunk].push_back((*this)[i]);
        }
        all_ = nullptr;
        free(all);
        free(order_);
    }
    // Frees the memory, too, which an assignment would keep.
    template <class T>
    static void free(std::vector<T>& v) {
        std::vector<T>().swap(v);
    }

    std::vector<attempt<Time>>* all_;  // null: taken
    std::vector<std::uint32_t> order_; // empty if they are in order
    std::vector<std::vector<attempt<Time>>> chunks_;
    std::size_t size_ = 0, forgotten_ = 0;
};

} // namespace straggle_rank
