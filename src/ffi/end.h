/* Initialisers of the structs that begin with their size; the rest is 0. */
#define CREW_BOOT_OPTIONS_INIT { (uint32_t)sizeof(crew_boot_options), 0, NULL, NULL }
#define CREW_ACCOUNT_INIT { (uint32_t)sizeof(crew_account), 0, 0, 0, 0, 0, 0, 0, 0 }

#include "crew_pool.h"
#include "crew_fleet.h"

#endif /* CREW_H */
