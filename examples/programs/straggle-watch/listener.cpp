// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "listener.hpp"

#include <cstdio>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

namespace straggle_watch {

namespace {

using program::exit_status;
using program::failure;

// Makes room for the socket: removes that of a process that has ended, and nothing else.
void remove_stale(std::string const& path, sockaddr_un const& address) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) return;
    if (!S_ISSOCK(found.st_mode)) throw failure(exit_status::usage, path + ": is there and no socket");
    descriptor const probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0)
        throw failure(exit_status::bad_input, path + ": another process listens there");
    ::unlink(path.c_str());
}

} // namespace

listener::listener(options const& o, session& to) : options_(o), session_(to) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (o.socket.size() >= sizeof address.sun_path)
        throw failure(exit_status::usage, o.socket + ": longer than the path of a socket may be");
    std::memcpy(address.sun_path, o.socket.data(), o.socket.size());
    remove_stale(o.socket, address);
    fd_ = descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_.is_open()) throw cannot_open(o.socket);
    mode_t const before = ::umask(0177); // 0600 from the first moment on
    int const bound = ::bind(fd_.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address);
    ::umask(before);
    if (bound != 0 || ::listen(fd_.get(), 16) != 0) throw cannot_open(o.socket);
}

listener::~listener() {
    ::unlink(options_.socket.c_str());
}

void listener::wait_for(std::vector<pollfd>& fds) const {
    bool const has_room = connections_.size() < options_.most_connections;
    fds.push_back({.fd = fd_.get(), .events = has_room ? short{POLLIN} : short{0}, .revents = 0});
    for (connection const& c : connections_) {
        // Does not read from a connection that does not read its answers.
        bool const is_behind = c.out.size() - c.sent > options_.waiting_output / 2;
        int const events = (is_behind || c.is_ending ? 0 : POLLIN) | (c.sent < c.out.size() ? POLLOUT : 0);
        fds.push_back({.fd = c.fd.get(), .events = static_cast<short>(events), .revents = 0});
    }
}

void listener::handle(std::span<pollfd const> fds) {
    std::size_t i = 1;
    for (connection& c : connections_) {
        int const what = fds[i++].revents;
        if ((what & POLLOUT) != 0) write(c);
        if (c.is_ending)
            c.is_over = c.is_over || (what & (POLLHUP | POLLERR)) != 0;
        else if ((what & (POLLIN | POLLHUP | POLLERR)) != 0 && !c.is_over)
            read(c);
    }
    remove_closed();
    if ((fds[0].revents & POLLIN) != 0) accept();
}

void listener::accept() {
    descriptor fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.is_open()) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid()) {
        ++session_.refused;
        std::fprintf(stderr, "straggle-watch: %s: refused user %lu\n", options_.socket.c_str(),
                     static_cast<unsigned long>(peer.uid));
        return;
    }
    connections_.push_back(
        {std::move(fd), line_buffer(options_.watch.longest_line), "", 0, true, false, false});
    session_.connections = connections_.size();
    say(connections_.back(), session_.hello());
}

void listener::read(connection& c) {
    char* const to = c.in.room();
    ssize_t const n = ::recv(c.fd.get(), to, line_buffer::block, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    auto const take = [&](journal_entry const& entry) {
        answers_.clear();
        answers_.wants_plans = c.wants_plans;
        std::uint64_t const lines = session_.take(entry, answers_);
        c.wants_plans = answers_.wants_plans;
        say(c, answers_.reply);
        send_plans(answers_.plans, &c);
        return lines;
    };
    auto const lines = [&](std::string_view block, std::uint64_t first) {
        return take({.first_line = first, .position = session_.position(), .text = block});
    };
    if (n <= 0) {
        c.in.take_rest(lines);
        c.wants_plans = false;
        c.is_ending = true;
        c.is_over = c.is_over || n < 0 || c.out.empty();
        return;
    }
    c.in.filled(static_cast<std::size_t>(n));
    c.in.take(lines, [&](std::uint64_t line) {
        take({.is = journal_entry::kind::too_long, .first_line = line, .position = session_.position()});
    });
}

void listener::say(connection& c, std::string const& text) {
    if (text.empty() || c.is_over) return;
    if (c.out.size() - c.sent + text.size() > options_.waiting_output) {
        c.is_over = true;
        ++session_.dropped;
        return;
    }
    if (c.sent != 0) c.out.erase(0, c.sent);
    c.sent = 0;
    c.out += text;
    write(c);
}

void listener::write(connection& c) {
    while (c.sent < c.out.size()) {
        ssize_t const n = ::send(c.fd.get(), c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n < 0) {
            c.is_over = true;
            return;
        }
        c.sent += static_cast<std::size_t>(n);
    }
    c.out.clear();
    c.sent = 0;
    c.is_over = c.is_over || c.is_ending;
}

void listener::send_plans(std::string const& plans, connection const* but) {
    for (connection& c : connections_)
        if (c.wants_plans && &c != but) say(c, plans);
}

void listener::remove_closed() {
    connections_.remove_if([](connection const& c) { return c.is_over; });
    session_.connections = connections_.size();
}

} // namespace straggle_watch
