// Draws on the screen without a pause, through CLinux, until q: gcc -pthread -D_Nonnull= -I INCLUDE draws.c terminal.c
#include <terminal.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char picture[] = "\033[1;1HDRAWN\033[2;1HDRAWN\033[3;1HDRAWN\033[4;1HDRAWN\033[5;1HDRAWN\033[6;1HDRAWN";

static void *draw(void *unused) {
    (void)unused;
    for (;;)
        if (!cterminal_draw(picture, sizeof picture - 1)) exit(2);
    return NULL;
}

int main(void) {
    pthread_t thread;
    char key = 0;
    if (!cterminal_enter(true, false) || pthread_create(&thread, NULL, draw, NULL) != 0) return 1;
    for (ssize_t count; key != 'q';)
        if ((count = read(STDIN_FILENO, &key, 1)) < 1 && !(count < 0 && errno == EINTR)) break;
    cterminal_restore();
    return key == 'q' ? 0 : 3;
}
