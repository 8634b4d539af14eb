/* Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
   (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt) */

/* The library for C, without an engine: batches of 20 tasks on six nodes, of which one takes five times as long for
   nineteen minutes. */
#include "straggle_c.h"

#include <stdio.h>
#include <string.h>

static int failed = 0;
static void expect(int holds, const char *what) {
    if (!holds) {
        printf("FAIL %s\n", what);
        failed = 1;
    }
}

enum { NODES = 6, SLOW = 2, TASKS = 20, END = 1200 };

/* Returns how many batches end while the node is slow, with its exclusions obeyed or not. */
static int batches(int obeys) {
    struct straggle_watcher *s = straggle_new(NULL);
    char names[NODES][8], job[16] = "batch-0";
    struct straggle_node nodes[NODES];
    struct straggle_task running[NODES];
    int is_busy[NODES] = {0}, used = 0, ended = 0, others_out = 0, while_slow = 0;
    unsigned given = 0, batch = 0;
    double out_since = -1, healthy_at = -1, most = 0;
    for (int i = 0; i < NODES; ++i) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        nodes[i] = (struct straggle_node){.name = names[i], .slots = 1};
    }
    straggle_decide(s, 0, nodes, NODES, 0);
    expect(nodes[0].state == STRAGGLE_HEALTHY, "nothing is known: healthy");
    for (int tick = 1; tick <= 10 * (END + 300); ++tick) {
        double const now = tick * 0.1;
        int const is_slow = now > 60 && now < END;
        int busy = 0;
        for (int i = 0; i < NODES; ++i) {
            if (is_busy[i] && running[i].end <= now) {
                is_busy[i] = 0;
                ++ended;
                used += straggle_ended(s, &running[i], now);
            }
            busy += is_busy[i];
        }
        if (given == TASKS && busy == 0) {
            straggle_finish(s, job);
            snprintf(job, sizeof job, "batch-%u", ++batch);
            given = 0;
            while_slow += is_slow;
        }
        for (int i = 0; i < NODES && given < TASKS; ++i) {
            if (is_busy[i] || (obeys && nodes[i].state == STRAGGLE_EXCLUDED)) continue;
            double const takes = (1 + 0.1 * (given * 7 % 5)) * (is_slow && i == SLOW ? 5 : 1);
            running[i] = (struct straggle_task){.job = job, .task = given++, .node = names[i], .start = now, .end = now + takes};
            is_busy[i] = 1;
        }
        straggle_decide(s, now, nodes, NODES, TASKS - given);
        for (int i = 0; i < NODES; ++i)
            if (i != SLOW && nodes[i].state == STRAGGLE_EXCLUDED) others_out = 1;
        struct straggle_node const *n = &nodes[SLOW];
        if (n->state == STRAGGLE_EXCLUDED && out_since < 0) {
            out_since = now;
            expect(n->left > 0, "for a while");
            expect(strstr(n->reason, "times as long as elsewhere") != NULL, "with a reason in words");
        }
        if (n->state == STRAGGLE_ON_PROBATION) expect(n->probe_slots > 0, "probes have slots");
        if (n->state == STRAGGLE_EXCLUDED && n->slowdown > most) most = n->slowdown;
        if (now > END && healthy_at < 0 && n->state == STRAGGLE_HEALTHY) healthy_at = now;
    }
    expect(out_since > 60 && out_since < 120, "the slow node is out soon");
    expect(most > 4 && most < 7, "by a slowdown of about five");
    expect(!others_out, "no other node is");
    expect(!obeys || (healthy_at > END && healthy_at < END + 240), "it is back once it is well");
    expect(used == ended && ended > 500, "all tasks are used");
    straggle_free(s);
    return while_slow;
}

int main(void) {
    int const without = batches(0), with = batches(1);
    printf("%d batches while a node is slow, %d without\n", with, without);
    expect(with * 10 > without * 11, "batches are shorter by a tenth at least");

    struct straggle_options const few = {.share_of_slots = 0.1, .windows_per_error = 100, .longest_exclusion = 20};
    struct straggle_watcher *s = straggle_new(&few);
    struct straggle_task const backwards = {.job = "j", .task = 1, .node = "w0", .start = 9, .end = 8};
    expect(straggle_ended(s, &backwards, 9) == 0, "an end before its start is not used");
    straggle_decide(s, 10, NULL, 0, 0); /* no nodes */
    straggle_free(s);
    straggle_free(NULL);
    return failed;
}
