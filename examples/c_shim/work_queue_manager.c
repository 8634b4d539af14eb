/* Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
   (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt) */

/* A Work Queue manager that gives slow workers no tasks. Nothing but Work Queue's public functions: hosts and times of
   finished tasks go in, `work_queue_block_host_with_timeout` comes out.

     work_queue_manager none|fast-abort|straggle COMMAND <TASKS

   A line of TASKS is the number of a batch and an argument of the command: a task runs `COMMAND ARGUMENT`. A batch is
   submitted once the one before has ended. Prints the port first, and then the seconds that each batch took. */
#define _POSIX_C_SOURCE 200809L
#include "straggle_c.h"

#include <cctools/work_queue.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_HOSTS = 256 };

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct straggle_node hosts[MOST_HOSTS];
static int is_blocked[MOST_HOSTS];
static size_t host_count = 0;

static void know_host(const char *name) {
    for (size_t i = 0; i < host_count; ++i)
        if (strcmp(hosts[i].name, name) == 0) return;
    if (host_count == MOST_HOSTS) return;
    hosts[host_count++] = (struct straggle_node){.name = strdup(name), .slots = 1};
}

//! [ended]
static void report(struct straggle_watcher *s, const char *job, const struct work_queue_task *t) {
    double const end = 1e-6 * (double)t->time_when_retrieval;
    struct straggle_task const ended = {
        .job = job,
        .task = (uint64_t)t->taskid,
        .node = t->hostname,
        .start = end - 1e-6 * (double)t->time_workers_execute_last,
        .end = end,
        .status = t->result == WORK_QUEUE_RESULT_SUCCESS && t->return_status == 0 ? STRAGGLE_SUCCESS
                                                                                  : STRAGGLE_FAILED};
    know_host(t->hostname);
    straggle_ended(s, &ended, seconds_now());
}
//! [ended]

//! [obey]
/* A worker that is slow, or may be, does better with no task at the end of a batch, when all wait for its
   last one: on probation it is tried in the first half. A block is renewed with each decision, and ends a
   minute after the last. */
static void obey(struct straggle_watcher *s, struct work_queue *q, size_t tasks_of_batch) {
    struct work_queue_stats stats;
    work_queue_get_stats(q, &stats);
    uint64_t const waiting = stats.tasks_waiting > 0 ? (uint64_t)stats.tasks_waiting : 0;
    straggle_decide(s, seconds_now(), hosts, host_count, waiting);
    for (size_t i = 0; i < host_count; ++i) {
        struct straggle_node const *const h = &hosts[i];
        int const is_late = 2 * waiting < tasks_of_batch;
        int const blocks = h->state == STRAGGLE_EXCLUDED || (h->state != STRAGGLE_HEALTHY && is_late);
        if (blocks)
            work_queue_block_host_with_timeout(q, h->name, 60);
        else if (is_blocked[i])
            work_queue_unblock_host(q, h->name);
        if (blocks != is_blocked[i])
            fprintf(stderr, "%s %s: %s\n", blocks ? "block" : "unblock", h->name, h->reason);
        is_blocked[i] = blocks;
    }
}
//! [obey]

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: work_queue_manager none|fast-abort|straggle COMMAND <TASKS\n");
        return 2;
    }
    struct work_queue *const q = work_queue_create(0);
    if (q == NULL) return 1;
    printf("%d\n", work_queue_port(q));
    fflush(stdout);
    if (strcmp(argv[1], "fast-abort") == 0) work_queue_activate_fast_abort(q, 3);
    struct straggle_watcher *const s = strcmp(argv[1], "straggle") == 0 ? straggle_new(NULL) : NULL;

    char line[256], argument[128], job[24];
    long batch, next = -1;
    int has_line = fgets(line, sizeof line, stdin) != NULL;
    while (has_line) {
        size_t tasks = 0;
        double const began = seconds_now();
        for (batch = next; has_line; has_line = fgets(line, sizeof line, stdin) != NULL) {
            if (sscanf(line, "%ld %127s", &next, argument) != 2) return 2;
            if (tasks > 0 && next != batch) break;
            batch = next;
            char command[512];
            snprintf(command, sizeof command, "%s %s", argv[2], argument);
            work_queue_submit(q, work_queue_task_create(command));
            ++tasks;
        }
        snprintf(job, sizeof job, "%ld", batch);
        if (s != NULL) obey(s, q, tasks);
        while (!work_queue_empty(q)) {
            struct work_queue_task *const t = work_queue_wait(q, 1);
            if (t != NULL && s != NULL) report(s, job, t);
            if (t != NULL) work_queue_task_delete(t);
            if (s != NULL) obey(s, q, tasks);
        }
        if (s != NULL) straggle_finish(s, job);
        printf("%ld %.3f\n", batch, seconds_now() - began);
        fflush(stdout);
    }
    straggle_free(s);
    work_queue_delete(q);
    return 0;
}
