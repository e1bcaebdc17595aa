#if Commands
internal import ArgumentParser
internal import CommandFrame

/// Which of the services found to show.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Only services whose name matches a shell pattern: 'pr*'. Repeatable.", valueName: "pattern")
    )
    var name: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only services of which it is true: txt.path, 'txt.path=/x*', 'host=nas*', port!=80, 'address=10.*'. Repeatable: all of it.",
            valueName: "condition"))
    var `where`: [String] = []

    func validate() throws {
        if name.count + self.where.count > Self.limit { throw ValidationError("More than \(Self.limit) conditions.") }
        do {
            _ = try filter()
        } catch let error as ServiceFilter.Malformed {
            throw ValidationError(error.description)
        }
    }

    /// - Throws: what `validate` throws.
    func filter() throws -> ServiceFilter { try ServiceFilter(names: name, conditions: self.where) }

    /// Each is looked at for every event of every service.
    private static let limit = 64
}
#endif
