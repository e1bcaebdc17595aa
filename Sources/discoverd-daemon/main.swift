// The daemon follows.
