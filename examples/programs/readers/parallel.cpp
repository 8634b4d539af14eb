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
    field = field.substr(field.rfind(' ') + 1);
    field = field.substr(field.rfind('/') + 1);
    return field.substr(field.rfind('@') + 1);
}

class joblog_reader {
  public:
    explicit joblog_reader(collector& out) : out_(out) {}

    // The first rows say what the templates are: they wait.
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

    // Everything behind the eighth tab.
    static std::string_view command_of(std::string_view line) {
        for (int i = 0; i < 8; ++i) take_word(line, '\t');
        return line;
    }

    void read_row(std::string_view line, std::size_t number, bool torn) {
        std::string_view rest = line;
        take_word(rest, '\t'); // the sequence number: it begins again with every run
        std::string_view const host = host_of(take_word(rest, '\t'));
        std::string_view const start = trimmed(take_word(rest, '\t')), took = trimmed(take_word(rest, '\t'));
        std::string_view const sent = trimmed(take_word(rest, '\t'));
        take_word(rest, '\t');
        auto const exit_value = whole_number(trimmed(take_word(rest, '\t')));
        auto const signal = whole_number(trimmed(take_word(rest, '\t')));
        if (rest.empty()) return out_.leave_out(torn ? reason::torn : reason::wrong_field_count, number);
        if (host.empty()) return out_.leave_out(reason::no_node, number);
        if (!exit_value || !signal) return out_.leave_out(reason::bad_number, number);
        attempt a;
        a.start = seconds_time(start);
        auto const length = seconds_time(took);
        if (!a.start || !length) return out_.leave_out(reason::bad_time, number);
        a.end = *a.start + *length;
        templates_.find(rest, job_);
        a.job = job_;
        a.node = host == ":" ? std::string_view("localhost") : host;
        // --timeout and --halt end a job by a signal, and say -1 or the signal.
        bool const stopped = *signal != 0 || *exit_value < 0;
        a.end_state = stopped ? ending::killed : *exit_value == 0 ? ending::success : ending::failed;
        if (auto const bytes = whole_number(sent); bytes && *bytes > 0) a.input = static_cast<double>(*bytes);
        a.line = number;
        out_.take(a);
    }

    collector& out_;
    command_templates templates_;
    std::vector<row> waiting_;
    std::size_t bytes_ = 0;
    bool learning_ = true;
    std::string job_;
};

} // namespace

void command_templates::split_words(std::string_view command) {
    words_.clear();
    while (!command.empty()) {
        std::string_view const word = take_word(command);
        if (!word.empty()) words_.push_back(word);
    }
    key_ = std::to_string(words_.size());
    key_ += ' ';
    if (!words_.empty()) key_ += words_.front();
}

void command_templates::learn(std::string_view command) {
    split_words(command);
    shape& s = shapes_[key_];
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
    auto const known = shapes_.find(key_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
        bool of_template = i == 0 || words_[i].starts_with('-');
        if (known != shapes_.end() && i > 0) {
            position const& at = known->second.words[i];
            std::size_t const most = (std::max)(1u, known->second.commands / commands_per_value);
            of_template = !at.many && at.values.size() <= most && at.values.contains(words_[i]);
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
        if (line.starts_with(header.substr(0, 18))) continue; // again, where logs were put together
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
