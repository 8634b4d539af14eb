// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// HTCondor's event log: `001 (1234.005.000) 2026-01-31 12:00:00 Job executing on host: <192.0.2.1:9618?...>`,
// lines with details, and a line `...`.

#include "batch.hpp"
#include "fields.hpp"

#include <map>
#include <string>

namespace readers {

namespace {

struct event_head {
    int code = -1;
    std::string_view job, task, time, text;
};

std::optional<event_head> head_of(std::string_view line) {
    if (line.size() < 6 || line[3] != ' ' || line[4] != '(') return std::nullopt;
    event_head h;
    auto const code = whole_number(line.substr(0, 3));
    if (!code || *code < 0) return std::nullopt;
    h.code = static_cast<int>(*code);
    line.remove_prefix(5);
    std::string_view id = take_word(line, ')');
    h.job = take_word(id, '.');
    h.task = take_word(id, '.');
    line = trimmed(line);
    std::size_t date = line.find(' ');
    if (date != std::string_view::npos && line.substr(0, date).find('T') == std::string_view::npos)
        date = line.find(' ', date + 1);
    h.time = line.substr(0, date);
    if (date != std::string_view::npos) h.text = trimmed(line.substr(date));
    if (!whole_number(h.job) || !whole_number(h.task)) return std::nullopt;
    while (h.task.size() > 1 && h.task.front() == '0') h.task.remove_prefix(1);
    while (h.job.size() > 1 && h.job.front() == '0') h.job.remove_prefix(1);
    return h;
}

class event_reader {
  public:
    explicit event_reader(collector& out) : out_(out) {}

    void read(std::string_view line, std::size_t number) {
        if (line == "...") return end_event();
        if (auto const head = head_of(line)) {
            end_event(); // its last line may be missing
            begin_event(*head, number);
        } else if (open_.code < 0) {
            out_.leave_out(reason::not_a_record, number);
        } else {
            read_detail(trimmed(line));
        }
    }
    void finish() {
        end_event();
        for (auto const& [id, job] : jobs_) {
            if (!job.runs) continue;
            attempt a = attempt_of(job);
            a.end_state = ending::running;
            a.line = job.line;
            out_.take(a);
        }
    }

  private:
    enum code : int {
        executing = 1,
        bad_executable = 2,
        evicted = 4,
        terminated = 5,
        shadow_exception = 7,
        aborted = 9,
        held = 12,
        remote_error = 21,
        reconnect_failed = 24
    };
    struct job_state {
        std::string job, task, node;
        std::optional<moment> start;
        std::uint32_t runs_before = 0;
        std::size_t line = 0;
        bool runs = false;
    };
    struct open_event {
        int code = -1;
        std::string job, task, node;
        std::optional<moment> time;
        std::optional<ending> how;
        std::size_t line = 0;
    };

    // Older logs leave out the year: they begin in 2000, and a month earlier than the last one is in the next
    // year.
    std::optional<moment> time_in(std::string_view text) {
        if (text.size() < 11 || text[2] != '/') return clock_.read(text);
        auto const month = whole_number(text.substr(0, 2));
        if (!month) return std::nullopt;
        if (*month + 6 < last_month_) ++year_;
        last_month_ = *month;
        return clock_.read(std::to_string(year_) + "-" + std::string(text.substr(0, 2)) + "-" +
                           std::string(text.substr(3)));
    }

    void begin_event(event_head const& h, std::size_t number) {
        open_.code = h.code;
        open_.job = h.job;
        open_.task = h.task;
        open_.time = time_in(h.time);
        open_.node.clear();
        open_.how.reset();
        open_.line = number;
        out_.count_line();
        if (!open_.time) {
            out_.leave_out(reason::bad_time, number, {"the time", h.time, "2026-01-31 12:00:00"});
            open_.code = ignored;
        }
        constexpr std::string_view on = "host: ";
        if (h.code == executing)
            if (std::size_t const at = h.text.find(on); at != std::string_view::npos)
                read_address(h.text.substr(at + on.size()));
    }

    // `<192.0.2.1:9618?addrs=...&alias=n1.example.org&noUDP>`, or a name.
    void read_address(std::string_view address) {
        if (address.starts_with('<')) address.remove_prefix(1);
        if (address.ends_with('>')) address.remove_suffix(1);
        constexpr std::string_view alias = "alias=";
        std::size_t const at = address.find(alias);
        if (at != std::string_view::npos) {
            address.remove_prefix(at + alias.size());
            open_.node = address.substr(0, address.find('&'));
        } else {
            address = address.substr(0, address.find('?'));
            open_.node = address.substr(0, address.rfind(':'));
        }
    }

    void read_detail(std::string_view line) {
        constexpr std::string_view slot = "SlotName: ", value = "(return value ";
        if (open_.code == executing && line.starts_with(slot)) {
            line.remove_prefix(slot.size());
            if (std::size_t const at = line.find('@'); at != std::string_view::npos)
                open_.node = line.substr(at + 1);
        } else if (open_.code == terminated && !open_.how) {
            std::size_t const at = line.find(value);
            if (at != std::string_view::npos)
                open_.how =
                    line.substr(at + value.size()).starts_with("0)") ? ending::success : ending::failed;
            else if (line.find("Abnormal termination") != std::string_view::npos)
                open_.how = ending::failed;
        }
    }

    void end_event() {
        open_event const& e = open_;
        if (e.code >= 0) {
            if (e.code == executing)
                begin_attempt();
            else if (e.code == terminated)
                end_attempt(e.how.value_or(ending::failed), true);
            else if (e.code == evicted || e.code == held)
                end_attempt(ending::killed, false);
            else if (e.code == aborted)
                end_attempt(ending::killed, true);
            else if (e.code == bad_executable || e.code == shadow_exception || e.code == remote_error ||
                     e.code == reconnect_failed)
                end_attempt(ending::failed, false);
            else if (e.code != ignored)
                out_.leave_out(reason::other_event, e.line);
        }
        open_.code = -1;
    }

    void begin_attempt() {
        if (open_.node.empty())
            return out_.leave_out(reason::no_node, open_.line,
                                  {"SlotName", {}, "the slot, or an address of the host"});
        job_state& job = jobs_[open_.job + '.' + open_.task];
        if (job.runs) ++job.runs_before; // its end is missing
        job.job = open_.job;
        job.task = open_.task;
        job.node = open_.node;
        job.start = open_.time;
        job.line = open_.line;
        job.runs = true;
        out_.leave_out(reason::other_event, open_.line);
    }

    void end_attempt(ending how, bool for_good) {
        auto const found = jobs_.find(open_.job + '.' + open_.task);
        bool const ran = found != jobs_.end() && found->second.runs;
        if (ran) {
            attempt a = attempt_of(found->second);
            a.end = open_.time;
            a.end_state = how;
            a.line = open_.line;
            out_.take(a);
            found->second.runs = false;
            ++found->second.runs_before;
        } else {
            bool const began_before = open_.code == terminated;
            out_.leave_out(began_before ? reason::end_without_start : reason::never_started, open_.line);
        }
        if (for_good && found != jobs_.end()) jobs_.erase(found);
    }

    static attempt attempt_of(job_state const& job) {
        attempt a;
        a.job = job.job;
        a.task = job.task;
        a.node = job.node;
        a.start = job.start;
        a.number = job.runs_before;
        return a;
    }

    static constexpr int ignored = 999;

    collector& out_;
    open_event open_;
    std::map<std::string, job_state, std::less<>> jobs_; // by cluster and process
    iso_clock clock_;
    std::int64_t last_month_ = 0;
    int year_ = 2000;
};

} // namespace

bool looks_like_htcondor(std::string_view head) {
    constexpr int most_lines = 32;
    for (int i = 0; i < most_lines && !head.empty(); ++i) {
        auto const first = head_of(take_word(head, '\n'));
        if (first && !first->text.empty()) return true;
    }
    return false;
}

void read_htcondor(text_window& text, collector& out) {
    line_reader lines(text);
    event_reader reader(out);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else
            reader.read(lines.line(), lines.number());
    }
    reader.finish();
}

} // namespace readers
