// What Linux says of files and does with them, and Swift's Glibc module does not have.

#ifndef DISCOVERD_CFILES_H
#define DISCOVERD_CFILES_H

// When an open file was made, in ns since 1970; 0 where the file system does not say (statx(2)).
long long cfiles_birth(int descriptor);

// Renames within a folder; an error, EEXIST, when there is a file of the new name (renameat2(2)).
int cfiles_rename_new(int folder, const char *_Nonnull from, const char *_Nonnull to);

#endif
