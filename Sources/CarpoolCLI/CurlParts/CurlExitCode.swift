/// The exit codes of curl that the command itself decides on; the others come from the daemon.
enum CurlExitCode {
    static let unsupportedProtocol: Int32 = 1
    static let failedInitialization: Int32 = 2
    static let malformedURL: Int32 = 3
    static let httpError: Int32 = 22
    static let writeError: Int32 = 23
    static let readError: Int32 = 26
    static let outOfMemory: Int32 = 27
    static let rangeError: Int32 = 33
    static let tooManyRedirects: Int32 = 47
    static let aborted: Int32 = 42
    static let unverifiedPeer: Int32 = 60
    static let loginDenied: Int32 = 67
}
