import NIOCore
import NIOPosix
