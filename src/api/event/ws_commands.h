/* What a viewer says over its WebSocket: prompts, answers to what the session asks, abort, ping.
 *
 *     {"type":"prompt","id":1,"content":"…"}      (mode, thread_id, attachments, metadata, clear_queue)
 *     {"type":"result","id":1,"ok":true,"receipt":{…}}
 *     {"type":"abort","id":1} → turn, requested;  {"type":"ping"} → {"type":"pong"}
 *     {"type":"answer","id":1,"ask_id":"…","decision":"once"}   (or "answer", "reason"; "questionId" for "ask_id")
 *     {"type":"result","id":1,"ok":true,"ask":{…}}  or  {"type":"result","id":1,"ok":false,"error":{…}}
 *
 * A message holds what the body of the same command holds over HTTP and nothing else; every one but ping has a result,
 * also one that can't be read, and one of an unknown type (`unknown_message`).
 *
 * Loop thread; what is said is a command on the writer, like any other. */
#ifndef API_WS_COMMANDS_H
#define API_WS_COMMANDS_H

#include "api/core/request.h"

struct ws_commands;

/* Takes a copy of who speaks. `reply` gets whole WebSocket frames, on the loop, never after speaker_close. */
struct ws_commands *ws_commands_new(struct api *api, struct loop *loop, const struct principal *who,
                                    struct slice session_id, void *owner,
                                    void (*reply)(void *owner, struct slice frame));
/* One text message. */
void ws_commands_hear(struct ws_commands *speaker, struct slice text);
/* The connection is gone; what is under way is still done. Accepts NULL. */
void ws_commands_close(struct ws_commands *speaker);

#endif
