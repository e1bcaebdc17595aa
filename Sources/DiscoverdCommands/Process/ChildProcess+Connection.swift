#if Commands
internal import CommandFrame
internal import DNSSD
internal import Libc
internal import DiscoverySystem

extension ChildProcess {
    /// Runs a program with a connection as its standard input and output, as inetd does, and waits for it to end. Cancelling the task asks
    /// the program to end.
    static func serve(_ socket: Socket, with program: [[UInt8]]) async throws {
        let child = try ChildProcess(program, .connection(socket.descriptor))
        socket.close()
        _ = await child.ended()
    }

    /// Waits for the program to end. Cancelling the task asks it to.
    /// - Returns: its status; nil when no thread is left to wait with: it is on its own then.
    func ended() async -> ExitStatus? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do {
                    try whenEnded { continuation.resume(returning: $0) }
                } catch {
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            end()
        }
    }

    /// Throws unless the program exists now, searched for as a shell does.
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
