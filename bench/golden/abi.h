/* What the public headers declare. Every line is a promise; ci/header.sh compares, its --write adds. */
#include <stddef.h>
#include <stdint.h>
#define CREW_ACCOUNT_INIT { (uint32_t)sizeof(crew_account), 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_ALREADY_BOOTED 52
#define CREW_ALREADY_SEALED 53
#define CREW_BAD_BUDGET 49
#define CREW_BAD_CAPACITY 47
#define CREW_BAD_FLAGS 55
#define CREW_BAD_HANDLE 42
#define CREW_BAD_PORT 50
#define CREW_BAD_PRIORITY 45
#define CREW_BAD_ROLE 43
#define CREW_BAD_ROSTER 48
#define CREW_BAD_SIZE 41
#define CREW_BAD_STACK 46
#define CREW_BAD_TEXT 44
#define CREW_BAD_VALUE 56
#define CREW_BOOT_OPTIONS_INIT { (uint32_t)sizeof(crew_boot_options), 0, NULL, NULL }
#define CREW_BUSY 22
#define CREW_CHOICE_CREATE 2
#define CREW_CHOICE_REJECT 4
#define CREW_CHOICE_REUSE 1
#define CREW_CHOICE_WAIT 3
#define CREW_FLEET_ALIVE 109
#define CREW_FLEET_ANY_NODE 4294967295
#define CREW_FLEET_BAD_GEOMETRY 121
#define CREW_FLEET_BUDGET_SPENT 105
#define CREW_FLEET_CHOICE_INIT { (uint32_t)sizeof(crew_fleet_choice), CREW_CHOICE_WAIT, { 0 }, 0 }
#define CREW_FLEET_CORRUPT 127
#define CREW_FLEET_DRAINING 100
#define CREW_FLEET_FULL 102
#define CREW_FLEET_GEOMETRY_INIT { (uint32_t)sizeof(crew_fleet_geometry), 1, 16, 64, 256, 64 }
#define CREW_FLEET_KEY_TABLE_FULL 103
#define CREW_FLEET_LIFE_ENDED 108
#define CREW_FLEET_LIMITS_INIT { (uint32_t)sizeof(crew_fleet_limits), 1, 4 }
#define CREW_FLEET_LOST_RACE 112
#define CREW_FLEET_NOT_A_TABLE 123
#define CREW_FLEET_NOT_OWNER 120
#define CREW_FLEET_NOT_RESERVED 101
#define CREW_FLEET_NO_LANE 106
#define CREW_FLEET_NO_MORE_LIVES 107
#define CREW_FLEET_OPTIONS_INIT { (uint32_t)sizeof(crew_fleet_options), CREW_FLEET_ANY_NODE, NULL, NULL, 0, NULL, NULL, 0 }
#define CREW_FLEET_OTHER_BYTE_ORDER 124
#define CREW_FLEET_OTHER_GEOMETRY 126
#define CREW_FLEET_OTHER_VERSION 125
#define CREW_FLEET_PLAN_INIT { (uint32_t)sizeof(crew_fleet_plan), 0, { { 0 }, 0, { 0, 0 } }, { 0 }, 0, 0 }
#define CREW_FLEET_RESETTING 110
#define CREW_FLEET_SYSTEM 113
#define CREW_FLEET_TOO_MANY_EXECUTIONS 104
#define CREW_FLEET_TOO_SMALL 122
#define CREW_FLEET_VIEW_INIT { (uint32_t)sizeof(crew_fleet_view), 0, { 0 }, { 0, 0 }, 0, 0 }
#define CREW_FLEET_WAS_RESET 111
#define CREW_HOLD_FREE 0
#define CREW_HOLD_HELD 1
#define CREW_HOLD_UNKNOWN 2
#define CREW_JOBS_PER_WORKER 2
#define CREW_JOB_DIED 2
#define CREW_JOB_FAILED 1
#define CREW_JOB_NOT_RUN 3
#define CREW_JOB_RETURNED 0
#define CREW_LABEL_BYTES 24
#define CREW_MAX_CHARGES 64
#define CREW_MAX_EVENTS (CREW_MAX_WORKERS * (1 + CREW_JOBS_PER_WORKER) + 2 * CREW_MAX_WAITERS + 4)
#define CREW_MAX_FLEETS 4
#define CREW_MAX_POOLS 8
#define CREW_MAX_ROLES 8
#define CREW_MAX_SETS 256
#define CREW_MAX_WAITERS 32
#define CREW_MAX_WORKERS 768
#define CREW_NAME_BYTES 16
#define CREW_NOT_BOOTED 51
#define CREW_NOT_RUN 21
#define CREW_NO_JOB_CELL 25
#define CREW_NULL_ARGUMENT 40
#define CREW_OK 0
#define CREW_PLAN_CREATE 3
#define CREW_PLAN_LOCAL_REUSE 1
#define CREW_PLAN_REJECT 5
#define CREW_PLAN_REMOTE_REUSE 2
#define CREW_PLAN_WAIT 4
#define CREW_POOL_OPTIONS_INIT { (uint32_t)sizeof(crew_pool_options), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_POOL_ROLE_NAMES 1
#define CREW_PRIORITY_MAX 99
#define CREW_REFUSAL_INIT { (uint32_t)sizeof(crew_refusal), 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_REFUSAL_KINDS 16
#define CREW_REFUSED_AT_CAPACITY 1
#define CREW_REFUSED_OBJECTS_EXHAUSTED 4
#define CREW_REFUSED_OUT_OF_RESERVATION 2
#define CREW_REFUSED_PEER_LIMIT 6
#define CREW_REFUSED_SEALED 8
#define CREW_REFUSED_SHUTTING_DOWN 5
#define CREW_REFUSED_SPAWN_FAILED 3
#define CREW_REFUSED_TARGET_MEMORY 7
#define CREW_REFUSED_TOO_MANY_WAITERS 9
#define CREW_RESOURCE_TEXT_BYTES 25
#define CREW_RESULT_INIT { (uint32_t)sizeof(crew_result), 0, 0 }
#define CREW_RETIRED 24
#define CREW_SEVERITY_INFO 0
#define CREW_SEVERITY_MAJOR 2
#define CREW_SEVERITY_MINOR 1
#define CREW_STACK_MAX 1073741824
#define CREW_STACK_MIN 4096
#define CREW_STALE 23
#define CREW_TABLE_FULL 54
#define CREW_TARGET_HOST 0
#define CREW_TARGET_RTEMS 1
#define CREW_TARGET_VXWORKS 2
#define CREW_TEXT_BYTES 128
#define CREW_TIMED_OUT 20
#define CREW_USAGE_INIT { (uint32_t)sizeof(crew_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 } }
#define CREW_VERDICT_CLAMPED 2
#define CREW_VERDICT_CONFIRMED 1
#define CREW_VERDICT_FLOOR_HELD 4
#define CREW_VERDICT_UNBOUNDED 0
#define CREW_VERDICT_UNVERIFIABLE 3
#define CREW_WORK_RUN 0
#define CREW_WORK_STOP 2
#define CREW_WORK_WAIT 1
typedef struct crew_thread_spec { const char *name; uint32_t stack_bytes; uint32_t priority; uint32_t worker; } crew_thread_spec;
typedef struct crew_event { uint32_t word; uint32_t crew_private; void *object; } crew_event;
typedef struct crew_port { uint32_t size; uint32_t target; size_t thread_overhead_bytes; void *context; int32_t (*thread_create)(void *context, const struct crew_thread_spec *spec, size_t *thread); int32_t (*thread_reap)(void *context, size_t thread); int32_t (*thread_suspended)(void *context, size_t thread); int32_t (*event_create)(void *context, struct crew_event *event); int32_t (*event_wait)(void *context, struct crew_event *event, uint32_t timeout_ms); void (*event_post)(void *context, struct crew_event *event); uint64_t (*clock_ms)(void *context); int32_t (*memory_has)(void *context, size_t bytes, const char **basis); size_t (*stack_used)(void *context, size_t thread); void (*log)(void *context, int32_t severity, const char *text); } crew_port;
typedef struct crew_boot_options { uint32_t size; uint32_t budget_mib; const char *budget_text; const struct crew_port *port; } crew_boot_options;
typedef struct crew_charge_handle { uint64_t bits; } crew_charge_handle;
typedef struct crew_account { uint32_t size; uint32_t verdict; uint64_t budget_bytes; uint64_t asked_bytes; uint64_t held_bytes; uint64_t high_water_bytes; uint64_t fixed_bytes; uint32_t refusals; uint32_t charges; } crew_account;
typedef void (*crew_sink)(void *context, const char *line);
typedef int32_t (*crew_function)(void *argument);
typedef struct crew_work { crew_function function; void *argument; struct crew_event *event; uint32_t wait_ms; } crew_work;
const char *crew_status_text(int32_t status);
int32_t crew_status_errno(int32_t status);
int32_t crew_boot(const struct crew_boot_options *options);
int32_t crew_seal(void);
int32_t crew_budget_parse(const char *text, uint32_t *mib);
int32_t crew_charge(uint64_t bytes, struct crew_charge_handle *charge);
int32_t crew_uncharge(struct crew_charge_handle charge);
int32_t crew_account_usage(struct crew_account *usage);
int32_t crew_report(uint32_t level, crew_sink sink, void *context);
int32_t crew_worker_next(uint32_t worker, struct crew_work *work);
void crew_worker_done(uint32_t worker, int32_t outcome, int32_t value);
void crew_worker_exited(uint32_t worker);
typedef struct crew_role { const char *name; uint32_t stack_bytes; uint32_t priority; } crew_role;
typedef struct crew_pool_options { uint32_t size; uint32_t flags; const char *name; const struct crew_role *roles; uint32_t role_count; uint32_t capacity; uint32_t prestart; uint32_t keep; uint32_t idle_age_s; uint32_t busy_age_s; uint32_t per_peer; uint32_t reserved; uint64_t extra_bytes; } crew_pool_options;
typedef struct crew_pool { uint64_t bits; } crew_pool;
typedef struct crew_refusal { uint32_t size; int32_t kind; uint32_t capacity; uint32_t role; int32_t os_error; uint32_t objects; uint64_t bytes_requested; uint64_t bytes_held; uint64_t bytes_budget; } crew_refusal;
typedef struct crew_lease { uint64_t bits; } crew_lease;
typedef struct crew_job { uint64_t bits; } crew_job;
typedef struct crew_result { uint32_t size; int32_t outcome; int32_t value; } crew_result;
typedef struct crew_usage { uint32_t size; uint32_t capacity; uint32_t created; uint32_t busy; uint32_t idle; uint32_t waiting; uint32_t created_high_water; uint32_t busy_high_water; uint32_t leases; uint32_t threads_created; uint32_t retirements; uint32_t suspended; uint32_t overdue; uint32_t oldest_busy_s; uint32_t refused[16]; uint32_t stack_used[8]; } crew_usage;
int32_t crew_pool_open(const struct crew_pool_options *options, struct crew_pool *pool);
int32_t crew_pool_trim(struct crew_pool pool, uint32_t keep);
int32_t crew_pool_close(struct crew_pool pool, uint32_t timeout_ms);
int32_t crew_refusal_errno(const struct crew_refusal *refusal);
int32_t crew_acquire(struct crew_pool pool, uint32_t timeout_ms, struct crew_lease *lease, struct crew_refusal *refusal);
int32_t crew_acquire_peer(struct crew_pool pool, uint64_t peer, uint32_t timeout_ms, struct crew_lease *lease, struct crew_refusal *refusal);
int32_t crew_release(struct crew_lease lease);
int32_t crew_lease_thread(struct crew_lease lease, uint32_t role, size_t *thread);
int32_t crew_run(struct crew_lease lease, uint32_t role, const char *label, crew_function function, void *argument, struct crew_job *job);
int32_t crew_join(struct crew_job job, uint32_t timeout_ms, struct crew_result *result);
int32_t crew_detach(struct crew_job job);
int32_t crew_pool_usage(struct crew_pool pool, struct crew_usage *usage);
typedef struct crew_fleet_geometry { uint32_t size; uint32_t kind; uint32_t nodes; uint32_t resources; uint32_t executions; uint32_t keys; } crew_fleet_geometry;
typedef struct crew_fleet_port { uint32_t size; void *context; int32_t (*hold)(void *context, uint32_t node); void (*let_go)(void *context, uint32_t node); int32_t (*look)(void *context, uint32_t node); uint32_t (*clock_ms)(void *context); int32_t (*wait)(void *context, uint32_t *word, uint32_t value, uint32_t timeout_ms); void (*wake)(void *context, uint32_t *word); } crew_fleet_port;
typedef struct crew_fleet_options { uint32_t size; uint32_t node; const struct crew_fleet_geometry *geometry; uint32_t *memory; size_t bytes; const struct crew_fleet_port *port; const char *name; uint32_t process; } crew_fleet_options;
typedef struct crew_fleet { uint64_t bits; } crew_fleet;
typedef struct crew_life { uint32_t node; uint32_t incarnation; } crew_life;
typedef struct crew_key { uint64_t low; uint64_t high; } crew_key;
typedef struct crew_resource { uint64_t bits; } crew_resource;
typedef struct crew_candidate { struct crew_resource resource; struct crew_life owner; uint32_t local; uint32_t draining; uint32_t capacity; uint32_t reserved; uint32_t active; uint32_t free; uint32_t reserved_at_ms; } crew_candidate;
typedef struct crew_fleet_lease { struct crew_resource resource; uint64_t fence; struct crew_life holder; } crew_fleet_lease;
typedef struct crew_execution { uint64_t bits; } crew_execution;
typedef struct crew_reconciled { uint32_t aged; uint32_t active; } crew_reconciled;
typedef struct crew_permit { uint64_t bits; } crew_permit;
typedef struct crew_key_budget { uint32_t live; uint32_t creating; } crew_key_budget;
typedef struct crew_fleet_limits { uint32_t size; uint32_t max_live; uint32_t attempts; } crew_fleet_limits;
typedef struct crew_fleet_view { uint32_t size; uint32_t max_live; struct crew_fleet fleet; struct crew_key key; uint32_t version; uint32_t attempt; } crew_fleet_view;
typedef struct crew_fleet_choice { uint32_t size; uint32_t kind; struct crew_resource resource; uint32_t reason; } crew_fleet_choice;
typedef struct crew_fleet_plan { uint32_t size; uint32_t kind; struct crew_fleet_lease lease; struct crew_permit permit; uint32_t version; uint32_t reason; } crew_fleet_plan;
typedef struct crew_swept { uint32_t lives; uint32_t cells; } crew_swept;
int32_t crew_fleet_bytes(const struct crew_fleet_geometry *geometry, size_t *bytes);
int32_t crew_fleet_geometry_of(const uint32_t *memory, size_t bytes, struct crew_fleet_geometry *geometry);
int32_t crew_fleet_join(const struct crew_fleet_options *options, struct crew_fleet *fleet);
int32_t crew_fleet_leave(struct crew_fleet fleet);
int32_t crew_fleet_life(struct crew_fleet fleet, struct crew_life *life);
int32_t crew_fleet_register(struct crew_fleet fleet, struct crew_key key, uint32_t capacity, struct crew_resource *resource);
int32_t crew_fleet_unregister(struct crew_fleet fleet, struct crew_resource resource);
int32_t crew_fleet_drain(struct crew_fleet fleet, struct crew_resource resource);
int32_t crew_fleet_candidates(struct crew_fleet fleet, struct crew_key key, struct crew_candidate *buffer, uint32_t room, uint32_t *count);
int32_t crew_fleet_reserve(struct crew_fleet fleet, struct crew_resource resource, struct crew_fleet_lease *lease);
int32_t crew_fleet_is_current(struct crew_fleet fleet, const struct crew_fleet_lease *lease);
int32_t crew_fleet_accept(struct crew_fleet fleet, const struct crew_fleet_lease *lease, struct crew_execution *execution);
int32_t crew_fleet_complete(struct crew_fleet fleet, struct crew_execution execution);
int32_t crew_fleet_active(struct crew_fleet fleet, struct crew_resource resource, uint32_t *active);
int32_t crew_fleet_reconcile(struct crew_fleet fleet, struct crew_resource resource, uint32_t active_then, uint32_t active_now, uint32_t grace_ms, struct crew_reconciled *result);
int32_t crew_fleet_claim(struct crew_fleet fleet, struct crew_key key, uint32_t max_live, struct crew_permit *permit);
int32_t crew_fleet_finish(struct crew_fleet fleet, struct crew_permit permit);
int32_t crew_fleet_budget(struct crew_fleet fleet, struct crew_key key, struct crew_key_budget *budget);
int32_t crew_fleet_version(struct crew_fleet fleet, struct crew_key key, uint32_t *version);
int32_t crew_fleet_wait(struct crew_fleet fleet, struct crew_key key, uint32_t since, uint32_t timeout_ms, uint32_t *version);
int32_t crew_fleet_watch(struct crew_fleet fleet, uint32_t *since);
int32_t crew_fleet_wait_any(struct crew_fleet fleet, uint32_t since, uint32_t timeout_ms, uint32_t *now);
int32_t crew_fleet_look(struct crew_fleet fleet, struct crew_key key, const struct crew_fleet_limits *limits, uint32_t attempt, struct crew_fleet_view *view);
int32_t crew_fleet_carry_out(const struct crew_fleet_view *view, const struct crew_fleet_choice *choice, struct crew_fleet_plan *plan);
int32_t crew_fleet_local_first(void *context, const struct crew_fleet_view *view, struct crew_fleet_choice *choice);
int32_t crew_fleet_local_only(void *context, const struct crew_fleet_view *view, struct crew_fleet_choice *choice);
int32_t crew_fleet_owners(struct crew_fleet fleet, struct crew_life *buffer, uint32_t room, uint32_t *count);
int32_t crew_fleet_node_dead(struct crew_fleet fleet, struct crew_life life);
int32_t crew_fleet_sweep(struct crew_fleet fleet, struct crew_swept *swept);
int32_t crew_fleet_reset(struct crew_fleet fleet);
int32_t crew_fleet_report(struct crew_fleet fleet, uint32_t level, crew_sink sink, void *context);
int32_t crew_resource_print(struct crew_resource resource, char *text, size_t room);
int32_t crew_resource_parse(const char *text, struct crew_resource *resource);
typedef int32_t (*crew_fleet_policy)(void *context, const crew_fleet_view *view, crew_fleet_choice *choice);
int32_t crew_fleet_acquire(crew_fleet fleet, crew_key key, const crew_fleet_limits *limits, crew_fleet_policy policy, void *context, crew_fleet_plan *plan);
