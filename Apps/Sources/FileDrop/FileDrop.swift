import AppSupport
import ArgumentParser
import CommandFrame

@main
enum FileDrop {
    static func main() { AppRunner.main(FileDropCommand.self) }
}

/// The root of the commands.
struct FileDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filedrop",
        abstract: "Files and folders from one machine of the local network to another.",
        discussion: """
            Examples:
              filedrop receive inbox                 takes what others send, until Ctrl-C
              filedrop send photo.jpg holiday        to the machine that receives
              filedrop send photo.jpg --to anna      to that one, if there are several
              filedrop offer film.mkv                lets others fetch it
              filedrop fetch anna .                  fetches what anna offers, into this folder
              filedrop receive inbox --plain         takes a file of nc -N HOST PORT <photo.jpg

            Both sides speak TLS with machines whose keys are known, as 'discoverd key list' lists them, and ask about others.
            --plain is without all that: anyone on the network can send, read and change. What is there is never replaced.
            Exit status: 0 done, 1 not found or not finished, 64 usage, 65 damaged on the way, 66 a file cannot be read, 69
            nothing finds or publishes, 71 the system refused a thread or a descriptor, 73 the name is taken or the folder cannot be
            written, 74 the disk is full or the connection broke, 76 unreachable or without TLS, 77 a key is not known, or
            another than it was; or the other side said no, 78 this machine's key cannot be read or made.
            """,
        version: "filedrop \(DiscoverdVersion.current)",
        subcommands: [ReceiveCommand.self, SendCommand.self, OfferCommand.self, FetchCommand.self]
    )

    static var _errorPrefix: String { "filedrop: error: " }
}
