#if Commands
internal import ArgumentParser
internal import DNSSD

/// The service's TXT strings; within each option, in the order of the command line.
struct TXTOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("A TXT string: KEY=VALUE, KEY= or KEY. Repeatable.", valueName: "key=value")
    )
    var txt: [String] = []

    @Option(
        name: .customLong("txt-base64"),
        help: ArgumentHelp("A TXT value of any bytes, in base64. Repeatable.", valueName: "key=base64")
    )
    var txtBase64: [String] = []

    /// The record.
    /// - Throws: `.invalidTXTRecord` with the rule that was broken.
    func record() throws -> TXTRecord {
        var record = TXTRecord()
        for argument in txt { try record.append(argument: argument) }
        for argument in txtBase64 { try record.append(base64Argument: argument) }
        return record
    }
}
#endif
