// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Spark's event log: a JSON event per line, in one file or in rolled ones.
#pragma once

#include "history.hpp"
#include "text_window.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_spark(std::string_view head);

class spark_event;

/// Reads event logs. Tasks that run at the end of a log may end in the next part of a rolled log, so open
/// ones are kept until a different application begins or `finish` is called.
class spark_reader {
  public:
    /// @param application name from the file, if the log does not contain one
    void read(text_window& text, collector& out, std::string const& application);
    /// Returns the attempts without an end.
    void finish(collector& out);

  private:
    struct running_task {
        std::string job, node, executor;
        std::int64_t index = 0, launched_ms = 0;
        std::uint32_t number = 0;
        bool speculative = false;
        std::size_t line = 0;
    };

    void read_task(spark_event const& e, std::size_t line, collector& out);
    void read_other(spark_event const& e, std::size_t line, collector& out);
    void name_job(std::int64_t stage, std::int64_t stage_attempt);
    void begin_application(collector& out);

    std::string application_, job_, task_;
    std::int64_t stage_ = -1, stage_attempt_ = -1;
    std::map<std::int64_t, running_task> running_; // by task id
    bool ended_ = false, told_ = false;
};

} // namespace readers
