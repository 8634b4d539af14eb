// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "attempt.hpp"

#include <algorithm>
#include <utility>

namespace cluster {

namespace s4u = simgrid::s4u;

attempt::attempt(plan const& what, task_spec const& work, machine const& on, machine const& from,
                 attempt_record const& who)
    : who_(who),
      interval_(what.report_interval),
      next_report_(who.start + what.report_interval),
      told_at_(who.start) {
    node_spec const& usual = what.nodes.front();
    share_[reading] = work.read / usual.disk;
    share_[fetching] = work.fetch / usual.network;
    share_[computing] = work.flops / usual.speed;
    share_[writing] = work.write / usual.disk;
    double const sum = share_[0] + share_[1] + share_[2] + share_[3];
    for (double& s : share_) s /= sum;
    actor_ = s4u::Actor::create(
        "attempt", on.host, [this, work, on, from, launch = what.launch, from_disk = what.shuffle_from_disk] {
            this->work(work, on, from, launch, from_disk);
        });
}

void attempt::work(task_spec const& todo, machine const& on, machine const& from, double launch,
                   bool from_disk) {
    s4u::this_actor::sleep_for(launch);
    auto const run = [this](s4u::ActivityPtr const& activity, double size) {
        size_ = size;
        activity_ = activity;
        activity->start();
        activity->wait();
        activity_ = nullptr;
    };
    auto const bytes = [](double b) { return static_cast<sg_size_t>(b); };
    part_ = reading;
    if (todo.read >= 1) run(on.disk->io_init(bytes(todo.read), s4u::Io::OpType::READ), todo.read);
    part_ = fetching;
    if (todo.fetch >= 1 && from.host != on.host) {
        s4u::CommPtr sent = s4u::Comm::sendto_init(from.host, on.host)->set_payload_size(bytes(todo.fetch));
        if (from_disk) { // sent while it is read: over when both are
            sent_ = std::move(sent);
            sent_->start();
            run(from.disk->io_init(bytes(todo.fetch), s4u::Io::OpType::READ), todo.fetch);
            sent_->wait();
            sent_ = nullptr;
        } else {
            run(sent, todo.fetch);
        }
    }
    part_ = computing;
    if (todo.flops >= 1) {
        s4u::ExecPtr const exec = s4u::this_actor::exec_init(todo.flops);
        run(exec, todo.flops);
    }
    part_ = writing;
    if (todo.write >= 1) run(on.disk->io_init(bytes(todo.write), s4u::Io::OpType::WRITE), todo.write);
    part_ = parts;
    over_ = true;
    end_ = s4u::Engine::get_clock();
}

double attempt::progress() const {
    double done = 0;
    for (std::size_t p = 0; p < std::min<std::size_t>(part_, parts); ++p) done += share_[p];
    if (part_ < parts && activity_ && size_ > 0)
        done += share_[part_] * std::clamp(1 - activity_->get_remaining() / size_, 0.0, 1.0);
    return std::min(done, 1.0);
}

double attempt::reported(double now) {
    if (now >= next_report_) {
        told_ = progress();
        told_at_ = now;
        while (next_report_ <= now) next_report_ += interval_;
    }
    return told_;
}

void attempt::kill() {
    if (over_) return;
    if (sent_) sent_->cancel();
    actor_->kill();
    sent_ = nullptr;
    activity_ = nullptr;
}

} // namespace cluster
