// Who needs what Linux has needs what every POSIX system has.

@_exported public import DiscoveryPOSIX
