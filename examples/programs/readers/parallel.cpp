// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "parallel.hpp"

#include "fields.hpp"

#include <algorithm>

namespace readers {

namespace {

constexpr std::string_view header =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand";

// `host` of `user@host`, `8/host`, `ssh -p 2222 host`; `:` is this machine.
std::string_view host_of(std::string_view field) {
    field = trimmed(field);
    std::size_t first = field.size();
    for (; first > 0; --first)
        if (char const c = field[first - 1]; c == ' ' || c == '/' || c == '@') break;
    return field.substr(first);
}

class joblog_reader {
  public:
    explicit joblog_reader(collector& out) : out_(out) {}

    // The first rows determine the templates: they wait.
    void read(std::string_view line, std::size_t number, bool torn) {
        if (learning_) {
            templates_.learn(command_of(line));
            waiting_.push_back({std::string(line), number, torn});
            bytes_ += line.size();
            if (waiting_.size() >= most_rows || bytes_ >= most_bytes) flush();
        } else {
            read_row(line, number, torn);
        }
    }
    void flush() {
        learning_ = false;
        for (row const& r : waiting_) read_row(r.line, r.number, r.torn);
        waiting_.clear();
        waiting_.shrink_to_fit();
    }

  private:
    struct row {
        std::string line;
        std::size_t number;
        bool torn;
    };
    static constexpr std::size_t most_rows = 4096, most_bytes = std::size_t{4} << 20;

    // Everything after the eighth tab.
    static std::string_view command_of(std::string_view line) {
        for (int i = 0; i < 8; ++i) take_word(line, '\t');
        return line;
    }

    void read_row(std::string_view line, std::size_t number, bool torn) {
        fields_.split(line, '\t');
        auto const field = [this](std::size_t i) {
            return i < fields_.size() ? trimmed(fields_[i]) : std::string_view{};
        };
        // The sequence number starts again with every run. A command may contain tabs.
        std::string_view const host = host_of(field(1)), start = field(2), took = field(3), sent = field(4);
        auto const exit_value = whole_number(field(6)), signal = whole_number(field(7));
        std::string_view rest;
        if (fields_.size() > 8) rest = line.substr(static_cast<std::size_t>(fields_[8].data() - line.data()));
        if (rest.empty()) return out_.leave_out(torn ? reason::torn : reason::wrong_field_count, number);
        if (host.empty())
            return out_.leave_out(reason::no_node, number, {"Host", {}, "the name of a host, or :"});
        if (!exit_value)
            return out_.leave_out(reason::bad_number, number, {"Exitval", field(6), "a whole number"});
        if (!signal)
            return out_.leave_out(reason::bad_number, number, {"Signal", field(7), "a whole number"});
        attempt& a = attempt_;
        a.start = seconds_time(start);
        auto const length = seconds_time(took);
        if (!a.start)
            return out_.leave_out(reason::bad_time, number,
                                  {"Starttime", start, "seconds since 1970, as 1767225600.123"});
        if (!length)
            return out_.leave_out(reason::bad_time, number, {"JobRuntime", took, "seconds, as 12.345"});
        a.end = *a.start + *length;
        templates_.find(rest, job_);
        a.job = job_;
        a.node = host == ":" ? std::string_view("localhost") : host;
        // --timeout and --halt end a job by a signal, and report -1 or the signal.
        bool const stopped = *signal != 0 || *exit_value < 0;
        a.end_state = stopped ? ending::killed : *exit_value == 0 ? ending::success : ending::failed;
        a.input.reset();
        if (auto const bytes = whole_number(sent); bytes && *bytes > 0) a.input = static_cast<double>(*bytes);
        a.line = number;
        out_.take(a);
    }

    collector& out_;
    command_templates templates_;
    field_list fields_;
    std::vector<row> waiting_;
    std::size_t bytes_ = 0;
    bool learning_ = true;
    std::string job_;
    attempt attempt_; // what no row reports stays unknown
};

} // namespace

void command_templates::split_words(std::string_view command) {
    words_.clear();
    while (!command.empty()) {
        std::string_view const word = take_word(command);
        if (!word.empty()) words_.push_back(word);
    }
}

// Most commands have the same shape as the last one.
command_templates::shape* command_templates::shape_of_words() {
    std::string_view const first = words_.empty() ? std::string_view{} : words_.front();
    if (last_ != nullptr && last_count_ == words_.size() && last_word_ == first) return last_;
    key_ = std::to_string(words_.size());
    (key_ += ' ') += first;
    auto const known = shapes_.find(key_);
    if (known == shapes_.end()) return nullptr;
    last_count_ = words_.size();
    last_word_ = first;
    return last_ = &known->second;
}

// Which words belong to the template.
void command_templates::settle(shape& s) {
    std::size_t const most = (std::max)(1u, s.commands / commands_per_value);
    for (position const& at : s.words) {
        std::vector<std::string>& words = s.of_template.emplace_back();
        if (at.many || at.values.size() > most) continue;
        for (auto const& [word, count] : at.values) words.push_back(word);
    }
}

void command_templates::learn(std::string_view command) {
    split_words(command);
    shape* const seen = shape_of_words();
    shape& s = seen != nullptr ? *seen : shapes_[key_];
    ++s.commands;
    s.words.resize(words_.size());
    for (std::size_t i = 0; i < words_.size(); ++i) {
        position& at = s.words[i];
        if (at.many) continue;
        auto const known = at.values.find(words_[i]);
        if (known != at.values.end()) {
            ++known->second;
        } else if (at.values.size() < most_values) {
            at.values.emplace(words_[i], 1);
        } else {
            at.many = true;
            at.values.clear();
        }
    }
}

void command_templates::find(std::string_view command, std::string& to) {
    split_words(command);
    to.clear();
    shape* const known = shape_of_words();
    if (known != nullptr && known->of_template.empty()) settle(*known);
    for (std::size_t i = 0; i < words_.size(); ++i) {
        bool of_template = i == 0 || words_[i].starts_with('-');
        if (known != nullptr && i > 0) {
            std::vector<std::string> const& words = known->of_template[i];
            of_template = std::find(words.begin(), words.end(), words_[i]) != words.end();
        }
        if (i > 0) to += ' ';
        to += of_template ? words_[i] : std::string_view("{}");
    }
}

bool looks_like_joblog(std::string_view head) {
    return head.starts_with("Seq\tHost\tStarttime\t");
}

void read_joblog(text_window& text, collector& out) {
    line_reader lines(text);
    joblog_reader reader(out);
    while (lines.next()) {
        std::string_view const line = lines.line();
        if (line.starts_with(header.substr(0, 18))) continue; // repeated, because logs were concatenated
        if (line.empty() && !lines.too_long()) continue;
        out.count_line();
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else
            reader.read(line, lines.number(), lines.torn());
    }
    reader.flush();
}

} // namespace readers
