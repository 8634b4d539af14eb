// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "slurm.hpp"

#include "fields.hpp"

#include <algorithm>
#include <vector>

namespace readers {

namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    for (std::string_view const w : words)
        if (word == w) return true;
    return false;
}

enum class clock_form : std::uint8_t { none, epoch, local, zoned };

struct slurm_time {
    std::optional<moment> time;
    clock_form form = clock_form::none;
    bool unknown = false; ///< unknown, and written as such
};

slurm_time read_time(iso_clock& clock, std::string_view field) {
    slurm_time t;
    if (field.size() > 4 && field[4] == '-') {
        bool zoned = false;
        t.time = clock.read(field, &zoned);
        t.form = zoned ? clock_form::zoned : clock_form::local;
        return t;
    }
    bool const begins_with_digit = !field.empty() && field.front() >= '0' && field.front() <= '9';
    if (field == "0" ||
        (!begins_with_digit && (field.empty() || is_one_of(field, {"Unknown", "None", "N/A"})))) {
        t.unknown = true;
    } else if (field.find('-') == std::string_view::npos) {
        t.time = seconds_time(field);
        t.form = clock_form::epoch;
    } else {
        t.form = clock_form::local;
    }
    return t;
}

struct sacct_columns {
    std::optional<std::size_t> id, node, state, start, end, elapsed, restarts;

    sacct_columns() = default;
    sacct_columns(field_list const& first_row, given_columns const& given) {
        auto const find = [&first_row](std::string const& name, std::string_view usual) {
            return column_of(first_row, name.empty() ? usual : std::string_view(name));
        };
        id = find(given.job, "JobID");
        node = find(given.node, "NodeList");
        state = find(given.status, "State");
        start = find(given.start, "Start");
        end = find(given.end, "End");
        elapsed = find(given.duration, "ElapsedRaw");
        restarts = column_of(first_row, "Restarts");
    }

    [[nodiscard]] std::string missing() const {
        std::string list;
        auto const want = [&](std::optional<std::size_t> const& c, char const* name) {
            if (!c) (list += list.empty() ? "" : ", ") += name;
        };
        want(id, "JobID");
        want(node, "NodeList");
        want(state, "State");
        want(start, "Start");
        if (!elapsed) want(end, "End");
        return list;
    }
};

class sacct_reader {
  public:
    explicit sacct_reader(collector& out) : out_(out) {}

    /// Rows with these columns follow.
    void use(sacct_columns const& columns) { at_ = columns; }

    void read(field_list const& fields, std::size_t line) {
        auto const field = [&](std::optional<std::size_t> const& c) {
            return c ? trimmed(fields[*c]) : std::string_view{};
        };
        slurm_id const id = slurm_id_of(field(at_.id));
        if (id.job.empty())
            return out_.leave_out(reason::no_job, line,
                                  {"JobID", field(at_.id), "an id, as 12, 12_3 or 12.0"});
        // What ran on one node is read as a unit. The steps of a job on several nodes are siblings.
        if (id.step.empty()) {
            if (is_one_node(field(at_.node))) whole_job_ = id.job;
        } else if (id.array || id.job == whole_job_ ||
                   id.step.find_first_not_of("0123456789") != std::string_view::npos) {
            return out_.leave_out(reason::step, line);
        }
        auto const how = slurm_ending(field(at_.state));
        if (!how || id.pending) return out_.leave_out(reason::never_started, line);
        std::string_view const node = field(at_.node);
        if (is_no_node(node))
            return *how == ending::killed
                       ? out_.leave_out(reason::never_started, line)
                       : out_.leave_out(reason::no_node, line, {"NodeList", node, "the name of a node"});
        if (!is_one_node(node)) return out_.leave_out(reason::several_nodes, line);
        slurm_time const start = read_time(times_, field(at_.start)), end = read_time(times_, field(at_.end));
        if (start.unknown && *how == ending::killed) return out_.leave_out(reason::never_started, line);
        attempt& a = attempt_;
        a.start = start.time;
        a.end = end.time;
        if (!at_.end && a.start && *how != ending::running)
            if (auto const seconds = whole_number(field(at_.elapsed)))
                if (auto const took = time_of(*seconds, 1'000'000'000)) a.end = *a.start + *took;
        if (!a.start) return out_.leave_out(reason::bad_time, line, {"Start", field(at_.start), time_form});
        if (!a.end && *how != ending::running)
            return out_.leave_out(reason::bad_time, line,
                                  {"End", field(at_.end), at_.end ? time_form : "there, or ElapsedRaw"});
        if (!same_clock(start) || (!end.unknown && at_.end && !same_clock(end)))
            return out_.leave_out(reason::mixed_clocks, line);
        if (*how == ending::running) a.end.reset();
        a.job = id.job;
        a.task = id.array ? id.task : id.step.empty() ? "0" : id.step;
        a.node = node;
        a.end_state = *how;
        a.number = number_of(field(at_.id), field(at_.restarts));
        a.line = line;
        if (!id.array && id.step.empty()) { // a job outside arrays: its steps are a separate group
            job_.assign(id.job).append("/job");
            a.job = job_;
        }
        out_.take(a);
    }

  private:
    static constexpr std::string_view time_form = "2026-01-31T12:00:00, or seconds since 1970";

    // Local times and times since 1970 cannot be compared.
    bool same_clock(slurm_time const& t) {
        if (clock_ == clock_form::none) clock_ = t.form;
        return clock_ == t.form;
    }

    // `sacct --duplicates` prints each run of a requeued job, one after the other.
    std::uint32_t number_of(std::string_view id, std::string_view restarts) {
        bool const again = id == last_id_;
        last_id_ = id;
        last_number_ = again ? last_number_ + 1 : 0;
        if (restarts.empty()) return last_number_;
        if (auto const told = whole_number(restarts); told && *told >= 0 && *told < 0x7fffffff)
            return static_cast<std::uint32_t>(*told);
        return last_number_;
    }

    sacct_columns at_;
    collector& out_;
    iso_clock times_;
    std::string last_id_, job_, whole_job_;
    attempt attempt_; // what no row reports stays unknown
    std::uint32_t last_number_ = 0;
    clock_form clock_ = clock_form::none;
};

} // namespace

std::optional<ending> slurm_ending(std::string_view state) {
    if (state == "COMPLETED") return ending::success;
    std::string_view const word =
        state.substr(0, state.find_first_of(" +")); // "CANCELLED by 0", "CANCELLED+"
    if (is_one_of(word, {"COMPLETED", "CD"})) return ending::success;
    if (is_one_of(word, {"CANCELLED", "CA", "PREEMPTED", "PR", "REQUEUED", "RQ", "REVOKED", "RV"}))
        return ending::killed;
    if (is_one_of(word,
                  {"RUNNING", "R", "COMPLETING", "CG", "SUSPENDED", "S", "RESIZING", "RS", "STOPPED", "ST"}))
        return ending::running;
    if (word.empty() ||
        is_one_of(word, {"PENDING", "PD", "CONFIGURING", "CF", "REQUEUE_HOLD", "SPECIAL_EXIT"}))
        return std::nullopt;
    return ending::failed;
}

bool is_no_node(std::string_view list) {
    return list.empty() || is_one_of(list, {"None assigned", "(null)", "None"});
}

bool is_one_node(std::string_view list) {
    for (char const c : list) // a search for each would take longer
        if (c == ',' || c == '[') return false;
    return true;
}

namespace {

// Like `find`, but faster for short texts.
std::size_t position_of(char c, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == c) return i;
    return std::string_view::npos;
}

} // namespace

slurm_id slurm_id_of(std::string_view id) {
    slurm_id result;
    std::size_t const dot = position_of('.', id);
    if (dot != std::string_view::npos) {
        result.step = id.substr(dot + 1);
        if (result.step.empty()) return {};
    }
    std::string_view const whole = id.substr(0, dot);
    std::size_t const bar = position_of('_', whole);
    result.job = whole.substr(0, bar);
    if (result.job.empty() || result.job.front() < '0' || result.job.front() > '9') return {};
    if (bar != std::string_view::npos) {
        result.array = true;
        result.task = whole.substr(bar + 1);
        result.pending = result.task.starts_with('[');
        if (result.task.empty()) return {};
    }
    return result;
}

namespace {

constexpr std::string_view asked_for = "sacct -P -o JobID,NodeList,State,Start,End";

bool is_job_id(std::string_view s) {
    slurm_id const id = slurm_id_of(s);
    return !id.job.empty() && id.job.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_state(std::string_view s) {
    s = s.substr(0, s.find_first_of(" +"));
    return is_one_of(s, {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "RUNNING",
                         "PENDING", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REQUEUED", "SUSPENDED",
                         "RESIZING", "REVOKED"});
}

// `d07n[03-05]`, or a name with a number at its end, as nodes have, possibly with a domain.
bool is_node_list(std::string_view s) {
    if (is_no_node(s)) return true;
    auto const is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (s.empty() || !is_letter(s.front())) return false;
    if (s.find_first_of(" _/:=%") != std::string_view::npos) return false;
    if (s.find('[') == std::string_view::npos) s = s.substr(0, s.find('.'));
    return s.back() == ']' || (s.back() >= '0' && s.back() <= '9');
}

// The first rows of an output without a header, by which its columns are guessed.
class headerless_rows {
  public:
    // @param whole the head ends with the text
    headerless_rows(std::string_view head, bool whole) {
        constexpr std::size_t most = 200;
        while (!head.empty() && rows_.size() < most) {
            bool const has_end = head.find('\n') != std::string_view::npos;
            std::string_view line = take_word(head, '\n');
            if (!has_end && !whole && !rows_.empty()) break;
            if (line.ends_with('\r')) line.remove_suffix(1);
            field_list fields;
            fields.split(line, '|');
            if (line.empty() || (!rows_.empty() && fields.size() != rows_.front().size())) continue;
            rows_.push_back(fields);
        }
    }

    // Every row begins like a job, and contains how it ended.
    [[nodiscard]] bool are_jobs() const {
        return !rows_.empty() && rows_.front().size() >= 4 && first_of(is_job_id) && first_of(is_state);
    }

    [[nodiscard]] sacct_columns columns() const {
        sacct_columns at;
        at.id = first_of(is_job_id);
        at.state = first_of(is_state);
        find_times(at);
        at.node = node_column();
        // If JobIDRaw comes first, JobID is the one with arrays or steps.
        for (std::size_t c = 0; c < rows_.front().size(); ++c)
            if (all(c, is_job_id) && any(c, [](std::string_view s) { return s.find('_') != s.npos; })) {
                at.id = c;
                break;
            }
        return at;
    }

  private:
    template <class Is>
    [[nodiscard]] bool all(std::size_t column, Is const& is) const {
        return std::ranges::all_of(rows_, [&](field_list const& r) { return is(trimmed(r[column])); });
    }
    template <class Is>
    [[nodiscard]] bool any(std::size_t column, Is const& is) const {
        return std::ranges::any_of(rows_, [&](field_list const& r) { return is(trimmed(r[column])); });
    }
    template <class Is>
    [[nodiscard]] std::optional<std::size_t> first_of(Is const& is) const {
        for (std::size_t c = 0; c < rows_.front().size(); ++c)
            if (all(c, is)) return c;
        return std::nullopt;
    }

    // Submit, Eligible, Start and End, in any order of columns: the latest two.
    void find_times(sacct_columns& at) const {
        iso_clock clock;
        auto const is_time = [&clock](std::string_view s) {
            slurm_time const t = read_time(clock, s);
            constexpr std::int64_t year_2001 = 978'307'200;
            bool const plausible =
                t.time && (t.form != clock_form::epoch || t.time->count() / 1'000'000'000 > year_2001);
            return plausible || (t.unknown && s != "0" && !s.empty());
        };
        struct time_column {
            std::size_t column;
            double sum; // seconds
        };
        std::vector<time_column> found;
        std::vector<std::size_t> timed;
        for (std::size_t c = 0; c < rows_.front().size(); ++c)
            if (c != at.id && all(c, is_time) &&
                any(c, [&](std::string_view s) { return read_time(clock, s).time.has_value(); }))
                timed.push_back(c);
        for (std::size_t const c : timed) {
            double sum = 0;
            for (field_list const& r : rows_) { // only where all are known
                bool const known = std::ranges::all_of(timed, [&](std::size_t other) {
                    return read_time(clock, trimmed(r[other])).time.has_value();
                });
                if (known) sum += static_cast<double>(read_time(clock, trimmed(r[c])).time->count()) / 1e9;
            }
            found.push_back({c, sum});
        }
        if (found.size() < 2) return;
        std::ranges::sort(found, [](time_column const& a, time_column const& b) {
            return a.sum < b.sum || (!(b.sum < a.sum) && a.column < b.column);
        });
        at.end = found.back().column;
        at.start = found[found.size() - 2].column;
    }

    // The column with lists in square brackets; otherwise that whose names change most from row to row.
    [[nodiscard]] std::optional<std::size_t> node_column() const {
        std::optional<std::size_t> best;
        std::size_t most = 0;
        for (std::size_t c = 0; c < rows_.front().size(); ++c) {
            if (!all(c, is_node_list) || !any(c, [](std::string_view s) { return !is_no_node(s); })) continue;
            if (any(c, [](std::string_view s) { return s.ends_with(']') || s == "None assigned"; })) return c;
            std::size_t changes = 1;
            for (std::size_t i = 1; i < rows_.size(); ++i)
                changes += static_cast<std::size_t>(rows_[i][c] != rows_[i - 1][c]);
            if (changes >= most) {
                most = changes;
                best = c;
            }
        }
        return best;
    }

    std::vector<field_list> rows_;
};

// What is unknown about an output without a header, and what to do.
std::string headerless_remark(sacct_columns const& known) {
    auto const place = [](std::optional<std::size_t> column) {
        return column ? "#" + std::to_string(*column + 1) : std::string("#N");
    };
    return "sacct without a header, and none of its columns looks like " + known.missing() + ": run " +
           std::string(asked_for) + ", or say which column is what: --columns job=" + place(known.id) +
           ",node=" + place(known.node) + ",status=" + place(known.state) + ",start=" + place(known.start) +
           ",end=" + place(known.end);
}

} // namespace

bool looks_like_sacct(std::string_view head) {
    std::string_view const line = head.substr(0, head.find_first_of("\r\n"));
    if (line.find('|') == std::string_view::npos) return false;
    field_list fields;
    fields.split(line, '|');
    return column_of(fields, "JobID") || column_of(fields, "JobIDRaw") ||
           headerless_rows(line, true).are_jobs();
}

void read_sacct(text_window& text, given_columns const& given, collector& out) {
    constexpr std::size_t head_size = std::size_t{1} << 16;
    std::string_view const head = text.head(head_size);
    headerless_rows const rows(head, head.size() < head_size);
    bool const headerless = rows.are_jobs();
    sacct_columns const guessed = headerless ? rows.columns() : sacct_columns();
    line_reader lines(text);
    field_list fields;
    sacct_reader reader(out);
    std::string header;
    std::size_t count = 0, id = 0;
    auto const use = [&](sacct_columns const& columns) {
        count = fields.size();
        id = *columns.id;
        reader.use(columns);
    };
    bool begun = false;
    auto const begin = [&] {
        fields.split(lines.line(), '|');
        sacct_columns columns(fields, given);
        if (headerless) {
            auto const fill = [](std::optional<std::size_t>& to, std::optional<std::size_t> from) {
                if (!to) to = from;
            };
            fill(columns.id, guessed.id);
            fill(columns.node, guessed.node);
            fill(columns.state, guessed.state);
            fill(columns.start, guessed.start);
            fill(columns.end, guessed.end);
        } else {
            header = lines.line();
        }
        if (std::string const missing = columns.missing(); !missing.empty()) {
            out.leave_out(reason::not_a_record, lines.number());
            out.remark(headerless ? headerless_remark(columns)
                                  : "no column " + missing + "; run " + std::string(asked_for));
            return false;
        }
        use(columns);
        return begun = true;
    };
    auto const is_other_header = [&] { // of an output with other columns
        bool const may_be =
            fields.size() != count || fields[id].empty() || fields[id][0] < '0' || fields[id][0] > '9';
        if (!may_be || !(column_of(fields, "JobID") || column_of(fields, "JobIDRaw"))) return false;
        sacct_columns const others(fields, given);
        if (!others.missing().empty()) return false;
        header = lines.line();
        use(others);
        return true;
    };
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        if (!begun) {
            if (!begin()) return;
            if (!headerless) continue;
        }
        out.count_line();
        fields.split(lines.line(), '|');
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else if (lines.line() == header || is_other_header()) // several outputs in sequence
            out.leave_out(reason::other_event, lines.number());
        else if (fields.size() != count)
            out.leave_out(lines.torn() ? reason::torn : reason::wrong_field_count, lines.number());
        else
            reader.read(fields, lines.number());
    }
}

} // namespace readers
