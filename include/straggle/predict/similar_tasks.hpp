// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long would this task take there? As long as the most similar tasks took: learns from the user's
/// records of finished tasks, and predicts a distribution of times instead of a number.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/random.hpp>
#include <straggle/base/size.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/predict/factors.hpp>
#include <straggle/predict/node_weights.hpp>
#include <straggle/predict/profile_store.hpp>
#include <straggle/predict/similarity.hpp>
#include <straggle/predict/task_profile.hpp>
#include <straggle/predict/weights.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>
#include <straggle/stats/empirical.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::predict {

/// Options for learning and prediction.
struct similar_tasks_options {
    /// How many similar tasks make a prediction; fewer if there are no more.
    std::size_t neighbors = 10;
    /// Tasks further away do not count as similar: the largest distance, from 0 (equal in all factors) to 1
    /// (different in all).
    double within = (std::numeric_limits<double>::max)();
    std::size_t capacity = 100'000; ///< maximum number of tasks remembered. @pre from 1 to 2^31
    /// How many earlier tasks a finished one is compared with to learn the weights of the factors; 0: all
    /// factors keep equal weights.
    std::size_t pairs = 4;
    /// Share of the weight that is spread evenly over all factors, regardless of what was learned: an
    /// irrelevant factor still decides between tasks that are alike in all relevant ones.
    double even_share = 0.1;
    /// The usual time of a task on a good node is this quantile of the times of similar tasks on all nodes:
    /// the median of the good nodes if four of five are good.
    double usual_quantile = 0.4;
    node_weight_options weights = {}; ///< how weights are learned
};

/// Working memory of a prediction, which also holds the result: give each thread its own, and reuse it.
class prediction_scratch {
    template <class Record, class Profile, distance Distance>
        requires task_profile_for<Profile, Record>
    friend class similar_tasks;

    std::vector<double> row_, weights_;
    std::vector<neighbor> found_;
    std::vector<double> near_; // the times of those
    nearest_scratch nearest_;
    stats::empirical times_;
};

/// Predicts how long a task takes on a node from the times of the most similar tasks.
///
/// **Prediction.** The times of the `neighbors` nearest remembered tasks, by weighted Euclidean distance over
/// the factors and the node; ties go to the youngest. A remembered task counts regardless of what became of
/// its job. A category never seen before differs from all others; an unknown amount has the maximum distance
/// to known ones.
///
/// **Weights.** Each finished task is compared with `pairs` earlier ones: similarity in each factor against
/// similarity of their times (`node_weights`, for each node). They are chosen without a search: the last task
/// on the same node, then alternately one of the 64 youngest and one of all, by a golden-ratio stride, so
/// that they are spread evenly over the ages and reproducible.
///
/// Source: RiskI (Zheng et al. 2014), section 5, which predicts from the single most similar profile. Ours: k
/// tasks instead of one profile, since a decision needs the distribution; the node's weights are shrunk
/// toward those of the fleet; an even share of the weight.
///
/// **Why 10.** Predicting tasks of real histories before learning from them, the error of a few quantiles is
/// lowest for 4 to 8 neighbors and grows slowly from there (docs/reference/detecting.md); `range` of a
/// distribution needs 9 for its 80 %.
///
/// @tparam Record the user's record of a task
/// @tparam Profile a `task_profile`
/// @tparam Distance between tasks. Weights are learned for the default; any other is called for every task
/// remembered
/// @par Example
/// `auto history = similar_tasks_of<task>(profile); history.observe(finished); history.predict(next,
/// "host-7");`
/// @par Cost
/// a prediction is one search of `profile_store` and a sort of `neighbors` times; learning O(pairs x
/// factors^2), with an occasional fit of the weights, and the store's upkeep. Memory of the store, the
/// weights, and about 40 bytes plus the name per category among the tasks remembered. Allocates nothing in
/// the steady state: the store full, nodes and categories known
/// @par Guarantees
/// deterministic; only allocation can throw: then nothing has changed, or the task was remembered (and counts
/// as used) but not compared with all others. Any number of threads may predict, each with its own scratch,
/// as long as none learns
template <class Record, class Profile, distance Distance = weighted_euclidean>
    requires task_profile_for<Profile, Record>
class similar_tasks {
    using node_projection = decltype(Profile::node);
    using all_factors = detail::with_node<node_projection, decltype(Profile::factors)>;
    using reader = factor_reader<Record, typename all_factors::type>;

  public:
    /// Type of node names.
    using node_id = owned_identifier_t<detail::field_value_t<node_projection, Record>>;
    /// Type of node names as arguments: `std::string_view` for text.
    using node_key = typename interner<node_id>::key_type;
    /// Number of factors, the node included: the length of the weights.
    static constexpr std::size_t factor_count = reader::size;

    /// @param record_profile names the members of a record
    /// @param how capacity and weighting
    /// @param distance between tasks
    /// @pre `neighbors > 0`; `capacity` from 1 to 2^31; `within >= 0`; the shares in [0, 1]
    explicit similar_tasks(Profile record_profile, similar_tasks_options const& how = {},
                           Distance distance = {})
        : profile_(std::move(record_profile)),
          options_(how),
          distance_(std::move(distance)),
          reader_(all_factors::of(profile_.node, profile_.factors), how.capacity),
          store_(reader::kinds, profile_store_options{.capacity = how.capacity}),
          weights_(factor_count, how.weights),
          other_(factor_count),
          similarities_(factor_count) {
        STRAGGLE_EXPECTS(how.neighbors > 0 && how.within >= 0);
        STRAGGLE_EXPECTS(how.even_share >= 0 && how.even_share <= 1);
        STRAGGLE_EXPECTS(how.usual_quantile >= 0 && how.usual_quantile <= 1);
    }
    similar_tasks(similar_tasks const&) = default;
    similar_tasks(similar_tasks&&) = default;
    /// Copies the other object, or changes nothing if an allocation fails.
    similar_tasks& operator=(similar_tasks const& other)
        requires std::is_move_assignable_v<Profile>
    {
        return *this = similar_tasks(other);
    }
    similar_tasks& operator=(similar_tasks&&) = default;
    ~similar_tasks() = default;

    /// Learns from a task that ended; if the store is full, the oldest is forgotten.
    /// @return whether it was evidence; if not, `counts` has the reason
    bool observe(Record const& task) {
        return take(task, [this](double time) { return store_.add(detail::span_of(own_.row_), time); });
    }
    /// Learns from a task that ended; if the store is full, a random one is forgotten.
    template <base::random_engine Engine>
    bool observe(Record const& task, Engine& engine) {
        return take(task, [&](double time) { return store_.add(own_.row_, time, engine); });
    }

    /// How long a task would take on a node.
    /// @param task only its factors are read, not its node or time
    /// @param node where it would run; may be unknown
    /// @param scratch holds the distribution until its next use
    /// @return times in seconds for times of `std::chrono`, otherwise in the user's unit;
    /// `status::insufficient_evidence` if no task is remembered, or none within the distance
    [[nodiscard]] outcome<stats::empirical_view> predict(Record const& task, node_key node,
                                                         prediction_scratch& scratch) const {
        scratch.row_.resize(factor_count);
        reader_.look_up(task, scratch.row_);
        scratch.row_[0] = reader_.template code<0>(node);
        return similar(weights_.weights_of(node), scratch);
    }
    /// The same with internal scratch: valid until the next prediction.
    [[nodiscard]] outcome<stats::empirical_view> predict(Record const& task, node_key node) {
        return predict(task, node, own_);
    }

    /// How long a task that has run on a node for a while will still take there: the remainders of the times
    /// of similar tasks that took longer.
    /// @param task like those learned from
    /// @param node where it runs
    /// @param elapsed its age, in the unit of the times or as a `std::chrono` duration
    /// @param scratch working memory that holds the result
    /// @return as `predict`; also `status::insufficient_evidence` if no similar task took longer;
    /// `status::out_of_domain` for an invalid time
    template <base::duration_like Duration>
    [[nodiscard]] outcome<stats::empirical_view>
    remaining(Record const& task, node_key node, Duration const& elapsed, prediction_scratch& scratch) const {
        double const passed = detail::to_time(elapsed);
        if (!detail::is_finite(passed) || !(passed >= 0)) return status::out_of_domain;
        outcome<stats::empirical_view> const times = predict(task, node, scratch);
        if (!times) return times;
        stats::empirical_view const left = times->beyond(passed).moved(-passed);
        if (left.empty()) return status::insufficient_evidence;
        return left;
    }
    /// The same with internal scratch: valid until the next prediction.
    template <base::duration_like Duration>
    [[nodiscard]] outcome<stats::empirical_view> remaining(Record const& task, node_key node,
                                                           Duration const& elapsed) {
        return remaining(task, node, elapsed, own_);
    }

    /// How long a task usually takes on a good node: the `usual_quantile` of the times of similar tasks on
    /// all nodes.
    /// @return as `predict`
    [[nodiscard]] outcome<double> usual_time(Record const& task, prediction_scratch& scratch) const {
        scratch.row_.resize(factor_count);
        reader_.look_up(task, scratch.row_);
        scratch.row_[0] = missing_factor; // equally distant from all nodes
        outcome<stats::empirical_view> const times = similar(weights_.fleet_weights(), scratch);
        if (!times) return times.reason();
        return times->quantile(options_.usual_quantile);
    }
    /// The same with internal scratch.
    [[nodiscard]] outcome<double> usual_time(Record const& task) { return usual_time(task, own_); }

    /// Number of tasks remembered.
    [[nodiscard]] std::size_t size() const noexcept { return store_.size(); }
    /// Maximum number of tasks remembered.
    [[nodiscard]] std::size_t capacity() const noexcept { return store_.capacity(); }
    /// Number of categories remembered, nodes included.
    [[nodiscard]] std::size_t categories() const noexcept { return reader_.categories(); }
    /// What became of all tasks passed to `observe`.
    [[nodiscard]] attempt_counts const& counts() const noexcept { return counts_; }

    /// The name of a factor: "node" for the first; may be empty. @pre `k < factor_count`
    [[nodiscard]] std::string_view factor_name(std::size_t k) const { return reader_.name(k); }
    /// The learned relevance of each factor on a node: one weight per factor, in their order, the node first;
    /// they sum to 1. The fleet's for an unknown node. Valid until the next `observe`.
    [[nodiscard]] std::span<double const> weights_of(node_key node) const {
        return weights_.weights_of(node);
    }
    /// The same for the fleet; all equal until enough has been learned.
    [[nodiscard]] std::span<double const> fleet_weights() const noexcept { return weights_.fleet_weights(); }

    /// All that was learned, as bytes that `restore` reads on any machine.
    [[nodiscard]] std::vector<std::byte> serialize() const
        requires detail::list_stores<typename all_factors::type, Record>
    {
        byte_writer out;
        for (std::uint64_t const n : {counts_.seen, counts_.used, counts_.failed, counts_.killed})
            out.varint(n);
        out.count(counts_.rejected.size());
        for (std::uint64_t const n : counts_.rejected) out.varint(n);
        out.u64(stride_);
        reader_.write(out);
        weights_.write(out);
        std::vector<std::byte> const tasks = store_.serialize();
        out.text({reinterpret_cast<char const*>(tasks.data()), tasks.size()});
        return std::move(out).seal(frame, version);
    }

    /// Restores serialized state; on failure nothing changes.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are incomplete or
    /// from a newer library; `wrong_kind` for bytes of another type, or with other factors; `out_of_range`
    /// for more tasks than `capacity`, or more nodes than the weights allow
    /// @par Guarantees
    /// arbitrary bytes give a status; never allocates more than a multiple of their size
    [[nodiscard]] status restore(std::span<std::byte const> bytes)
        requires detail::list_stores<typename all_factors::type, Record>
    {
        auto const opened = open_frame(bytes, frame, version);
        if (!opened) return opened.reason();
        byte_reader in = opened->payload;
        similar_tasks read(profile_, options_, distance_);
        for (std::uint64_t* const n :
             {&read.counts_.seen, &read.counts_.used, &read.counts_.failed, &read.counts_.killed})
            *n = in.varint();
        std::size_t const reasons = in.count(1);
        for (std::size_t i = 0; i < reasons && in.ok(); ++i) {
            std::uint64_t const n = in.varint();
            if (i < read.counts_.rejected.size()) read.counts_.rejected[i] = n;
        }
        read.stride_ = in.u64();
        if (in.ok()) read.reader_.restore(in);
        if (in.ok()) read.weights_.restore(in);
        std::string_view const tasks = in.text();
        if (status const s = in.finish(); s != status::ok) return s;
        std::span<std::byte const> const stored{reinterpret_cast<std::byte const*>(tasks.data()),
                                                tasks.size()};
        if (status const s = read.store_.restore(stored); s != status::ok) return s;
        *this = std::move(read);
        return status::ok;
    }

    /// Forgets everything but the options.
    void clear() noexcept {
        reader_.clear();
        store_.clear();
        weights_.clear();
        counts_ = {};
        stride_ = 0;
    }

  private:
    static constexpr std::uint32_t frame = frame_kind("simt");
    static constexpr std::uint32_t version = 1;
    static constexpr std::size_t recent = 64;

    template <class Add>
    bool take(Record const& task, Add const& add) {
        auto const& node = detail::project(profile_.node, task);
        double time = 0;
        if (!detail::read_time(profile_, task, node, counts_, time)) return false;

        std::uint64_t const back = reader_.template rows_since<0>(detail::unwrap(node));
        own_.row_.resize(factor_count);
        store_.make_room();
        reader_.read(task, own_.row_); // the last call that may throw, except for the weights of a node
        if (add(time) != status::ok) return detail::reject(counts_, rejection::out_of_range);
        ++counts_.seen;
        ++counts_.used;
        learn_weights(detail::unwrap(node), time, back);
        return true;
    }

    // The youngest record is the task itself.
    void learn_weights(node_key node, double time, std::uint64_t back) {
        std::size_t const earlier = store_.size() - 1;
        if (earlier == 0) return;
        for (std::size_t p = 0; p < options_.pairs; ++p) {
            std::size_t i = 0;
            if (p == 0 && back != 0 && back <= earlier) {
                i = earlier - detail::to_size(back);
            } else {
                stride_ += 0x9E3779B97F4A7C15u; // 2^64 times the golden ratio
                std::size_t const among = p % 2 == 1 ? (std::min)(earlier, recent) : earlier;
                i = earlier - 1 - detail::to_size(((stride_ >> 32) * among) >> 32);
            }
            double const other = store_.sample(i, detail::span_of(other_)).time;
            factor_similarities(reader::kinds, own_.row_, other_, store_.ranges(), similarities_);
            outcome<double> const real = predict::real_similarity(time, other);
            if (!real) continue;
            if (other_[0] == own_.row_[0])
                weights_.observe(node, similarities_, *real);
            else
                weights_.observe(similarities_, *real);
        }
    }

    [[nodiscard]] outcome<stats::empirical_view> similar(std::span<double const> weights,
                                                         prediction_scratch& scratch) const {
        double const even = options_.even_share / static_cast<double>(factor_count);
        scratch.weights_.assign(weights.begin(), weights.end());
        for (double& w : scratch.weights_) w = (1 - options_.even_share) * w + even;
        if (status const s = find_nearest(scratch); s != status::ok) return s;
        scratch.near_.clear();
        for (neighbor const& n : scratch.found_) scratch.near_.push_back(n.time);
        scratch.times_.assign(scratch.near_);
        return scratch.times_.view();
    }
    [[nodiscard]] status find_nearest(prediction_scratch& scratch) const {
        std::span<double const> const row = detail::span_of(scratch.row_),
                                      weights = detail::span_of(scratch.weights_);
        if constexpr (std::same_as<Distance, weighted_euclidean>)
            return store_.nearest(row, weights, options_.neighbors, options_.within, scratch.nearest_,
                                  scratch.found_);
        else
            return store_.nearest_by(distance_, row, weights, options_.neighbors, options_.within,
                                     scratch.nearest_, scratch.found_);
    }

    Profile profile_;
    similar_tasks_options options_;
    [[no_unique_address]] Distance distance_;
    reader reader_;
    profile_store store_;
    node_weights<node_id> weights_;
    attempt_counts counts_;
    std::uint64_t stride_ = 0;
    std::vector<double> other_, similarities_; // of a pair
    prediction_scratch own_;
};

/// A predictor whose type is deduced from the fields.
/// @par Example
/// `auto history = similar_tasks_of<task>(profile, {.capacity = 20'000});`
template <class Record, class Profile, distance Distance = weighted_euclidean>
    requires task_profile_for<Profile, Record>
[[nodiscard]] auto similar_tasks_of(Profile record_profile, similar_tasks_options const& how = {},
                                    Distance distance = {}) {
    return similar_tasks<Record, Profile, Distance>(std::move(record_profile), how, std::move(distance));
}

} // namespace straggle::predict
