/// What the command's exit code says; documented in the help and in docs/cli.
enum ExitCode: Int32 {
    case success = 0
    case refused = 1
    case usage = 2
    case unreachable = 3
    case timedOut = 4
    case httpFailure = 5
    case notReachable = 6
    case transferFailed = 7
}
