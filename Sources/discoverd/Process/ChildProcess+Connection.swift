#if Commands
internal import CommandFrame
internal import DNSSD
internal import Glibc
internal import System

extension ChildProcess {
    /// Runs a program whose standard input and output are a connection, as inetd does, and waits for its end. The program is asked
    /// to end when the task is cancelled.
    static func serve(_ socket: Socket, with program: [[UInt8]]) async throws {
        let child = try ChildProcess(program, connection: socket.descriptor)
        socket.close()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do {
                    try child.whenEnded { _ in continuation.resume() }
                } catch {
                    // No thread to wait with: the program is left to itself.
                    continuation.resume()
                }
            }
        } onCancel: {
            child.end()
        }
    }

    /// Throws unless there is such a program now, found as a shell finds it.
    static func checkExistence(of program: [UInt8]) throws(CommandError) {
        let name = program.map { CChar(bitPattern: $0) } + [0]
        let path = Environment.value("PATH") ?? "/bin:/usr/bin"
        let folders = program.contains(UInt8(ascii: "/")) ? [""] : path.split(separator: ":").map { "\($0)/" }
        guard folders.contains(where: { unsafe access($0.utf8.map { CChar(bitPattern: $0) } + name, X_OK) == 0 }) else {
            let text = String(decoding: program, as: UTF8.self)
            throw CommandError(.programNotFound, "\(text.escapedForTerminal): no such program")
        }
    }
}
#endif
