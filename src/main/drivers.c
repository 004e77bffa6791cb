#include "main/drivers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "main/tool_options.h"
#include "runner/acp/acp.h"
#include "runner/demo.h"
#include "runner/model/model.h"
#include "service/identity/secret.h"

struct drivers {
    char files_dir[4096];
    struct tool_settings tools;
    struct acp *acp;
    struct driver acp_driver;
    char gateway_url[512];  /* written once, before it is told */
    char unprotected[4096]; /* where agents without a sandbox work */
    struct provider_options provider;
    struct driver *model;
    struct script demo;
    struct driver demo_driver;
};

static void make_directory(char *path, size_t room, const char *data, const char *name)
{
    snprintf(path, room, "%s/%s", data, name);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        path[0] = '\0'; /* what needs it says so */
    }
}

static void add_model(struct drivers *drivers, const struct options *options)
{
    drivers->provider = (struct provider_options){
        .limits = options->provider,
    };
    provider_options_read_environment(&drivers->provider);
    if (options->secrets) {
        drivers->provider.secret = secrets_get;
        drivers->provider.secret_owner = options->secrets;
    }
    struct model_options model = {
        .provider = drivers->provider,
        .ca_file = options->ca_file,
        .tools = &drivers->tools,
        .files_dir = slice_of(drivers->files_dir),
        .limits = options->model,
    };
    tool_options(options, &drivers->tools);
    if (options->secrets) {
        drivers->tools.mask = secrets_mask;
        drivers->tools.mask_owner = options->secrets;
    }
    drivers->model = model_driver_new(&model);
}

static void add_acp(struct drivers *drivers, const struct options *options)
{
    struct acp_options acp = {
        .limits = options->acp,
        .directory = options->sandbox_unprotected ? drivers->unprotected : NULL,
    };
    if (options->secrets) {
        acp.secret = secrets_get;
        acp.secret_owner = options->secrets;
    }
    snprintf(drivers->unprotected, sizeof drivers->unprotected, "%s/unprotected", options->data);
    drivers->acp = acp_new(&acp);
    drivers->acp_driver = acp_driver(drivers->acp);
}

static void set_gateway(struct drivers *drivers, const char *url)
{
    if (url && drivers->gateway_url[0] == '\0') {
        size_t len = strlen(url);
        snprintf(drivers->gateway_url, sizeof drivers->gateway_url, "%.*s", (int)(len - (url[len - 1] == '/')), url);
        acp_set_gateway(drivers->acp, drivers->gateway_url);
    }
}

/* As far as it is known before anybody listens: turns may begin earlier. */
static void foresee_gateway(struct drivers *drivers, const struct options *options)
{
    char url[sizeof drivers->gateway_url];
    set_gateway(drivers, options->gateway_url ? options->gateway_url : options->public_url);
    for (size_t i = 0; i < options->listen.count; i++) {
        const char *address = options->listen.items[i], *port = strrchr(address, ':');
        if (strncmp(address, "unix:", 5) != 0 && port && strcmp(port, ":0") != 0) {
            snprintf(url, sizeof url, "%s://%s%s", options->tls_cert ? "https" : "http",
                     port == address ? "127.0.0.1" : "", address);
            set_gateway(drivers, url);
        }
    }
}

void drivers_listen(struct drivers *drivers, const char *address)
{
    if (strncmp(address, "http", 4) == 0) {
        set_gateway(drivers, address);
    }
}

struct drivers *drivers_new(const struct options *options)
{
    struct drivers *drivers = memory_zeroed(sizeof *drivers);
    make_directory(drivers->files_dir, sizeof drivers->files_dir, options->data, "files");
    add_model(drivers, options);
    add_acp(drivers, options);
    foresee_gateway(drivers, options);
    drivers->demo = demo_script;
    drivers->demo.pace_percent = options->demo_pace_percent;
    drivers->demo_driver = demo_driver(&drivers->demo);
    return drivers;
}

void drivers_free(struct drivers *drivers)
{
    if (drivers) {
        acp_free(drivers->acp);
        free(drivers);
    }
}

const struct provider_options *drivers_providers(const struct drivers *drivers)
{
    return &drivers->provider;
}

const struct driver *drivers_of(const struct drivers *drivers, enum agent_driver kind)
{
    const struct driver *const all[DRIVER_COUNT] = {
        [DRIVER_DEMO] = &drivers->demo_driver,
        [DRIVER_ACP] = &drivers->acp_driver,
        [DRIVER_MODEL] = drivers->model,
    };
    return all[kind];
}
