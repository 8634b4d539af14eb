// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "batch.hpp"

#include "fields.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace readers {

namespace {

// A job that ended, as all of these systems report it.
struct job_record {
    std::string_view job;   // its number
    std::string_view index; // in its array; empty: none
    std::string_view node;
    bool spread = false; // over several nodes
    std::string_view start, end;
    ending how = ending::success;
    std::uint32_t number = 0;
};

// Seconds since 1970, or milliseconds as UGE writes them; nothing for 0, which means never.
std::optional<moment> epoch_time(std::string_view text) {
    constexpr std::int64_t year_5000 = 100'000'000'000;
    auto const n = whole_number(text);
    if (!n || *n <= 0) return std::nullopt;
    return *n > year_5000 ? ms_time(*n) : time_of(*n, 1'000'000'000);
}

class record_taker {
  public:
    explicit record_taker(collector& out) : out_(out) {}

    void take(job_record const& r, std::size_t line) {
        if (r.job.empty()) return out_.leave_out(reason::no_job, line, {"the job's id", {}, "a number"});
        if (r.start == "0") return out_.leave_out(reason::never_started, line);
        if (r.node.empty())
            return out_.leave_out(reason::no_node, line, {"the host", {}, "the name of a host"});
        if (r.spread) return out_.leave_out(reason::several_nodes, line);
        constexpr std::string_view form = "seconds since 1970";
        attempt a;
        a.start = epoch_time(r.start);
        a.end = epoch_time(r.end);
        if (!a.start) return out_.leave_out(reason::bad_time, line, {"the start", r.start, form});
        if (!a.end) return out_.leave_out(reason::bad_time, line, {"the end", r.end, form});
        job_ = r.job;
        if (r.index.empty()) job_ += "/job"; // not in an array
        a.job = job_;
        a.task = r.index.empty() ? std::string_view("0") : r.index;
        a.node = r.node;
        a.end_state = r.how;
        a.number = r.number;
        a.line = line;
        out_.take(a);
    }

  private:
    collector& out_;
    std::string job_;
};

// What a shell or a batch system turns a signal into: 128 and more, PBS 256 and more.
ending ending_of(std::int64_t exit_status) {
    return exit_status == 0 ? ending::success : exit_status > 128 ? ending::killed : ending::failed;
}

// Reads records line by line. @param read called with (line, number)
template <class Read>
void read_lines(text_window& text, collector& out, Read&& read) {
    line_reader lines(text);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else if (lines.torn() && !read.is_whole(lines.line()))
            out.leave_out(reason::torn, lines.number());
        else
            read(lines.line(), lines.number());
    }
}

// Whether one of the first lines is a record.
template <class Is>
bool any_of_first(std::string_view head, Is&& is) {
    constexpr int most = 32;
    for (int i = 0; i < most && !head.empty(); ++i) {
        std::string_view line = take_word(head, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (is(line)) return true;
    }
    return false;
}

// `01/31/2026 12:00:00;E;1234[5].server;user=u exec_host=n1/0+n1/1 start=17 end=18 Exit_status=0`
class pbs_line {
  public:
    explicit pbs_line(collector& out) : taker_(out), out_(out) {}

    static bool is_record(std::string_view line) {
        constexpr std::string_view form = "00/00/0000 00:00:00;A;";
        if (line.size() < form.size()) return false;
        for (std::size_t i = 0; i < form.size(); ++i) {
            bool const digit = line[i] >= '0' && line[i] <= '9', letter = line[i] >= 'A' && line[i] <= 'z';
            if (form[i] == '0' ? !digit : form[i] == 'A' ? !letter : line[i] != form[i]) return false;
        }
        return true;
    }
    bool is_whole(std::string_view line) const { return line.find(" Exit_status=") != line.npos; }

    void operator()(std::string_view line, std::size_t number) {
        if (!is_record(line)) return out_.leave_out(reason::not_a_record, number);
        take_word(line, ';');
        std::string_view const type = take_word(line, ';');
        std::string_view const id = take_word(line, ';');
        if (type != "E" && type != "R") return out_.leave_out(reason::other_event, number);
        job_record r;
        std::string_view exit_status;
        while (!line.empty()) {
            std::string_view value = take_word(line);
            std::string_view const key = take_word(value, '=');
            if (key == "start")
                r.start = value;
            else if (key == "end")
                r.end = value;
            else if (key == "Exit_status")
                exit_status = value;
            else if (key == "exec_host")
                read_hosts(value, r);
            else if (key == "run_count")
                if (auto const n = whole_number(value); n && *n >= 1 && *n < 0x7fffffff)
                    r.number = static_cast<std::uint32_t>(*n - 1);
        }
        // Requeued: PBS reports that run; Torque only that it happened.
        if (type == "R" && (r.start.empty() || r.end.empty()))
            return out_.leave_out(reason::other_event, number);
        if (r.start.empty() && r.node.empty()) return out_.leave_out(reason::never_started, number);
        read_id(id, r);
        auto const status = whole_number(exit_status);
        if (!status)
            return out_.leave_out(reason::bad_number, number, {"Exit_status", exit_status, "a whole number"});
        r.how = type == "R" ? ending::killed : ending_of(*status);
        taker_.take(r, number);
    }

  private:
    // `n1/0+n1/1`, `n1/0*4`, `n1/0-3`: possibly the same node, or several.
    static void read_hosts(std::string_view list, job_record& r) {
        while (!list.empty()) {
            std::string_view part = take_word(list, '+');
            std::string_view const host = take_word(part, '/');
            if (r.node.empty()) r.node = host;
            r.spread = r.spread || host != r.node;
        }
    }
    // `1234.server`, `1234[5].server`, and Torque's older `1234-5.server`.
    static void read_id(std::string_view id, job_record& r) {
        std::string_view const local = id.substr(0, id.find('.'));
        std::size_t const bar = local.find_first_of("[-");
        r.job = local.substr(0, bar);
        if (bar == std::string_view::npos) return;
        r.index = local.substr(bar + 1);
        if (r.index.ends_with(']')) r.index.remove_suffix(1);
    }

    record_taker taker_;
    collector& out_;
};

// Fields between colons; accounting(5) names them.
class sge_line {
  public:
    explicit sge_line(collector& out) : taker_(out), out_(out) {}

    static bool is_record(std::string_view line) {
        field_list fields;
        fields.split(line, ':');
        return fields.size() > pe_task && whole_number(fields[job_number]) && whole_number(fields[start]) &&
               whole_number(fields[end]) && whole_number(fields[failed]) && whole_number(fields[exit_status]);
    }
    bool is_whole(std::string_view line) const { return is_record(line); }

    void operator()(std::string_view line, std::size_t number) {
        if (line.starts_with('#')) return out_.leave_out(reason::other_event, number);
        fields_.split(line, ':');
        if (fields_.size() <= pe_task) return out_.leave_out(reason::wrong_field_count, number);
        auto const problem = whole_number(fields_[failed]), status = whole_number(fields_[exit_status]);
        if (!problem)
            return out_.leave_out(reason::bad_number, number, {"failed", fields_[failed], "a whole number"});
        if (!status)
            return out_.leave_out(reason::bad_number, number,
                                  {"exit_status", fields_[exit_status], "a whole number"});
        if (fields_[pe_task] != "NONE" && !fields_[pe_task].empty())
            return out_.leave_out(reason::step, number);
        job_record r;
        r.job = fields_[job_number];
        if (fields_[task_number] != "0") r.index = fields_[task_number];
        r.node = fields_[host] == "UNKNOWN" ? std::string_view{} : fields_[host];
        r.start = fields_[start];
        r.end = fields_[end];
        // 24, 25: moved or rescheduled; 100: ended by a signal, as qdel and limits do.
        bool const moved = *problem == 24 || *problem == 25;
        r.how = moved || *problem == 100 ? ending::killed
                : *problem != 0          ? ending::failed
                                         : ending_of(*status);
        bool const again = last_job_ == r.job && last_index_ == r.index; // one entry per try
        r.number = last_number_ = again ? last_number_ + 1 : 0;
        last_job_ = r.job;
        last_index_ = r.index;
        taker_.take(r, number);
    }

  private:
    enum : std::size_t {
        host = 1,
        job_number = 5,
        start = 9,
        end = 10,
        failed = 11,
        exit_status = 12,
        task_number = 35,
        pe_task = 41
    };

    record_taker taker_;
    collector& out_;
    field_list fields_;
    std::string last_job_, last_index_;
    std::uint32_t last_number_ = 0;
};

// Fields between blanks, texts in quotes; lsb.acct(5) names them.
class lsf_line {
  public:
    explicit lsf_line(collector& out) : taker_(out), out_(out) {}

    static bool is_record(std::string_view line) { return line.starts_with("\"JOB_FINISH\" "); }
    bool is_whole(std::string_view) const { return false; }

    void operator()(std::string_view line, std::size_t number) {
        if (!is_record(line))
            return out_.leave_out(line.starts_with("\"") ? reason::other_event : reason::not_a_record,
                                  number);
        split(line);
        auto const count_at = [this](std::size_t i) {
            auto const n = i < fields_.size() ? whole_number(fields_[i]) : std::nullopt;
            return n && *n >= 0 && static_cast<std::size_t>(*n) < fields_.size()
                       ? std::optional(static_cast<std::size_t>(*n))
                       : std::nullopt;
        };
        auto const asked = count_at(asked_hosts);
        auto const hosts = asked ? count_at(asked_hosts + 1 + *asked) : std::nullopt;
        if (!hosts) return out_.leave_out(reason::wrong_field_count, number);
        std::size_t const first_host = asked_hosts + 2 + *asked, status_at = first_host + *hosts;
        std::size_t const index_at = status_at + 29, exit_at = status_at + 25;
        if (index_at >= fields_.size()) return out_.leave_out(reason::wrong_field_count, number);
        job_record r;
        r.job = fields_[job_id];
        r.start = fields_[start_time];
        r.end = fields_[event_time];
        if (*hosts == 0 && r.start == "0") return out_.leave_out(reason::never_started, number);
        for (std::size_t i = first_host; i < status_at; ++i) {
            // `4*host` where hosts are written once.
            std::string_view const name = fields_[i].substr(fields_[i].find('*') + 1);
            if (r.node.empty()) r.node = name;
            r.spread = r.spread || name != r.node;
        }
        if (fields_[index_at] != "0") r.index = fields_[index_at];
        auto const exit_status = whole_number(fields_[exit_at]);
        if (!exit_status)
            return out_.leave_out(reason::bad_number, number,
                                  {"exitStatus", fields_[exit_at], "a whole number"});
        // As in wait(2): a signal in the low bits, else the exit status above them.
        bool const by_signal = (*exit_status & 0x7f) != 0;
        r.how = fields_[status_at] == "64" ? ending::success
                : by_signal                ? ending::killed
                                           : ending_of(*exit_status >> 8);
        if (r.how == ending::success && fields_[status_at] != "64") r.how = ending::failed;
        taker_.take(r, number);
    }

  private:
    enum : std::size_t { event_time = 2, job_id = 3, start_time = 10, asked_hosts = 22 };

    // In a text, a quote is doubled.
    void split(std::string_view line) {
        fields_.clear();
        for (std::size_t at = 0; at < line.size();) {
            if (line[at] == ' ') {
                ++at;
                continue;
            }
            std::size_t last = at + 1;
            bool const text = line[at] == '"';
            if (text)
                while (last < line.size() &&
                       !(line[last] == '"' && (last + 1 == line.size() || line[last + 1] != '"')))
                    last += line[last] == '"' ? 2U : 1U;
            else
                while (last < line.size() && line[last] != ' ') ++last;
            std::size_t const from = text ? at + 1 : at;
            fields_.push_back(
                line.substr((std::min)(from, line.size()), (std::min)(last, line.size()) - from));
            at = text ? last + 1 : last;
        }
    }

    record_taker taker_;
    collector& out_;
    std::vector<std::string_view> fields_;
};

} // namespace

bool looks_like_pbs(std::string_view head) {
    return any_of_first(head, pbs_line::is_record);
}
bool looks_like_sge(std::string_view head) {
    return any_of_first(head, sge_line::is_record);
}
bool looks_like_lsf(std::string_view head) {
    return any_of_first(head, lsf_line::is_record);
}

void read_pbs(text_window& text, collector& out) {
    read_lines(text, out, pbs_line(out));
}
void read_sge(text_window& text, collector& out) {
    read_lines(text, out, sge_line(out));
}
void read_lsf(text_window& text, collector& out) {
    read_lines(text, out, lsf_line(out));
}

} // namespace readers
