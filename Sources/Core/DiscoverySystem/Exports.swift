// A file that imports what is Linux's needs what every POSIX system has.

@_exported public import DiscoveryPOSIX
