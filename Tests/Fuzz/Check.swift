/// As `precondition`, with its reason in an optimized build, too.
func check(_ holds: Bool, _ what: @autoclosure () -> String) { if !holds { fatalError(what()) } }
