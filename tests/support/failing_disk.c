/*
 * Loaded into a server by LD_PRELOAD: a disk that is read-only, or that cannot sync, for a while.
 *
 * It concerns files whose path begins with FAILING_DISK_PREFIX: a store, and what SQLite keeps beside it. While the
 * file FAILING_DISK_SWITCH.read_only exists, they take no writes, as on a file system that was mounted anew as
 * read-only; while FAILING_DISK_SWITCH.no_sync exists, what was written cannot be made durable.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int concerned(const char *path)
{
    const char *prefix = getenv("FAILING_DISK_PREFIX");
    return prefix && *prefix && strncmp(path, prefix, strlen(prefix)) == 0;
}

static int concerned_fd(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return concerned(path);
}

static int switched_on(const char *fault)
{
    char file[PATH_MAX];
    const char *place = getenv("FAILING_DISK_SWITCH");
    if (!place)
        return 0;
    snprintf(file, sizeof file, "%s.%s", place, fault);
    return access(file, F_OK) == 0;
}

/* Leaves errno as it is, unless the call has to fail. */
static int fails(int fd, const char *fault, int why)
{
    int before = errno;
    int failing = switched_on(fault) && concerned_fd(fd);
    errno = failing ? why : before;
    return failing;
}

static int cannot_be_opened(const char *path, int flags)
{
    int before = errno;
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    int failing = writes && path && concerned(path) && switched_on("read_only");
    errno = failing ? EROFS : before;
    return failing;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define FAILING(answer, name, fault, why, parameters, arguments)                                                       \
    answer name parameters                                                                                             \
    {                                                                                                                  \
        static __typeof__(&name) real;                                                                                 \
        if (!real)                                                                                                     \
            real = REAL(name);                                                                                         \
        if (fails(fd, fault, why))                                                                                     \
            return -1;                                                                                                 \
        return real arguments;                                                                                         \
    }

FAILING(ssize_t, write, "read_only", EROFS, (int fd, const void *from, size_t length), (fd, from, length))
FAILING(ssize_t, pwrite, "read_only", EROFS, (int fd, const void *from, size_t length, off_t at),
        (fd, from, length, at))
FAILING(ssize_t, pwrite64, "read_only", EROFS, (int fd, const void *from, size_t length, off64_t at),
        (fd, from, length, at))
FAILING(ssize_t, writev, "read_only", EROFS, (int fd, const struct iovec *from, int count), (fd, from, count))
FAILING(int, ftruncate, "read_only", EROFS, (int fd, off_t length), (fd, length))
FAILING(int, ftruncate64, "read_only", EROFS, (int fd, off64_t length), (fd, length))
FAILING(int, fsync, "no_sync", EIO, (int fd), (fd))
FAILING(int, fdatasync, "no_sync", EIO, (int fd), (fd))

#define OPENING(name, place_parameter, place_argument)                                                                 \
    int name(place_parameter const char *path, int flags, ...)                                                         \
    {                                                                                                                  \
        static __typeof__(&name) real;                                                                                 \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE))                                                                             \
        {                                                                                                              \
            va_list rest;                                                                                              \
            va_start(rest, flags);                                                                                     \
            mode = va_arg(rest, mode_t);                                                                               \
            va_end(rest);                                                                                              \
        }                                                                                                              \
        if (!real)                                                                                                     \
            real = REAL(name);                                                                                         \
        if (cannot_be_opened(path, flags))                                                                             \
            return -1;                                                                                                 \
        return real(place_argument path, flags, mode);                                                                 \
    }

#define NOTHING
#define A_FOLDER int folder,
#define THE_FOLDER folder,

OPENING(open, NOTHING, NOTHING)
OPENING(open64, NOTHING, NOTHING)
OPENING(openat, A_FOLDER, THE_FOLDER)
OPENING(openat64, A_FOLDER, THE_FOLDER)
