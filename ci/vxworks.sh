#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The crate built for VxWorks on three processors, and the archives for x86_64 run on Linux through
# a shim. Says what was built and how large it is (text: code and constants). Three minutes the
# first time, half a minute afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/vxworks
ci/setup.sh --vxworks
make --no-print-directory --silent -C vxworks/test archives

# What an image must have for the archives: nothing else may be left undefined.
of_core="abort memcmp memcpy memmove memset strlen"
of_std="$of_core clock_gettime errnoGet errnoSet free malloc memalign mmap munmap pthread_attr_destroy
    pthread_attr_init pthread_attr_setstacksize pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_cond_wait
    pthread_condattr_destroy pthread_condattr_init pthread_condattr_setclock pthread_create pthread_join pthread_key_create
    pthread_key_delete pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock
    pthread_mutexattr_destroy pthread_mutexattr_init pthread_mutexattr_settype pthread_self pthread_setschedparam
    pthread_setspecific realloc semBCreate semGive semTake strerror_r sysClkRateGet sysconf taskIdSelf taskNameSet
    write writev"
# From the compiler's own library: division, thread-local storage, and unwinding, which
# --gc-sections drops again.
of_compiler='__udiv[dt]i3|__aeabi_.*|__tls_get_addr|_Unwind_.*|__gnu_unwind_frame'

undefined() { # archive
    nm "$1" 2>/dev/null | awk '
        $1 == "U" { used[$2] = 1 }
        NF == 3 { defined[$3] = 1 }
        END { for (name in used) if (!(name in defined)) print name }' | sort
}

printf '\n%-28s %-7s %9s %9s %9s %9s\n' "built (bytes)" threads archive text data tables
status=0
while read -r target threads; do
    archive=$out/$target/$threads/libcrew_archive.a
    read -r code data bss < <(size "$archive" | awk '/crew_archive-/ { print $1, $2, $3 }')
    printf '%-28s %-7s %9d %9d %9d %9d\n' "$target" "$threads" "$(stat -c %s "$archive")" "$code" "$data" "$bss"
    if [ "$threads" = std ]; then allowed=$of_std; else allowed=$of_core; fi
    # shellcheck disable=SC2086
    if undefined "$archive" | grep -vxE "$of_compiler" | grep -vxF "$(printf '%s\n' $allowed)"; then
        echo "vxworks: the archive for $target, threads: $threads, needs the functions above" >&2
        status=1
    fi
done <<'ARCHIVES'
x86_64-wrs-vxworks c
x86_64-wrs-vxworks std
armv7-wrs-vxworks-eabihf c
armv7-wrs-vxworks-eabihf std
powerpc-wrs-vxworks c
ARCHIVES

printf '\nx86_64-wrs-vxworks, run on Linux through a shim (not on VxWorks):\n'
make --no-print-directory --silent -C vxworks/test check
exit $status
