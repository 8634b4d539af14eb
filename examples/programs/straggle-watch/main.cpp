// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// straggle-watch: the mitigator as a process, for engines in any language.

#include "../common/run.hpp"
#include "file_input.hpp"
#include "listener.hpp"
#include "options.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <optional>
#include <vector>

#include <poll.h>
#include <sys/signalfd.h>

namespace straggle_watch {

using namespace program;

namespace {

descriptor take_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int const s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, s);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    for (int const s : {SIGPIPE, SIGXFSZ}) std::signal(s, SIG_IGN); // writes return their errors
    return descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

class program_loop {
  public:
    explicit program_loop(options const& o) : options_(o), signals_(take_signals()), session_(o) {
        if (!o.socket.empty())
            listener_.emplace(o, session_);
        else
            input_.emplace(o.follow, o, session_);
        if (input_) print(session_.hello());
    }

    void run() {
        while (!is_over_) {
            wait();
            if ((fds_[0].revents & POLLIN) != 0) handle_signal();
            if (listener_)
                listener_->handle(std::span(fds_).subspan(1));
            else
                read();
            answers_.clear();
            if (session_.tick(answers_)) say_plans();
        }
        session_.finish();
    }

  private:
    // A reader that is stuck must not prevent the end.
    static constexpr int last_wait_ms = 1000;
    // The growth of a file cannot be waited for: it is checked ten times a second.
    static constexpr int file_interval_ms = 100;

    void wait() {
        fds_.assign(1, {.fd = signals_.get(), .events = POLLIN, .revents = 0});
        if (listener_)
            listener_->wait_for(fds_);
        else if (options_.follow.empty())
            fds_.push_back({.fd = 0, .events = POLLIN, .revents = 0});
        int timeout = static_cast<int>(std::ceil(session_.next_tick() * 1000));
        if (!options_.follow.empty()) timeout = had_input_ ? 0 : (std::min)(timeout, file_interval_ms);
        if (::poll(fds_.data(), fds_.size(), timeout) < 0)
            for (pollfd& fd : fds_) fd.revents = 0;
    }
    void read() {
        if (options_.follow.empty() && fds_[1].revents == 0) return;
        answers_.clear();
        had_input_ = input_->read(answers_);
        print(answers_.reply);
        is_over_ = is_over_ || input_->is_over();
    }
    void print(std::string_view text) {
        while (!text.empty()) {
            std::array<pollfd, 2> fds{
                {{.fd = 1, .events = POLLOUT, .revents = 0},
                 {.fd = is_over_ ? -1 : signals_.get(), .events = POLLIN, .revents = 0}}};
            int const ready = ::poll(fds.data(), fds.size(), is_over_ ? last_wait_ms : -1);
            if (ready == 0) return;
            if (ready < 0 && errno == EINTR) continue;
            if (fds[1].revents != 0) handle_signal();
            if (fds[0].revents == 0) continue;
            ssize_t const n = ::write(1, text.data(), (std::min)(text.size(), std::size_t{PIPE_BUF}));
            if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (n <= 0) throw failure(exit_status::cannot_write, "standard output: " + last_fault());
            text.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    void say_plans() {
        if (listener_)
            listener_->send_plans(answers_.plans);
        else
            print(answers_.plans);
    }
    void handle_signal() {
        signalfd_siginfo what{};
        if (::read(signals_.get(), &what, sizeof what) != sizeof what) return;
        if (what.ssi_signo == SIGHUP)
            session_.reopen_log();
        else
            is_over_ = true;
    }

    options const& options_;
    descriptor signals_;
    session session_;
    std::optional<listener> listener_;
    std::optional<file_input> input_;
    std::vector<pollfd> fds_;
    answers answers_;
    bool is_over_ = false, had_input_ = false;
};

int main_of(int argc, char const* const* argv) {
    return program::run("straggle-watch", [&] {
        if (std::optional<options> const o = parse_command_line(argc, argv)) program_loop(*o).run();
        return static_cast<int>(exit_status::done);
    });
}

} // namespace
} // namespace straggle_watch

int main(int argc, char** argv) {
    return straggle_watch::main_of(argc, argv);
}
