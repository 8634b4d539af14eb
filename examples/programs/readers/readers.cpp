// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "readers.hpp"

#include "../common/failure.hpp"
#include "../common/file_source.hpp"
#include "../common/text.hpp"
#include "batch.hpp"
#include "dask.hpp"
#include "fields.hpp"
#include "hadoop.hpp"
#include "haproxy.hpp"
#include "nextflow.hpp"
#include "parallel.hpp"
#include "slurm.hpp"
#include "spark.hpp"

#include <algorithm>
#include <filesystem>

namespace readers {

namespace {

constexpr std::size_t head_size = std::size_t{1} << 16;
constexpr std::size_t refusal_head_size = 256;

bool looks_like_csv(std::string_view head) {
    std::string_view const line = head.substr(0, head.find_first_of("\r\n"));
    return line.find(',') != std::string_view::npos && !line.starts_with('{') && !line.starts_with('[') &&
           line.find('\0') == std::string_view::npos;
}

// Files that are not histories, and what to do instead.
struct refusal {
    std::string_view begins_with, what;
};
constexpr std::array<refusal, 9> refusals{{
    {"s\th:m:s\t",
     "a benchmark of Snakemake, which does not say on which node a job ran; where Snakemake runs "
     "jobs by Slurm, give what sacct -P -o JobID,NodeList,State,Start,End says"},
    {"JobID ",
     "sacct for the eye, whose columns are cut off; run sacct -P -o JobID,NodeList,State,Start,End"},
    {"<!DOCTYPE", "a page of HTML, not a log; of a Dask performance report save the task stream instead: "
                  "json.dump(client.get_task_stream(), file)"},
    {"<html", "a page of HTML, not a log; of a Dask performance report save the task stream instead: "
              "json.dump(client.get_task_stream(), file)"},
    {"SQLite format 3", "a database of SQLite; write the table of tasks as CSV (sqlite3 -header -csv)"},
    {"PAR1", "a Parquet file; write it as CSV"},
    {"PK\x03\x04", "a zip archive; unpack it first"},
    {"BZh", "packed with bzip2; unpack it first: bunzip2"},
    {"\xFD"
     "7zXZ",
     "packed with xz; unpack it first: unxz"},
}};
std::string_view refusal_of(std::string_view head) {
    while (!head.empty() && (head.front() == ' ' || head.front() == '\n')) head.remove_prefix(1);
    for (refusal const& r : refusals)
        if (head.starts_with(r.begins_with)) return r.what;
    bool const json = head.starts_with('{') || head.starts_with('[');
    if (json && head.substr(0, head.find('\n')).find("\"event\"") != std::string_view::npos)
        return "events for straggle-watch, which decides on them as they come; pass them to it: "
               "straggle-watch < FILE";
    return json ? "JSON of none of the formats that can be read (--from names them); write a row per attempt "
                  "as CSV with the columns job, node, start_ms, end_ms"
                : "";
}

struct known_format {
    format how;
    bool (*looks_like)(std::string_view head);
};
// The most certain first.
constexpr std::array<known_format, 16> known_formats{{{format::hadoop, looks_like_jhist},
                                                      {format::hadoop, looks_like_hadoop1},
                                                      {format::lsf, looks_like_lsf},
                                                      {format::pbs, looks_like_pbs},
                                                      {format::htcondor, looks_like_htcondor},
                                                      {format::spark, looks_like_spark},
                                                      {format::dask, looks_like_dask},
                                                      {format::dask, looks_like_dask_stream},
                                                      {format::parallel, looks_like_joblog},
                                                      {format::slurm, looks_like_sacct},
                                                      {format::nextflow, looks_like_nextflow},
                                                      {format::hadoop, looks_like_rumen},
                                                      {format::slurm, looks_like_sacct_json},
                                                      {format::haproxy, looks_like_haproxy},
                                                      {format::sge, looks_like_sge},
                                                      {format::csv, looks_like_csv}}};

// Whether the beginning of such a history must be at the beginning of the file, not in any line.
constexpr bool has_beginning(format how) {
    return how != format::spark && how != format::haproxy && how != format::csv && how < format::pbs;
}

// Calls visit(where a line of the head begins) for the first few, until it returns true: messages of other
// programs, or empty lines, may come before a log.
template <class Visit>
void for_first_lines(std::string_view head, Visit&& visit) {
    constexpr std::size_t most_lines = 32, most_bytes = std::size_t{1} << 13;
    std::size_t at = 0;
    for (std::size_t line = 0; line < most_lines && at < (std::min)(most_bytes, head.size()); ++line) {
        if (visit(at)) return;
        std::size_t const end = head.find('\n', at);
        if (end == std::string_view::npos) return;
        at = end + 1;
    }
}

// The length of the text before a history of that format; 0, too, if it does not begin here.
std::size_t lead_of(format how, std::string_view head) {
    std::size_t lead = 0;
    if (!has_beginning(how)) return lead;
    for_first_lines(head, [&](std::size_t at) {
        for (known_format const& known : known_formats) {
            if (known.how != how || !known.looks_like(head.substr(at))) continue;
            lead = at;
            return true;
        }
        return false;
    });
    return lead;
}

// The name of a Spark log that does not contain its application.
std::string application_of(std::string const& file) {
    std::filesystem::path const path(file);
    std::string name = path.filename().string();
    if (name.starts_with("events_")) {
        std::string_view rest = name;
        take_word(rest, '_');
        take_word(rest, '_');
        name = std::string(rest);
    }
    return name.substr(0, name.find('.'));
}

// A part of a rolled log continues where the last one in the same folder ended.
bool continues(std::string const& file, std::string const& last) {
    std::filesystem::path const a(last), b(file);
    return b.filename().string().starts_with("events_") && a.filename().string().starts_with("events_") &&
           a.parent_path() == b.parent_path();
}

class history_reader {
  public:
    history_reader(reading_options const& how, attempt_sink const& sink, std::uint64_t bytes)
        : how_(how), progress_(how.show_progress, bytes, "attempts"), sink_([this, &sink](attempt const& a) {
              progress_.update(packed_bytes_ + (input_ != nullptr ? input_->source().packed_bytes() : 0),
                               report_.attempts);
              sink(a);
          }) {
        if (!how.join.empty()) join(how.join);
    }

    void read(input& in, std::string const& file) {
        if (!continues(file, last_)) spark_.finish(out_);
        last_ = file;
        input_ = &in;
        report_.files.push_back({in.name(), std::nullopt, 0, {}});
        if (std::string_view const unpacker = in.foreign_packing(); !unpacker.empty()) {
            out_.leave_out(reason::unknown_format, 0);
            out_.remark("packed in a way that is not read here; unpack it first: " + std::string(unpacker));
        } else {
            std::optional<format> const how = how_.from ? how_.from : in.guess();
            report_.files.back().how = how;
            if (how) {
                skip_lead(*how, in.text());
                read_as(*how, in, file);
            } else
                refuse(in.text().head(refusal_head_size));
        }
        if (!in.source().damage().empty()) {
            out_.leave_out(reason::damaged_packing, 0);
            out_.remark(in.source().damage());
        }
        packed_bytes_ += in.source().packed_bytes();
        input_ = nullptr;
    }

    reading_report finish() && {
        spark_.finish(out_);
        return std::move(report_);
    }

  private:
    void refuse(std::string_view head) {
        out_.leave_out(head.empty() ? reason::other_event : reason::unknown_format, 0);
        if (std::string_view const what = refusal_of(head); !what.empty()) out_.remark(std::string(what));
    }
    void join(std::string const& file) {
        reading_report const report =
            read_history({file}, {.from = format::slurm}, [this](attempt const& a) { joined_.add(a); });
        if (report.attempts == 0)
            throw program::failure(program::exit_status::bad_input,
                                   program::name_of(file) +
                                       ": no job that could be read as slurm, which --join needs" +
                                       reasons_of(report));
    }
    // Reports the text before the log.
    void skip_lead(format how, text_window& text) {
        std::size_t lead = lead_of(how, text.head(head_size));
        while (lead > 0) {
            std::string_view const line = text.view().substr(0, text.view().find('\n') + 1);
            if (line.find_first_not_of(" \t\r\n") != std::string_view::npos)
                out_.leave_out(reason::not_a_record, text.line());
            lead -= line.size();
            text.consume(line.size(), 1);
        }
    }
    void read_as(format how, input& in, std::string const& file) {
        text_window& text = in.text();
        std::string_view const head = text.head(head_size);
        switch (how) {
        case format::spark:
            return spark_.read(text, out_, application_of(file));
        case format::hadoop:
            return looks_like_jhist(head)     ? read_jhist(text, out_)
                   : looks_like_hadoop1(head) ? read_hadoop1(text, out_)
                                              : read_rumen(text, out_);
        case format::slurm:
            return looks_like_sacct_json(head) ? read_sacct_json(text, out_)
                                               : read_sacct(text, how_.columns, out_);
        case format::nextflow:
            return read_nextflow(text, how_.columns, how_.join.empty() ? nullptr : &joined_, out_);
        case format::haproxy:
            return read_haproxy(text, out_);
        case format::parallel:
            return read_joblog(text, out_);
        case format::dask:
            return looks_like_dask_stream(head) ? read_dask_stream(text, out_) : read_dask(text, out_);
        case format::pbs:
            return read_pbs(text, out_);
        case format::sge:
            return read_sge(text, out_);
        case format::lsf:
            return read_lsf(text, out_);
        case format::htcondor:
            return read_htcondor(text, out_);
        case format::csv:
            break;
        }
        out_.leave_out(reason::unknown_format, 0);
        out_.remark("CSV cannot be read together with other formats");
    }

    reading_options how_;
    reading_report report_;
    program::progress_bar progress_;
    attempt_sink sink_;
    collector out_{report_, sink_};
    spark_reader spark_;
    native_jobs joined_;
    std::string last_;
    input* input_ = nullptr;
    std::uint64_t packed_bytes_ = 0;
};

std::string lines_of(occurrences const& some, reading_report const& report) {
    std::string text;
    for (occurrences::place const& at : some.first) {
        if (at.line == 0 && report.files.size() == 1) continue;
        text += text.empty() ? "" : ", ";
        if (report.files.size() > 1) text += program::printable(report.files[at.file].name);
        if (at.line > 0) text += (report.files.size() > 1 ? ":" : "line ") + std::to_string(at.line);
    }
    if (!text.empty() && some.count > some.first.size()) text += ", ...";
    return text.empty() ? text : " (" + text + ")";
}

std::string example_of(occurrences const& some) {
    return some.example.empty() ? "" : ": " + program::printable(some.example);
}

} // namespace

std::optional<format> guess_format(std::string_view head) {
    if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
    std::optional<format> found;
    for (known_format const& known : known_formats)
        if (known.looks_like(head)) {
            if (known.how != format::csv) return known.how;
            found = format::csv; // its first line may be a message
        }
    for_first_lines(head, [&](std::size_t at) {
        for (known_format const& known : known_formats) {
            if (!has_beginning(known.how) || !known.looks_like(head.substr(at))) continue;
            found = known.how;
            return true;
        }
        return false;
    });
    return found;
}

input::input(std::string const& file) : input(program::name_of(file), open_file(file)) {}

input::input(std::string name, raw_source raw)
    : name_(std::move(name)),
      source_(std::make_unique<unpacked_source>(std::move(raw))),
      text_(std::make_unique<text_window>(*source_)) {}

std::optional<format> input::guess() {
    return guess_format(text_->head(head_size));
}

std::string_view input::foreign_packing() {
    return unpacker_of(text_->head(8));
}

std::size_t input::operator()(char* to, std::size_t size) {
    if (text_->at_end()) return 0;
    if (text_->view().empty()) return (*source_)(to, size); // after the beginning, bypasses the window
    std::size_t const n = (std::min)(size, text_->view().size());
    std::copy_n(text_->view().data(), n, to);
    text_->consume(n, 0);
    return n;
}

reading_report read_history(std::vector<std::string> const& files, reading_options const& how,
                            attempt_sink const& sink, std::unique_ptr<input> first) {
    std::uint64_t bytes = 0;
    for (std::string const& file : files) bytes += program::size_of(file);
    history_reader reader(how, sink, bytes);
    for (std::string const& file : files) {
        std::unique_ptr<input> in = first ? std::move(first) : std::make_unique<input>(file);
        reader.read(*in, file);
    }
    return std::move(reader).finish();
}

opened_history open_history(std::vector<std::string> const& paths, std::optional<format> from) {
    opened_history h;
    h.files = files_of(paths);
    h.first = std::make_unique<input>(h.files.front());
    std::optional<format> const how = from ? from : h.first->guess();
    std::string_view const what =
        from ? std::string_view{} : refusal_of(h.first->text().head(refusal_head_size));
    if ((!how || how == format::csv) && h.files.size() == 1 && !what.empty())
        throw program::failure(program::exit_status::bad_input, h.first->name() + ": " + std::string(what));
    h.is_csv = how == format::csv || (!how && h.files.size() == 1 && h.first->foreign_packing().empty());
    return h;
}

void expect_attempts(reading_report const& report) {
    if (report.attempts > 0) return;
    std::string what = report.files.empty() ? "nothing to read" : report.files.front().name + ": ";
    if (!report.files.empty()) {
        file_report const& first = report.files.front();
        if (!first.remark.empty())
            what += first.remark;
        else if (!first.how)
            what += "none of the formats that can be read; say which with --from";
        else
            what += "no attempt that could be read as " + std::string(to_string(*first.how));
        if (first.how == format::slurm && report[reason::several_nodes].count > 0)
            what += "; a job on several nodes says nothing of any one of them: list its steps too (sacct "
                    "without -X)";
        if (report.files.size() > 1) what += "; nor in the other files";
    }
    bool const is_explained = !report.files.empty() && !report.files.front().remark.empty();
    throw program::failure(program::exit_status::bad_input, is_explained ? what : what + reasons_of(report));
}

void expect_ended(reading_report const& report) {
    expect_attempts(report);
    if (report.running < report.attempts) return;
    throw program::failure(program::exit_status::bad_input,
                           report.files.front().name + ": " + program::counted(report.attempts, "attempt") +
                               ", and none that has ended; read the log again when its jobs are over" +
                               reasons_of(report));
}

std::string reasons_of(reading_report const& report) {
    std::string text;
    for (std::size_t i = 0; i < reason_count; ++i) {
        occurrences const& some = report.reasons[i];
        if (some.count > 0)
            text += "; " + program::grouped(some.count) + " " +
                    std::string(to_string(static_cast<reason>(i))) + lines_of(some, report) +
                    example_of(some);
    }
    return text;
}

std::vector<std::string> summary_of(reading_report const& report) {
    std::vector<std::string> text;
    std::string formats;
    for (std::size_t f = 0; f < format_names.size(); ++f)
        for (file_report const& file : report.files)
            if (file.how == static_cast<format>(f)) {
                (formats += formats.empty() ? "" : ", ") += format_names[f];
                break;
            }
    std::string head = program::counted(report.attempts, "attempt") + " from " +
                       (report.files.size() == 1 ? program::printable(report.files.front().name)
                                                 : program::counted(report.files.size(), "file")) +
                       " (" + (formats.empty() ? "no known format" : formats);
    if (!report.engine_version.empty()) head += " " + program::printable(report.engine_version);
    head += "): " + program::grouped(report.successes) + " succeeded, " + program::grouped(report.failed) +
            " failed, " + program::grouped(report.killed) + " killed";
    if (report.running > 0) head += ", " + program::grouped(report.running) + " still running";
    if (report.speculative > 0) head += "; " + program::grouped(report.speculative) + " of them speculative";
    text.push_back(std::move(head));
    for (std::size_t i = 1; i < reason_count; ++i) { // other events are not worth mentioning
        auto const why = static_cast<reason>(i);
        if (report[why].count > 0)
            text.push_back((is_damage(why) ? "not read: " : "left out: ") + std::string(to_string(why)) +
                           ", " + program::counted(report[why].count, "time") +
                           lines_of(report[why], report) + example_of(report[why]));
    }
    for (file_report const& file : report.files)
        if (!file.remark.empty() && text.size() < 40)
            text.push_back(program::printable(file.name) + ": " + file.remark);
    return text;
}

} // namespace readers
