// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "haproxy.hpp"

#include "fields.hpp"
#include "json.hpp"

#include <array>
#include <optional>

namespace readers {

namespace {

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// `06/Feb/2009:12:14:14.655`, to the millisecond.
std::optional<moment> accept_date(std::string_view s) {
    if (s.size() < 20 || s[2] != '/' || s[6] != '/' || s[11] != ':' || s[14] != ':' || s[17] != ':')
        return std::nullopt;
    auto const day = whole_number(s.substr(0, 2)), year = whole_number(s.substr(7, 4));
    auto const hour = whole_number(s.substr(12, 2)), minute = whole_number(s.substr(15, 2));
    auto const seconds = seconds_time(s.substr(18));
    int month = 0;
    for (std::size_t i = 0; i < months.size(); ++i)
        if (months[i] == s.substr(3, 3)) month = static_cast<int>(i) + 1;
    if (!day || !year || !hour || !minute || !seconds || month == 0 || *day < 1 || *hour > 23 ||
        *minute > 59 || *hour < 0 || *minute < 0 || *seconds >= std::chrono::seconds(61))
        return std::nullopt;
    auto const days = days_of(static_cast<int>(*year), month, static_cast<int>(*day));
    if (!days) return std::nullopt;
    return std::chrono::hours(*days * 24 + *hour) + std::chrono::minutes(*minute) + *seconds;
}

// Reads such dates; most are in the same minute as the last one.
class accept_clock {
  public:
    std::optional<moment> read(std::string_view text) {
        constexpr std::size_t minute_size = 18, whole_size = 24;
        if (text.size() == whole_size && minute_.size() == minute_size &&
            std::memcmp(text.data(), minute_.data(), minute_size) == 0)
            if (auto const ms = milliseconds(text.substr(minute_size))) return since_ + *ms;
        auto const time = accept_date(text);
        if (time)
            if (auto const since = accept_date(std::string(text.substr(0, minute_size)) + "00")) {
                minute_ = text.substr(0, minute_size);
                since_ = *since;
            }
        return time;
    }

  private:
    // `14.655`, up to 60.
    static std::optional<moment> milliseconds(std::string_view s) {
        std::int64_t value = 0;
        for (std::size_t i = 0; i < s.size(); ++i) {
            if (i == 2) continue;
            if (s[i] < '0' || s[i] > '9') return std::nullopt;
            value = value * 10 + (s[i] - '0');
        }
        if (s[2] != '.' || value >= 61'000) return std::nullopt;
        return std::chrono::milliseconds(value);
    }

    std::string minute_;
    moment since_{};
};

// The first letter says who ended the session early: the client, the server, the proxy.
ending ending_of(std::int64_t status, std::string_view termination) {
    char const by = termination.empty() ? '-' : termination.front();
    if (by == 'C' || by == 'c') return ending::killed;
    if (by != '-' && by != 'L') return ending::failed;
    return status >= 100 && status < 500 ? ending::success : ending::failed;
}

// The names of the members of a JSON log.
namespace json_names {
template <std::size_t N>
using names = std::array<std::string_view, N>;
constexpr names<6> backend{"backend", "backend_name", "b", "be", "be_name", "haproxy_backend"};
constexpr names<7> server{"server",         "server_name",   "s", "srv", "srv_name",
                          "backend_server", "haproxy_server"};
constexpr names<7> status{"status", "status_code", "http_status", "http_status_code", "ST", "st", "code"};
constexpr names<7> response{"Tr",
                            "response_time",
                            "time_backend_response",
                            "time_server_response",
                            "backend_response_time",
                            "server_response_time",
                            "tr"};
constexpr std::array<names<4>, 3> before{{{"TR", "Tq", "time_request", "time_client_request"},
                                          {"Tw", "time_queue", "queue_time", "time_backend_wait"},
                                          {"Tc", "time_backend_connect", "connect_time", "time_connect"}}};
constexpr names<10> date{"accept_date", "request_date", "t",    "tr_date", "timestamp",
                         "@timestamp",  "time",         "date", "Ts",      "time_local"};
constexpr names<3> termination{"termination_state", "termination", "tsc"};
constexpr names<4> request{"request", "http_request", "r", "http_request_line"};
constexpr names<4> method{"method", "http_method", "http_verb", "HM"};
constexpr names<8> path{"path", "uri", "url", "http_path", "http_uri", "HP", "HU", "http_request"};
} // namespace json_names

class log_reader {
  public:
    explicit log_reader(collector& out) : out_(out) {}

    void read(std::string_view line, std::size_t number) {
        if (line.starts_with('{')) return read_json(line, number);
        if (!line.empty() && line.front() >= '0' && line.front() <= '9' && read_short(line, number)) return;
        std::size_t const date = date_in(line);
        if (date == std::string_view::npos) {
            reason const why = kind_of(line);
            return why == reason::other_event ? out_.leave_out(why, number)
                                              : out_.leave_out(why, number, date_field({}));
        }
        read_http(line, date, number);
    }

  private:
    // %tr or %t
    static wrong_field date_field(std::string_view value) {
        return {"the date", value, "[01/Mar/2026:12:00:00.100] behind the client"};
    }
    // Where " [" stands.
    static std::size_t date_in(std::string_view line) {
        std::size_t at = line.find('[');
        while (at != std::string_view::npos && (at == 0 || line[at - 1] != ' ')) at = line.find('[', at + 1);
        return at == std::string_view::npos ? at : at - 1;
    }

    // Messages about servers and proxies arrive in the same stream.
    static reason kind_of(std::string_view line) {
        for (std::string_view const word :
             {"Server ", "Proxy ", "Health check", "backend ", "Stopping ", "Backup ", "Connect from ",
              "agent ", "[NOTICE]", "[WARNING]", "[ALERT]"})
            if (line.find(word) != std::string_view::npos) return reason::other_event;
        return reason::not_a_record;
    }

    // "%Ts.%ms %b %s %ST %Tr %Ta %[var(txn.us)] %tsc %bc %sc %bq %rc"; false if it is something else.
    bool read_short(std::string_view line, std::size_t number) {
        fields_.split(line, ' ');
        if (fields_.size() < 8 || fields_.size() > 14) return false;
        auto const since = seconds_time(fields_[0]);
        auto const status = whole_number(fields_[3]);
        auto const response_ms = whole_number(fields_[4]), active_ms = whole_number(fields_[5]);
        if (!since || !status || !response_ms || !active_ms) return false;
        auto const us = whole_number(fields_[6]);
        std::optional<moment> took;
        if (us && *us >= 0)
            took = time_of(*us, 1000);
        else if (*response_ms >= 0)
            took = ms_time(*response_ms);
        job_ = fields_[1];
        take(fields_[1], fields_[2], *status, fields_[7], since, took, number);
        return true;
    }

    // client [date] frontend backend/server TR/Tw/Tc/Tr/Ta status bytes - - tsc conns queues "request"
    void read_http(std::string_view line, std::size_t date, std::size_t number) {
        std::string_view rest = line.substr(date + 2);
        std::string_view const when = take_word(rest, ']');
        auto const accepted = times_.read(when);
        if (!accepted)
            return kind_of(line) == reason::other_event
                       ? out_.leave_out(reason::other_event, number)
                       : out_.leave_out(reason::bad_time, number, date_field(when));
        rest = trimmed(rest);
        fields_.split(rest, ' '); // frontend, server, timers, status, bytes, two cookies, termination, ...
        auto const field = [this](std::size_t i) {
            return i < fields_.size() ? fields_[i] : std::string_view{};
        };
        std::string_view server = field(1);
        std::string_view const backend = take_word(server, '/');
        std::array<std::optional<std::int64_t>, 5> ms{};
        std::size_t const count = read_timers(field(2), ms);
        if (count == 3 && ms[0] && ms[1]) return out_.leave_out(reason::not_http, number);
        if (count < 5) return out_.leave_out(reason::not_a_record, number);
        for (auto const& t : ms)
            if (!t)
                return out_.leave_out(reason::bad_number, number,
                                      {"TR/Tw/Tc/Tr/Ta", field(2), "milliseconds, as 0/0/1/120/121"});
        auto const status = whole_number(field(3));
        if (!status)
            return out_.leave_out(reason::bad_number, number, {"status", field(3), "the status of HTTP"});
        std::string_view const termination = field(7);
        if (fields_.size() < 9) return out_.leave_out(reason::not_a_record, number);
        rest.remove_prefix(static_cast<std::size_t>(fields_[8].data() - rest.data()));
        std::size_t const quote = rest.find('"');
        if (quote == std::string_view::npos) return out_.leave_out(reason::not_a_record, number);
        path_class(rest.substr(quote + 1), path_);
        job_.assign(backend).append(1, ' ').append(path_);
        std::optional<moment> start, took;
        if (*ms[3] >= 0) took = ms_time(*ms[3]);
        std::int64_t before = 0; // until the server had the request
        for (std::size_t const i : {0u, 1u, 2u})
            if (*ms[i] > 0 && *ms[i] < 1'000'000'000'000) before += *ms[i];
        if (auto const wait = ms_time(before)) start = *accepted + *wait;
        // An aborted request has no response time, but it waited until then.
        if (!took && *ms[4] > before) took = ms_time(*ms[4] - before);
        if (ending_of(*status, termination) == ending::success && *ms[3] < 0) took.reset();
        take(backend, server, *status, termination, start, took, number);
    }

    // The output of log-format. Its author names the members: HAProxy's own names, those of the
    // documentation's fields, and those of grok.
    void read_json(std::string_view line, std::size_t number) {
        auto const json = parse_json(parser_, line);
        if (!json) return out_.leave_out(reason::not_json, number);
        std::string_view const backend = text_among(*json, json_names::backend);
        std::string_view server = text_among(*json, json_names::server);
        if (std::size_t const slash = server.find('/'); slash != std::string_view::npos)
            server.remove_prefix(slash + 1);
        auto const status = number_among(*json, json_names::status);
        if (backend.empty())
            return out_.leave_out(reason::no_job, number, {"backend", {}, "the name of the backend, %b"});
        if (!status || !(*status >= -1 && *status < 1e6))
            return out_.leave_out(reason::bad_number, number, {"status", {}, "the status of HTTP, %ST"});
        auto start = json_time(*json);
        auto const response = number_among(*json, json_names::response);
        if (!start)
            return out_.leave_out(reason::bad_time, number, {"accept_date", {}, "the date of arrival, %t"});
        if (!response)
            return out_.leave_out(reason::bad_time, number,
                                  {"Tr", {}, "milliseconds of the server's answer, %Tr"});
        double before = 0;
        for (auto const& names : json_names::before)
            if (auto const ms = number_among(*json, names); ms && *ms > 0 && *ms < 1e9) before += *ms;
        *start += moment(static_cast<std::int64_t>(before * 1e6));
        if (start->count() > latest_ns)
            return out_.leave_out(reason::bad_time, number,
                                  {"accept_date", text_among(*json, json_names::date), "a date before 2096"});
        path_class(request_in(*json), path_);
        job_.assign(backend).append(1, ' ').append(path_);
        std::optional<moment> const took = *response >= 0 ? seconds_time(*response / 1e3) : std::nullopt;
        take(backend, server, static_cast<std::int64_t>(*status), text_among(*json, json_names::termination),
             start, took, number);
    }

    // `GET /path HTTP/1.1`, from one member or two.
    std::string_view request_in(json_value json) {
        std::string_view const method = text_among(json, json_names::method),
                               path = text_among(json, json_names::path);
        if (method.empty() || path.empty()) return text_among(json, json_names::request);
        request_.assign(method).append(1, ' ').append(path).append(1, ' ');
        return request_;
    }

    std::optional<moment> json_time(json_value json) {
        if (std::string_view const text = text_among(json, json_names::date); !text.empty()) {
            if (auto const t = times_.read(text)) return t;
            if (auto const t = iso_time(text)) return t;
        }
        auto const n = number_among(json, json_names::date);
        constexpr double year_5000 = 1e11;
        return n ? seconds_time(*n > year_5000 ? *n / 1e3 : *n) : std::nullopt;
    }

    template <class Names>
    static std::string_view text_among(json_value json, Names const& names) {
        for (std::string_view const name : names)
            if (std::string_view const text = text_in(json, name); !text.empty()) return text;
        return {};
    }
    // A number, or a text that contains one.
    template <class Names>
    static std::optional<double> number_among(json_value json, Names const& names) {
        for (std::string_view const name : names) {
            if (auto const n = real_in(json, name)) return n;
            std::string_view const text = text_in(json, name);
            if (auto const n = whole_number(text)) return static_cast<double>(*n);
            if (auto const n = seconds_time(text)) return static_cast<double>(n->count()) / 1e9;
        }
        return std::nullopt;
    }

    // Up to five, separated by slashes; returns their number.
    static std::size_t read_timers(std::string_view timers, std::array<std::optional<std::int64_t>, 5>& ms) {
        std::size_t count = 0, first = 0;
        for (std::size_t at = 0; at <= timers.size() && first < timers.size() && count < ms.size(); ++at) {
            if (at < timers.size() && timers[at] != '/') continue;
            std::string_view timer = timers.substr(first, at - first);
            if (timer.starts_with('+')) timer.remove_prefix(1); // option logasap
            ms[count++] = whole_number(timer);
            first = at + 1;
        }
        return count;
    }

    void take(std::string_view backend, std::string_view server, std::int64_t status,
              std::string_view termination, std::optional<moment> start, std::optional<moment> took,
              std::size_t number) {
        if (backend.empty())
            return out_.leave_out(reason::no_job, number, {"backend", {}, "the name of the backend, %b"});
        if (server.empty() || server == "<NOSRV>" || server == "-")
            return out_.leave_out(reason::no_server, number);
        attempt a;
        a.end_state = ending_of(status, termination);
        if (!start) return out_.leave_out(reason::bad_time, number, date_field({}));
        if (!took && a.end_state == ending::success)
            return out_.leave_out(reason::bad_time, number,
                                  {"Tr", "-1", "milliseconds until the server answered"});
        node_.assign(backend).append(1, '/').append(server);
        a.job = job_;
        a.node = node_;
        a.start = start;
        a.end = *start + took.value_or(moment(0));
        a.line = number;
        out_.take(a);
    }

    collector& out_;
    accept_clock times_;
    field_list fields_;
    simdjson::dom::parser parser_;
    std::string job_, node_, path_, request_;
};

// A segment that names one of many things: a number, an id of hexadecimal digits, anything long with a digit.
bool is_identifier(std::string_view segment) {
    std::size_t digits = 0, hex = 0;
    for (char const c : segment) {
        bool const digit = c >= '0' && c <= '9';
        digits += static_cast<std::size_t>(digit);
        hex +=
            static_cast<std::size_t>(digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-');
    }
    if (digits == 0) return false;
    return digits == segment.size() || (hex == segment.size() && segment.size() >= 8) || segment.size() >= 20;
}

} // namespace

void path_class(std::string_view request, std::string& to) {
    to.clear();
    if (request.starts_with('<')) { // <BADREQ>
        to = "<none>";
        return;
    }
    std::string_view const method = take_word(request);
    std::size_t end = 0;
    while (end < request.size() && request[end] != ' ' && request[end] != '?' && request[end] != '#' &&
           request[end] != ';' && request[end] != '"')
        ++end;
    std::string_view path = request.substr(0, end);
    if (std::size_t const scheme = path.find("://"); scheme != std::string_view::npos) {
        std::size_t const root = path.find('/', scheme + 3);
        path = root == std::string_view::npos ? std::string_view("/") : path.substr(root);
    }
    to.assign(method).append(1, ' ');
    constexpr int most_segments = 3;
    if (path.starts_with('/')) path.remove_prefix(1);
    for (int i = 0; i < most_segments; ++i) {
        bool const more = path.find('/') != std::string_view::npos;
        std::string_view const segment = take_word(path, '/');
        to.append(1, '/');
        if (is_identifier(segment))
            to.append(1, '#');
        else
            to.append(segment.substr(0, 64));
        if (!more) return;
    }
    to.append("/...");
}

namespace {

template <class Names>
bool has_member(std::string_view line, Names const& names) {
    for (std::string_view const name : names)
        if (line.find('"' + std::string(name) + "\":") != std::string_view::npos ||
            line.find('"' + std::string(name) + "\" :") != std::string_view::npos)
            return true;
    return false;
}

} // namespace

bool looks_like_haproxy(std::string_view head) {
    std::string_view rest = head;
    field_list fields;
    for (int i = 0; i < 50 && !rest.empty(); ++i) {
        std::string_view line = take_word(rest, '\n');
        if (rest.empty() && i > 0) break; // the head may end within this line
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.find("haproxy[") != std::string_view::npos) return true;
        if (line.starts_with('{') && has_member(line, json_names::backend) &&
            has_member(line, json_names::server) && has_member(line, json_names::status))
            return true;
        fields.split(line, ' ');
        bool const is_short = fields.size() >= 8 && fields.size() <= 14 && seconds_time(fields[0]) &&
                              fields[0].find('.') != std::string_view::npos && whole_number(fields[3]) &&
                              whole_number(fields[4]) && whole_number(fields[5]);
        if (is_short) return true;
        std::size_t const date = line.find(" [");
        if (date == std::string_view::npos) continue;
        std::string_view tail = line.substr(date + 2);
        if (accept_date(take_word(tail, ']')) && tail.find('/') != std::string_view::npos) return true;
    }
    return false;
}

void read_haproxy(text_window& text, collector& out) {
    line_reader lines(text);
    log_reader reader(out);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else
            reader.read(lines.line(), lines.number());
    }
}

} // namespace readers
