// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "lessons.hpp"

#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_set>

namespace straggle_backup {

namespace {

constexpr straggle::attempt_fields with_times{.job = &past_attempt::job,
                                              .task = &past_attempt::task,
                                              .node = &past_attempt::node,
                                              .start = &past_attempt::start,
                                              .end = &past_attempt::end,
                                              .status = &past_attempt::status};
constexpr straggle::attempt_fields with_durations{.job = &past_attempt::job,
                                                  .task = &past_attempt::task,
                                                  .node = &past_attempt::node,
                                                  .duration = &past_attempt::took,
                                                  .status = &past_attempt::status};

// The logarithm of a time over the median of its job.
struct log_ratio {
    straggle::rank::ratio_to_median ratio{};

    [[nodiscard]] straggle::status normalize(std::span<double> durations, std::span<double> scratch) const {
        straggle::status const s = ratio.normalize(durations, scratch);
        if (s != straggle::status::ok) return s;
        for (double& d : durations)
            d = d > 0 ? std::log(d) : std::numeric_limits<double>::quiet_NaN(); // took no time: no score
        return s;
    }
};

// Where the first completions of tasks are, in the order in which they ended.
std::vector<std::size_t> completions(history const& past) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < past.attempts.size(); ++i) {
        past_attempt const& a = past.attempts[i];
        bool const ended = a.status == straggle::attempt_status::success && a.job && a.node && a.took;
        if (ended && *a.took >= moment{}) rows.push_back(i);
    }
    if (past.has_times)
        std::sort(rows.begin(), rows.end(), [&](std::size_t i, std::size_t j) {
            return std::pair(past.attempts[i].end, i) < std::pair(past.attempts[j].end, j);
        });
    std::unordered_set<std::uint64_t> done;
    std::erase_if(rows, [&](std::size_t i) {
        past_attempt const& a = past.attempts[i];
        return a.task && !done.insert(std::uint64_t{*a.job} << 32 | *a.task).second;
    });
    return rows;
}

void mark(std::vector<bool>& known, std::optional<std::uint32_t> name) {
    if (!name) return;
    if (*name >= known.size()) known.resize(*name + std::size_t{1});
    known[*name] = true;
}

} // namespace

time_model::time_model(history const& past, options const& o)
    : tasks_(similarity, {.neighbors = o.neighbors}) {
    constexpr std::size_t asked = 1000; // tasks on which ranges are tested
    std::vector<std::size_t> const rows = completions(past);
    // What would be forgotten again need not be learned.
    std::size_t const first = rows.size() - (std::min)(rows.size(), tasks_.capacity());
    std::size_t const from = (std::max)(first, rows.size() - (std::min)(rows.size(), asked));
    for (std::size_t i = first; i < rows.size(); ++i) {
        past_attempt const& a = past.attempts[rows[i]];
        task_record const t{a, *a.node, *a.took};
        if (i >= from && is_known(a)) {
            if (auto const times = tasks_.predict(t, t.node))
                if (auto const range = ranges_.range(*times))
                    ranges_.record(*range, program::seconds(t.took));
        }
        tasks_.observe(t);
        mark(kinds_, a.kind);
        mark(jobs_, a.job);
    }
}

bool time_model::is_known(work const& w) const {
    auto const has = [](std::vector<bool> const& known, std::optional<std::uint32_t> name) {
        return name && *name < known.size() && known[*name];
    };
    return has(kinds_, w.kind) || has(jobs_, w.job);
}

straggle::outcome<straggle::stats::empirical_view> time_model::times(work const& w, std::uint32_t node) {
    if (!is_known(w)) return straggle::status::insufficient_evidence;
    if (answered_ == most_answers) {
        answers_.clear();
        answered_ = 0;
    }
    auto const [at, is_new] = answers_[alike{w.job, w.kind, log_input{}(w)}].try_emplace(node);
    if (is_new) {
        ++answered_;
        if (auto const times = tasks_.predict(task_record{w, node, {}}, node)) {
            std::vector<double> samples;
            for (std::size_t i = 0; i < times->size(); ++i) samples.push_back((*times)[i]);
            at->second.assign(samples);
        }
    }
    if (at->second.size() == 0) return straggle::status::insufficient_evidence;
    return at->second.view();
}

straggle::outcome<double> time_model::usual(work const& w) {
    if (!is_known(w)) return straggle::status::insufficient_evidence;
    auto const [at, is_new] =
        usual_.try_emplace(alike{w.job, w.kind, log_input{}(w)}, straggle::status::insufficient_evidence);
    if (is_new) at->second = tasks_.usual_time(task_record{w, 0, {}});
    return at->second;
}

node_ranking rank(history const& past) {
    return past.has_times ? straggle::rank_nodes(past.attempts, with_times)
                          : straggle::rank_nodes(past.attempts, with_durations);
}

std::vector<node_slowdown> find_slowdown(history const& past, snapshot const& now, std::size_t nodes) {
    std::unordered_set<std::uint32_t> run;
    for (running_job const& j : now.jobs) run.insert(j.job);
    std::vector<past_attempt> ended;
    std::ranges::copy_if(past.attempts, std::back_inserter(ended),
                         [&](past_attempt const& a) { return !a.job || !run.contains(*a.job); });
    straggle::rank_options<log_ratio> const how;
    node_ranking const ranked = past.has_times ? straggle::rank_nodes(ended, with_times, how)
                                               : straggle::rank_nodes(ended, with_durations, how);
    std::vector<node_slowdown> slowdown(nodes);
    auto const note = [&](std::uint32_t node, std::uint64_t n, double mean) {
        double const tasks = static_cast<double>(n);
        if (n > 0) slowdown[node] = {std::exp(mean * tasks / (tasks + 2)), true};
    };
    for (auto const& node : ranked.nodes()) note(node.id, node.n, node.mean);
    for (auto const& node : ranked.unranked()) note(node.id, node.n, node.mean);
    return slowdown;
}

} // namespace straggle_backup
