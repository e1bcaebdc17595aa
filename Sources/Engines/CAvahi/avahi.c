// The functions of libavahi-client, under their own names. The library and the nine that it brings are loaded when the first is called: who
// only asks the wire, or a daemon, does not wait for them, and needs none of them.
//
// Without the library avahi_client_new fails, and nothing else is called.

#include "CAvahi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static void *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) { library = dlopen("libavahi-client.so.3", RTLD_LAZY | RTLD_LOCAL); }

// What libavahi-client needs itself is found by it, too: libavahi-common.
static void *find(const char *name) {
    pthread_once(&once, load);
    return library ? dlsym(library, name) : NULL;
}

// Hidden: the library's own calls must not come here.
#define DEFINE(type, name, parameters) __attribute__((visibility("hidden"))) type name parameters
#define FIND(type, name, parameters)                                                                                                      \
    static type(*_Atomic known) parameters;                                                                                               \
    type(*function) parameters = atomic_load_explicit(&known, memory_order_relaxed);                                                      \
    if (!function) {                                                                                                                      \
        function = (type(*) parameters)find(#name);                                                                                       \
        atomic_store_explicit(&known, function, memory_order_relaxed);                                                                    \
    }

// What a function returns where the library is missing comes last.
#define FUNCTION(type, name, parameters, arguments, missing)                                                                              \
    DEFINE(type, name, parameters) {                                                                                                      \
        FIND(type, name, parameters)                                                                                                      \
        return function ? function arguments : (missing);                                                                                 \
    }
#define PROCEDURE(name, parameters, arguments)                                                                                            \
    DEFINE(void, name, parameters) {                                                                                                      \
        FIND(void, name, parameters)                                                                                                      \
        if (function) function arguments;                                                                                                 \
    }

bool cavahi_is_installed(void) {
    pthread_once(&once, load);
    return library;
}

// MARK: client.h

DEFINE(AvahiClient *, avahi_client_new,
       (const AvahiPoll *poll, AvahiClientFlags flags, AvahiClientCallback callback, void *userdata, int *error)) {
    FIND(AvahiClient *, avahi_client_new, (const AvahiPoll *, AvahiClientFlags, AvahiClientCallback, void *, int *))
    if (function) return function(poll, flags, callback, userdata, error);
    if (error) *error = AVAHI_ERR_NO_DAEMON;
    return NULL;
}
PROCEDURE(avahi_client_free, (AvahiClient * client), (client))
FUNCTION(int, avahi_client_errno, (AvahiClient * client), (client), AVAHI_ERR_NO_DAEMON)
FUNCTION(const char *, avahi_client_get_host_name_fqdn, (AvahiClient * client), (client), NULL)

// MARK: lookup.h

FUNCTION(AvahiRecordBrowser *, avahi_record_browser_new,
         (AvahiClient * client, AvahiIfIndex interface, AvahiProtocol protocol, const char *name, uint16_t class, uint16_t type,
          AvahiLookupFlags flags, AvahiRecordBrowserCallback callback, void *userdata),
         (client, interface, protocol, name, class, type, flags, callback, userdata), NULL)
FUNCTION(int, avahi_record_browser_free, (AvahiRecordBrowser * browser), (browser), AVAHI_ERR_NO_DAEMON)
FUNCTION(AvahiServiceResolver *, avahi_service_resolver_new,
         (AvahiClient * client, AvahiIfIndex interface, AvahiProtocol protocol, const char *name, const char *type,
          const char *domain, AvahiProtocol addresses, AvahiLookupFlags flags, AvahiServiceResolverCallback callback,
          void *userdata),
         (client, interface, protocol, name, type, domain, addresses, flags, callback, userdata), NULL)
FUNCTION(int, avahi_service_resolver_free, (AvahiServiceResolver * resolver), (resolver), AVAHI_ERR_NO_DAEMON)

// MARK: publish.h

FUNCTION(AvahiEntryGroup *, avahi_entry_group_new, (AvahiClient * client, AvahiEntryGroupCallback callback, void *userdata),
         (client, callback, userdata), NULL)
FUNCTION(int, avahi_entry_group_free, (AvahiEntryGroup * group), (group), AVAHI_ERR_NO_DAEMON)
FUNCTION(int, avahi_entry_group_commit, (AvahiEntryGroup * group), (group), AVAHI_ERR_NO_DAEMON)
FUNCTION(int, avahi_entry_group_reset, (AvahiEntryGroup * group), (group), AVAHI_ERR_NO_DAEMON)
FUNCTION(int, avahi_entry_group_add_service_strlst,
         (AvahiEntryGroup * group, AvahiIfIndex interface, AvahiProtocol protocol, AvahiPublishFlags flags, const char *name,
          const char *type, const char *domain, const char *host, uint16_t port, AvahiStringList *text),
         (group, interface, protocol, flags, name, type, domain, host, port, text), AVAHI_ERR_NO_DAEMON)
FUNCTION(int, avahi_entry_group_add_address,
         (AvahiEntryGroup * group, AvahiIfIndex interface, AvahiProtocol protocol, AvahiPublishFlags flags, const char *name,
          const AvahiAddress *address),
         (group, interface, protocol, flags, name, address), AVAHI_ERR_NO_DAEMON)
FUNCTION(int, avahi_entry_group_add_service_subtype,
         (AvahiEntryGroup * group, AvahiIfIndex interface, AvahiProtocol protocol, AvahiPublishFlags flags, const char *name,
          const char *type, const char *domain, const char *subtype),
         (group, interface, protocol, flags, name, type, domain, subtype), AVAHI_ERR_NO_DAEMON)
FUNCTION(int, avahi_entry_group_add_record,
         (AvahiEntryGroup * group, AvahiIfIndex interface, AvahiProtocol protocol, AvahiPublishFlags flags, const char *name,
          uint16_t class, uint16_t type, uint32_t ttl, const void *data, size_t size),
         (group, interface, protocol, flags, name, class, type, ttl, data, size), AVAHI_ERR_NO_DAEMON)
FUNCTION(int, avahi_entry_group_update_service_txt_strlst,
         (AvahiEntryGroup * group, AvahiIfIndex interface, AvahiProtocol protocol, AvahiPublishFlags flags, const char *name,
          const char *type, const char *domain, AvahiStringList *text),
         (group, interface, protocol, flags, name, type, domain, text), AVAHI_ERR_NO_DAEMON)

// MARK: libavahi-common

FUNCTION(const char *, avahi_strerror, (int error), (error), "libavahi-client.so.3 is not installed")
FUNCTION(AvahiStringList *, avahi_string_list_add_arbitrary, (AvahiStringList * list, const uint8_t *text, size_t size),
         (list, text, size), NULL)
FUNCTION(AvahiStringList *, avahi_string_list_get_next, (AvahiStringList * list), (list), NULL)
FUNCTION(uint8_t *, avahi_string_list_get_text, (AvahiStringList * list), (list), NULL)
FUNCTION(size_t, avahi_string_list_get_size, (AvahiStringList * list), (list), 0)
PROCEDURE(avahi_string_list_free, (AvahiStringList * list), (list))
