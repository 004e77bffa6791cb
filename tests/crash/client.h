/* A person: sends three messages to a session, approves what its agent asks, resumes what was cut, and remembers what
 * he was told. A message whose answer he did not get he sends again, with the same key. */
#ifndef TESTS_CRASH_CLIENT_H
#define TESTS_CRASH_CLIENT_H

#include "world.h"

enum { MESSAGES = 3, ANSWERS_MAX = 32, NAME_BYTES = 64 };

/* How a message is sent: in a mode of the queue, or only into the log. */
enum manner { BY_FOLLOWUP, BY_STEER, BY_COLLECT, BY_REJECT, BY_APPEND, MANNER_COUNT };
extern const char *const manner_names[MANNER_COUNT];

/* When a message is sent. */
enum tempo {
    AT_ONCE,     /* all together: they may share a transaction */
    ONE_BY_ONE,  /* when the one before was answered */
    WHEN_ASKED,  /* while the turn of an earlier one waits for a person, or when there is none */
    WHEN_RESTED, /* when nothing is left to do */
    TEMPO_COUNT
};
extern const char *const tempo_names[TEMPO_COUNT];

struct script {
    enum manner manners[MESSAGES];
    enum tempo tempo;
    enum resume_policy policy; /* of the agent; its word is the session's id */
};

enum told { TOLD_NOTHING, TOLD_ACCEPTED, TOLD_REFUSED };

struct message {
    struct command command; /* first */
    struct client *client;
    int number;
    bool under_way;
    enum told told;
    char name[NAME_BYTES]; /* once accepted: of its prompt; empty when it was appended */
};

struct decision {
    struct command command; /* first */
    struct client *client;
    bool under_way;
    char ask[NAME_BYTES];
};

struct client {
    const struct script *script;
    struct world *world;
    struct message messages[MESSAGES];
    struct decision answer, resume;
    char answered[ANSWERS_MAX][NAME_BYTES]; /* asks whose answer was acknowledged */
    size_t answered_count;
    int64_t told; /* how often he was told something */
    bool nothing_to_resume;
};

void client_init(struct client *client, const struct script *script, struct world *world);
/* The server died and lives again: what was under way was not answered. */
void client_begin_again(struct client *client, struct world *world);

enum act {
    ACT_NOTHING, /* he waits */
    ACT_SOMETHING,
    ACT_DONE, /* all is sent, and the session is at rest */
};
/* What he does now; `quiet` says that nothing happens by itself. */
enum act client_act(struct client *client, bool quiet);

struct slice client_session(const struct client *client);

#endif
