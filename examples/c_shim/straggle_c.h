/* Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
   (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt) */

/* The library for C: report tasks as they end, ask now and then which nodes to avoid. Times are in seconds, on one clock.
   One thread at a time uses an object. Names are copied. Out of memory ends the program. */
#ifndef STRAGGLE_C_H
#define STRAGGLE_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum straggle_status { STRAGGLE_SUCCESS, STRAGGLE_FAILED, STRAGGLE_KILLED };
enum straggle_state {
    STRAGGLE_HEALTHY,      /* as usual */
    STRAGGLE_LAST_RESORT,  /* slow: use it if waiting would take longer */
    STRAGGLE_ON_PROBATION, /* at most `probe_slots` tasks at a time */
    STRAGGLE_EXCLUDED,     /* no new tasks */
    STRAGGLE_AWAY          /* absent */
};

struct straggle_task { /* one that ended */
    const char *job;   /* tasks that should take equally long: a batch, a route, a kind of task */
    uint64_t task;     /* its number within the job */
    const char *node;
    double start, end;
    enum straggle_status status;
};

struct straggle_node {
    const char *name;         /* in */
    uint32_t slots, busy;     /* in: how many tasks it runs at a time, and how many now */
    enum straggle_state state; /* out, as all that follows */
    uint32_t probe_slots;
    double left;     /* seconds that the state lasts at most, unless new evidence arrives */
    double slowdown; /* how many times as long tasks take there; 1: nothing is known */
    char reason[160]; /* in words */
};

struct straggle_options { /* 0 everywhere: the defaults */
    double share_of_slots;    /* the largest share of the slots that may be out */
    double windows_per_error; /* if no node is slow, at most one exclusion in this many windows; a window is about a task long */
    double longest_exclusion; /* in windows */
};

struct straggle_watcher;
struct straggle_watcher *straggle_new(const struct straggle_options *options); /* NULL: the defaults */
void straggle_free(struct straggle_watcher *s);                                /* NULL: nothing happens */

/* Reports a task that ended. Returns 1 if it is used; 0 if not, as for an end before its start. */
int straggle_ended(struct straggle_watcher *s, const struct straggle_task *task, double now);

/* Reports that all tasks of a job have ended. Without this, they are compared once the job has not been seen for long. */
void straggle_finish(struct straggle_watcher *s, const char *job);

/* Decides about all `count` nodes, of which each appears once, and writes their states. `waiting`: queued tasks. */
void straggle_decide(struct straggle_watcher *s, double now, struct straggle_node *nodes, size_t count,
                     uint64_t waiting);

#ifdef __cplusplus
}
#endif
#endif
