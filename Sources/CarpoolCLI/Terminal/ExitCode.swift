/// The exit code of the command.
enum ExitCode: Int32, CaseIterable {
    case success = 0
    case refused = 1
    case usage = 2
    case unreachable = 3
    case timedOut = 4
    case httpFailure = 5
    case notReachable = 6
    case transferFailed = 7

    /// The meaning in the help.
    var meaning: String {
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
