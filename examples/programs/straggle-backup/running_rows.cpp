// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "running_rows.hpp"

#include "../common/csv_table.hpp"
#include "../common/json_lines.hpp"
#include "../readers/readers.hpp"

#include <algorithm>

namespace straggle_backup {

using namespace program;

namespace {

// Calls `read`, and adds the name of the file to its errors.
template <class Error, class Read>
auto named(std::string const& file, Read&& read) {
    try {
        return read();
    } catch (Error const& e) {
        throw failure(exit_status::bad_input,
                      name_of(file) + ":" + std::to_string(e.line()) + ": " + e.what());
    }
}

class csv_rows : public running_rows {
  public:
    csv_rows(options const& o, bool show_progress)
        : file_(o.running), table_(named<csv::error>(file_, [&] {
              return csv_table<running_column>(o.running, o.running_columns, show_progress,
                                               "--running-columns");
          })) {
        for (running_column const c : {running_column::job, running_column::node, running_column::start})
            table_.places().require(o.running_columns, c);
    }
    bool next() override {
        return named<csv::error>(file_, [&] { return table_.next(); });
    }
    [[nodiscard]] std::string name(running_column c) const override { return table_.places().name(c); }
    [[nodiscard]] std::string_view field(running_column c) const override { return table_.field(c); }
    [[nodiscard]] bool is_plain() const override { return true; }
    [[nodiscard]] std::size_t line() const override { return table_.line(); }

  private:
    std::string file_;
    csv_table<running_column> table_;
};

class json_rows : public running_rows {
  public:
    json_rows(options const& o, bool show_progress)
        : file_(o.running),
          names_(names_in(o)),
          in_(std::make_unique<readers::input>(o.running)),
          reader_(
              named<json_lines::error>(file_, [&] { return json_lines::reader(source{in_.get()}, names_); })),
          progress_(show_progress, size_of(o.running)),
          seen_(names_.size()),
          columns_(o.running_columns) {}

    bool next() override {
        if (!next_object()) {
            if (!in_->source().damage().empty()) fail_damaged();
            check_names();
            return false;
        }
        progress_.update(in_->source().packed_bytes(), ++rows_);
        for (std::size_t i = 0; i < names_.size(); ++i)
            seen_[i] = seen_[i] || reader_.members()[i].is != json_lines::member::kind::absent;
        return true;
    }
    [[nodiscard]] std::string name(running_column c) const override { return columns_[c].name; }
    [[nodiscard]] std::string_view field(running_column c) const override {
        std::size_t const i = place(c);
        return names_[i].empty() ? std::string_view{} : reader_.members()[i].text;
    }
    [[nodiscard]] bool is_plain() const override {
        return std::ranges::none_of(reader_.members(), [](json_lines::member const& m) {
            return m.is == json_lines::member::kind::nested;
        });
    }
    [[nodiscard]] std::size_t line() const override { return reader_.line(); }

  private:
    struct source {
        readers::input* in;
        std::size_t operator()(char* to, std::size_t size) const { return (*in)(to, size); }
    };
    // An error in the last line of a damaged file is due to the damage.
    bool next_object() try { return reader_.next(); } catch (json_lines::error const& e) {
        if (!in_->source().damage().empty()) fail_damaged();
        throw failure(exit_status::bad_input, in_->name() + ":" + std::to_string(e.line()) + ": " + e.what());
    }
    [[noreturn]] void fail_damaged() const {
        throw failure(exit_status::bad_input, in_->name() + ": " + in_->source().damage());
    }
    static std::vector<std::string> names_in(options const& o) {
        std::vector<std::string> names;
        for (std::size_t c = 0; c < column_set<running_column>::keys.size(); ++c)
            names.push_back(o.running_columns[static_cast<running_column>(c)].name);
        return names;
    }
    // Two columns may have the same name; the reader fills the first.
    [[nodiscard]] std::size_t place(running_column c) const {
        auto const& name = names_[static_cast<std::size_t>(c)];
        return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
    }
    // An object may omit what it does not know, but a name must occur in some object.
    void check_names() const {
        if (rows_ == 0) return;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            auto const c = static_cast<running_column>(i);
            bool const needed =
                c == running_column::job || c == running_column::node || c == running_column::start;
            if ((needed || columns_[c].required) && !names_[i].empty() && !seen_[place(c)])
                throw failure(exit_status::bad_input, name_of(file_) + ": no object has a member '" +
                                                          names_[i] + "' for the " +
                                                          std::string(column_set<running_column>::keys[i]) +
                                                          " (see --running-columns)");
        }
    }

    std::string file_;
    std::vector<std::string> names_;
    std::unique_ptr<readers::input> in_;
    json_lines::reader<source> reader_;
    progress_bar progress_;
    std::vector<bool> seen_;
    column_names<running_column> columns_;
    std::uint64_t rows_ = 0;
};

} // namespace

std::unique_ptr<running_rows> open_running(options const& o, bool show_progress) {
    if (o.running_format == running_format::json_lines) return std::make_unique<json_rows>(o, show_progress);
    return std::make_unique<csv_rows>(o, show_progress);
}

} // namespace straggle_backup
