/* The commands that talk to a server, and the options each takes. The table of all commands names them. */
#ifndef CLI_CLIENT_COMMANDS_H
#define CLI_CLIENT_COMMANDS_H

#include "cli/command.h"

/* sessions.c */
extern const struct option *const sessions_list_tables[],
    *const sessions_show_tables[], *const sessions_explain_tables[], *const sessions_create_tables[],
                                                                         *const sessions_update_tables[],
                                                                             *const sessions_archive_tables[],
                                                                                 *const sessions_delete_tables[];
int command_sessions_list(const struct invocation *invocation);
int command_sessions_explain(const struct invocation *invocation);
int command_sessions_pause(const struct invocation *invocation);
int command_sessions_unpause(const struct invocation *invocation);
int command_sessions_interrupt(const struct invocation *invocation);
int command_sessions_stop(const struct invocation *invocation);
int command_sessions_reopen(const struct invocation *invocation);
int command_sessions_retry(const struct invocation *invocation);
int command_sessions_show(const struct invocation *invocation);
int command_sessions_create(const struct invocation *invocation);
int command_sessions_update(const struct invocation *invocation);
int command_sessions_archive(const struct invocation *invocation);
int command_sessions_unarchive(const struct invocation *invocation);
int command_sessions_delete(const struct invocation *invocation);

/* events.c */
extern const struct option *const sessions_events_tables[], *const events_append_tables[];
int command_sessions_events(const struct invocation *invocation);
int command_events_append(const struct invocation *invocation);

/* messages.c */
extern const struct option *const messages_send_tables[];
int command_messages_send(const struct invocation *invocation);
int command_messages_queue(const struct invocation *invocation);
int command_messages_withdraw(const struct invocation *invocation);

/* asks.c */
extern const struct option *const asks_list_tables[], *const asks_allow_tables[], *const asks_deny_tables[],
                                                                                      *const asks_answer_tables[];
int command_asks_list(const struct invocation *invocation);
int command_asks_allow(const struct invocation *invocation);
int command_asks_deny(const struct invocation *invocation);
int command_asks_answer(const struct invocation *invocation);

/* tail.c */
extern const struct option *const sessions_tail_tables[], *const events_tail_tables[];
int command_sessions_tail(const struct invocation *invocation);
int command_events_tail(const struct invocation *invocation);

/* chat.c */
extern const struct option *const chat_tables[];
int command_chat(const struct invocation *invocation);

/* export.c */
extern const struct option *const export_tables[];
int command_export(const struct invocation *invocation);

/* agents.c */
extern const struct option *const agents_list_tables[], *const agents_show_tables[], *const agents_remove_tables[];
int command_agents_list(const struct invocation *invocation);
int command_agents_show(const struct invocation *invocation);
int command_agents_push(const struct invocation *invocation);
int command_agents_remove(const struct invocation *invocation);

/* tasks.c */
extern const struct option *const tasks_list_tables[], *const tasks_run_tables[], *const tasks_remove_tables[];
int command_tasks_list(const struct invocation *invocation);
int command_tasks_show(const struct invocation *invocation);
int command_tasks_create(const struct invocation *invocation);
int command_tasks_update(const struct invocation *invocation);
int command_tasks_run(const struct invocation *invocation);
int command_tasks_remove(const struct invocation *invocation);

/* entities.c */
extern const struct option *const entities_list_tables[],
    *const entities_create_tables[], *const entities_update_tables[], *const entities_remove_tables[],
                                                                          *const entities_sessions_tables[];
int command_entities_list(const struct invocation *invocation);
int command_entities_show(const struct invocation *invocation);
int command_entities_create(const struct invocation *invocation);
int command_entities_update(const struct invocation *invocation);
int command_entities_remove(const struct invocation *invocation);
int command_entities_sessions(const struct invocation *invocation);

/* people.c */
extern const struct option *const plain_tables[],
    *const tokens_list_tables[], *const tokens_create_tables[], *const users_create_tables[],
                                                                    *const users_update_tables[],
                                                                        *const users_remove_tables[],
                                                                            *const tenants_create_tables[];
int command_queue(const struct invocation *invocation);
int command_whoami(const struct invocation *invocation);
int command_tokens_list(const struct invocation *invocation);
int command_tokens_create(const struct invocation *invocation);
int command_tokens_revoke(const struct invocation *invocation);
int command_users_list(const struct invocation *invocation);
int command_users_create(const struct invocation *invocation);
int command_users_update(const struct invocation *invocation);
int command_users_remove(const struct invocation *invocation);
int command_tenants_list(const struct invocation *invocation);
int command_tenants_create(const struct invocation *invocation);

#endif
