/* Stands in for flock(2) in a program that it is preloaded into: FLOCK_DOES=fails says that there are no locks (ENOLCK),
   FLOCK_DOES=nothing locks nothing. Each call leaves a byte in the file FLOCK_LOG, so that a test sees that it was asked. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int flock(int descriptor, int operation) {
    const char* log = getenv("FLOCK_LOG");
    const char* what = getenv("FLOCK_DOES");
    (void)descriptor;
    (void)operation;
    if (log != NULL) {
        const int file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (file >= 0) {
            if (write(file, ".", 1) < 0) abort();
            close(file);
        }
    }
    if (what != NULL && strcmp(what, "nothing") == 0) return 0;
    errno = ENOLCK;
    return -1;
}
