// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "fields.hpp"
#include "json.hpp"
#include "json_items.hpp"
#include "slurm.hpp"

#include <string>

namespace readers {

bool looks_like_sacct_json(std::string_view head) {
    std::size_t const start = head.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || head[start] != '{') return false;
    if (head.find("\"jobID\"") != std::string_view::npos) return false; // Rumen
    return (head.find("\"Slurm\"") != std::string_view::npos ||
            head.find("\"slurm\"") != std::string_view::npos ||
            head.find("\"slurmdb") != std::string_view::npos ||
            head.find("\"data_parser\"") != std::string_view::npos) ||
           (head.find("\"jobs\"") != std::string_view::npos &&
            head.find("\"job_id\"") != std::string_view::npos);
}

namespace {

// A number, or {"set": true, "number": 5} as in newer Slurm; empty if it is not set.
std::optional<std::int64_t> number_in(std::optional<json_value> of, std::string_view key) {
    auto const value = member(of, key);
    if (!value) return std::nullopt;
    if (auto const plain = whole(value)) return plain;
    if (!flag_in(*value, "set").value_or(false)) return std::nullopt;
    return whole_in(*value, "number");
}

// "COMPLETED", or ["COMPLETED"] as in newer Slurm.
std::string_view state_in(json_value job) {
    auto const state = member(job, "state");
    if (std::string_view const plain = text_in(state, "current"); !plain.empty()) return plain;
    auto const current = member(state, "current");
    simdjson::dom::array list;
    std::string_view first;
    if (current && current->get(list) == simdjson::SUCCESS && list.size() > 0 &&
        list.at(0).get(first) == simdjson::SUCCESS)
        return first;
    return {};
}

class job_reader {
  public:
    explicit job_reader(collector& out) : out_(out) {}

    void read(json_value job, std::size_t line) {
        auto const id = number_in(job, "job_id");
        if (!id) return out_.leave_out(reason::no_job, line, {"job_id", {}, "a whole number"});
        auto const array = member(job, "array");
        auto const array_id = number_in(array, "job_id");
        auto const task = number_in(array, "task_id");
        bool const in_array = array_id && *array_id > 0 && task;
        attempt a;
        if (in_array) {
            job_ = std::to_string(*array_id);
            task_ = std::to_string(*task);
        } else {
            job_ = std::to_string(*id) + "/job";
            task_.assign(1, '0');
            read_steps(job, std::to_string(*id), is_one_node(text_in(job, "nodes")), line);
        }
        a.job = job_;
        a.task = task_;
        a.node = text_in(job, "nodes");
        a.number = number_of(*id, number_in(job, "restart_cnt"));
        take(a, state_in(job), member(job, "time"), line);
    }

  private:
    // As in the table: each run of a requeued job appears, one after the other.
    std::uint32_t number_of(std::int64_t id, std::optional<std::int64_t> restarts) {
        last_number_ = id == last_id_ ? last_number_ + 1 : 0;
        last_id_ = id;
        bool const told = restarts && *restarts >= 0 && *restarts < 0x7fffffff;
        return told ? static_cast<std::uint32_t>(*restarts) : last_number_;
    }

    void take(attempt& a, std::string_view state, std::optional<json_value> time, std::size_t line) {
        auto const how = slurm_ending(state);
        auto const start = number_in(time, "start"), end = number_in(time, "end");
        if (!how) return out_.leave_out(reason::never_started, line);
        if (is_no_node(a.node))
            return *how == ending::killed
                       ? out_.leave_out(reason::never_started, line)
                       : out_.leave_out(reason::no_node, line, {"nodes", a.node, "the name of a node"});
        if (!is_one_node(a.node)) return out_.leave_out(reason::several_nodes, line);
        if (start && *start == 0 && *how == ending::killed)
            return out_.leave_out(reason::never_started, line);
        if (start && *start > 0) a.start = time_of(*start, 1'000'000'000);
        if (end && *end > 0 && *how != ending::running) a.end = time_of(*end, 1'000'000'000);
        if (!a.start) return out_.leave_out(reason::bad_time, line, {"time.start", {}, time_form});
        if (!a.end && *how != ending::running)
            return out_.leave_out(reason::bad_time, line, {"time.end", {}, time_form});
        a.end_state = *how;
        a.line = line;
        out_.take(a);
    }

    // @param whole the job is read as a unit
    void read_steps(json_value job, std::string const& id, bool whole, std::size_t line) {
        simdjson::dom::array steps;
        auto const list = member(job, "steps");
        if (!list || list->get(steps) != simdjson::SUCCESS) return;
        for (json_value const step : steps) {
            // 3, "batch", or "7.3" as in newer Slurm
            auto const which = member(step, "step");
            std::string_view const name = text_in(which, "id");
            auto const number = whole_in(which, "id");
            step_ = number ? std::to_string(*number) : std::string(slurm_id_of(name).step);
            if (whole || step_.empty() || step_.find_first_not_of("0123456789") != std::string::npos) {
                out_.leave_out(reason::step, line);
                continue;
            }
            attempt a;
            a.job = id;
            a.task = step_;
            a.node = text_in(member(step, "nodes"), "range");
            std::string_view const plain = text_in(step, "state");
            take(a, plain.empty() ? state_in(step) : plain, member(step, "time"), line);
        }
    }

    static constexpr std::string_view time_form = "seconds since 1970, above 0";

    collector& out_;
    std::string job_, task_, step_;
    std::optional<std::int64_t> last_id_;
    std::uint32_t last_number_ = 0;
};

} // namespace

void read_sacct_json(text_window& text, collector& out) {
    simdjson::dom::parser parser;
    json_items items(text);
    job_reader reader(out);
    bool any = false;
    auto const name_garbage = [&] {
        if (items.garbage_line() > 0) out.leave_out(reason::not_a_record, items.garbage_line());
    };
    while (items.enter("jobs")) { // several outputs in sequence
        any = true;
        while (items.next()) {
            out.count_line();
            name_garbage();
            if (auto const job = parse_json(parser, items.item())) {
                reader.read(*job, items.line());
            } else {
                out.leave_out(items.torn() ? reason::torn : reason::not_json, items.line());
                items.give_up();
            }
        }
        name_garbage();
    }
    if (any) return;
    out.leave_out(reason::not_a_record, 1);
    out.remark("no array of jobs in it; write it with sacct --json");
}

} // namespace readers
