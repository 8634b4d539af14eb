// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "isolated.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

namespace cluster {

namespace {

struct child {
    std::size_t number;
    int from;
};

child begin(std::vector<measurement> const& all, std::size_t number, pid_t& id) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe for a simulation");
    std::fflush(nullptr);
    id = fork();
    if (id < 0) throw std::runtime_error("no process for a simulation");
    if (id == 0) {
        close(ends[0]);
        std::vector<double> const values = all[number]();
        auto const* at = reinterpret_cast<char const*>(values.data());
        for (std::size_t left = values.size() * sizeof(double); left > 0;) {
            ssize_t const n = write(ends[1], at, left);
            if (n <= 0) _exit(2);
            at += n;
            left -= static_cast<std::size_t>(n);
        }
        _exit(0); // skips the destructors of the simulator
    }
    close(ends[1]);
    return {number, ends[0]};
}

} // namespace

std::vector<std::vector<double>> run_isolated(std::vector<measurement> const& all, std::size_t workers) {
    std::vector<std::vector<double>> results(all.size());
    std::vector<child> running;
    std::vector<pid_t> ids;
    std::size_t next = 0;
    while (next < all.size() || !running.empty()) {
        while (next < all.size() && running.size() < workers) {
            pid_t id = 0;
            running.push_back(begin(all, next++, id));
            ids.push_back(id);
        }
        // The oldest one first: they take about as long as each other.
        child const c = running.front();
        std::string bytes;
        char part[4096];
        for (ssize_t n = 0; (n = read(c.from, part, sizeof part)) > 0;)
            bytes.append(part, static_cast<std::size_t>(n));
        close(c.from);
        int status = 0;
        waitpid(ids.front(), &status, 0);
        if (status != 0) throw std::runtime_error("simulation " + std::to_string(c.number) + " has died");
        auto& values = results[c.number];
        values.resize(bytes.size() / sizeof(double));
        for (std::size_t i = 0; i < values.size(); ++i)
            bytes.copy(reinterpret_cast<char*>(&values[i]), sizeof(double), i * sizeof(double));
        running.erase(running.begin());
        ids.erase(ids.begin());
    }
    return results;
}

} // namespace cluster
