// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The Unix socket: who may connect, and which answer goes where.
#pragma once

#include "line_buffer.hpp"
#include "session.hpp"

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include <poll.h>

namespace straggle_watch {

class listener {
  public:
    /// A `failure` if the path is anything but a socket without a listener.
    listener(options const& o, session& to);
    listener(listener const&) = delete;
    listener& operator=(listener const&) = delete;
    ~listener();

    /// Adds the descriptors to wait for.
    void wait_for(std::vector<pollfd>& fds) const;
    /// Handles what is ready. @param fds what `wait_for` added, in its order
    void handle(std::span<pollfd const> fds);
    struct connection {
        descriptor fd;
        line_buffer in;
        std::string out;
        std::size_t sent = 0;
        bool wants_plans = true;
        bool is_ending = false; ///< it sends no more, and is over once it has its answers
        bool is_over = false;
    };
    /// Sends a plan to all connections that want plans. @param but except to this one
    void send_plans(std::string const& plans, connection const* but = nullptr);

  private:
    void accept();
    void read(connection& c);
    void write(connection& c);
    void say(connection& c, std::string const& text);
    void remove_closed();

    options const& options_;
    session& session_;
    descriptor fd_;
    std::list<connection> connections_;
    answers answers_;
};

} // namespace straggle_watch
