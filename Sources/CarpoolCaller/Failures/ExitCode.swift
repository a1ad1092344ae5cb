/// The exit code of the command.
package enum ExitCode: Int32, CaseIterable {
    case success = 0
    case refused = 1
    case usage = 2
    case unreachable = 3
    case timedOut = 4
    case httpFailure = 5
    case notReachable = 6
    case transferFailed = 7

    /// Calls the closure with each code: in another target an array of them takes longer to create than to print.
    package static func visit(_ body: (ExitCode) -> Void) {
        for code in allCases { body(code) }
    }

    /// The meaning in the help.
    package var meaning: String {
        switch self {
        case .success: "success"
        case .refused: "the daemon refused the call"
        case .usage: "the command line is wrong"
        case .unreachable: "the daemon cannot be reached"
        case .timedOut: "the request or the wait timed out"
        case .httpFailure: "the status is 400 or more, with --fail"
        case .notReachable: "packets cannot leave, or cannot reach the host"
        case .transferFailed: "the transfer failed, or its result could not be written"
        }
    }
}
