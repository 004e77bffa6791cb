#include "api/core/schema_internal.h"
#include "domain/run.h"

static const struct member entity_members[] = {
    {"id", "s", NULL},         {"type", "s", NULL},       {"fields", "o", NULL},     {"version", "i", NULL},
    {"created_at", "t", NULL}, {"updated_at", "t", NULL}, {"updated_by", "s", NULL}, {0}};
static const struct member entity_list_members[] = {
    {"entities", "[Entity", NULL}, {"has_more", "b", NULL}, {"next_cursor", "s?", NULL}, {0}};
static const struct member entity_session_members[] = {
    {"id", "s", NULL},
    {"type", "s", &session_type_enum},
    {"title", "s?", NULL},
    {"task_id", "s?", NULL},
    {"task_name", "s?", NULL},
    {"task_definition", "o?", NULL},
    {"status", "s", &session_status_enum},
    {"block_status", "s", NULL},
    {"started_at", "t?", NULL},
    {"completed_at", "t?", NULL},
    {"duration_ms", "i", NULL},
    {"parent_id", "s?", NULL},
    {"error_message", "s?", NULL},
    {"child_count", "i", NULL},
    {0},
};
static const struct member entity_sessions_members[] = {
    {"sessions", "[EntitySession", NULL}, {"has_more", "b", NULL}, {0}};
static const struct member step_members[] = {{"id", "s", NULL},        {"name", "s?", NULL},
                                             {"agent", "s-", NULL},    {"human", "b-", NULL},
                                             {"prompt", "s-", NULL},   {"depends_on", "l-", NULL},
                                             {"output", "o-", NULL},   {"requires_approval", "b", NULL},
                                             {"criteria", "x-", NULL}, {0}};
static const struct member task_members[] = {
    {"id", "s", NULL},         {"name", "s", NULL},       {"description", "s?", NULL},
    {"version", "i", NULL},    {"steps", "[Step", NULL},  {"created_at", "t", NULL},
    {"updated_at", "t", NULL}, {"updated_by", "s", NULL}, {0}};
static const struct member task_list_members[] = {
    {"tasks", "[Task", NULL}, {"has_more", "b", NULL}, {"next_cursor", "s?", NULL}, {0}};
static const struct member task_run_members[] = {{"session", "@Session", NULL}, {"steps", "[StartedStep", NULL}, {0}};
static const struct member started_step_members[] = {
    {"step", "s", NULL}, {"session_id", "s", NULL}, {"status", "s", &session_status_enum}, {0}};
static const struct member run_members[] = {
    {"id", "s", NULL},
    {"session_id", "s", NULL},
    {"status", "s", &run_status_enum},
    {"outcome", "s?", NULL},
    {"summary", "s?", NULL},
    {"completion_id", "s?", NULL},
    {"created_at", "t", NULL},
    {"started_at", "t?", NULL},
    {"ended_at", "t?", NULL},
    {0},
};
static const struct member run_list_members[] = {
    {"runs", "[Run", NULL}, {"has_more", "b", NULL}, {"next_before", "s?", NULL}, {0}};

const struct schema work_schemas[] = {
    {"Entity", entity_members},
    {"EntityList", entity_list_members},
    {"EntitySession", entity_session_members},
    {"EntitySessions", entity_sessions_members},
    {"Task", task_members},
    {"Step", step_members},
    {"TaskList", task_list_members},
    {"TaskRun", task_run_members},
    {"StartedStep", started_step_members},
    {"Run", run_members},
    {"RunList", run_list_members},
    {0},
};
