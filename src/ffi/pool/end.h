/* Initialisers of the structs that begin with their size; the rest is 0. */
#define CREW_POOL_OPTIONS_INIT \
    { (uint32_t)sizeof(crew_pool_options), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_REFUSAL_INIT { (uint32_t)sizeof(crew_refusal), 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_RESULT_INIT { (uint32_t)sizeof(crew_result), 0, 0 }
#define CREW_USAGE_INIT \
    { (uint32_t)sizeof(crew_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 } }

#endif /* CREW_POOL_H */
