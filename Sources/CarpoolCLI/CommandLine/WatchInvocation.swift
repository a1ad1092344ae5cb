/// `carpool watch` as it was typed.
struct WatchInvocation: Equatable {
    /// Types and patterns; none stands for all.
    var types: [String] = []
    /// Whose events: `mine`, `all` or `session:NAME`.
    var scope = "all"
    /// Where to begin.
    var cursor: String?
    /// The file in which the cursor is kept.
    var stateFile: String?
    var wantsSnapshot = false
    /// After how many events it ends.
    var count: Int?
    var timeoutMilliseconds: Int?
    var isPretty = false
    var socket: String?

    mutating func apply(_ option: Option, _ value: String) throws(UsageError) {
        switch option {
        case .scope:
            guard value == "mine" || value == "all" || (value.hasPrefix("session:") && value.count > 8) else {
                throw UsageError("--scope takes mine, all or session:NAME, not '\(value)'", in: .watch)
            }
            scope = value
        case .since: cursor = value
        case .state: stateFile = value
        case .snapshot: wantsSnapshot = true
        case .count: count = try WatchInvocation.positive(value)
        case .timeout: timeoutMilliseconds = try TimeSpan.milliseconds(value, in: .watch)
        case .pretty: isPretty = true
        default: break
        }
    }

    mutating func apply(operand: String) { types.append(operand) }

    /// What only the whole command line shows.
    func check() throws(UsageError) {
        guard cursor == nil || stateFile == nil else {
            throw UsageError("--since and --state both say where to begin", in: .watch)
        }
        guard stateFile != "" else { throw UsageError("--state needs the name of a file", in: .watch) }
    }

    private static func positive(_ text: String) throws(UsageError) -> Int {
        guard text.utf8.first != UInt8(ascii: "+"), let count = Int(text), count > 0 else {
            throw UsageError("--count takes a number above 0, not '\(text)'", in: .watch)
        }
        return count
    }
}
