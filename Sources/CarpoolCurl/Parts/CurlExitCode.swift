/// The exit codes of curl that the command itself decides on; the others come from the daemon.
enum CurlExitCode {
    static let unsupportedProtocol: Int32 = 1
    static let failedInitialization: Int32 = 2
    static let malformedURL: Int32 = 3
    static let unresolvedProxy: Int32 = 5
    static let unresolvedHost: Int32 = 6
    static let noConnection: Int32 = 7
    static let weirdReply: Int32 = 8
    static let partialFile: Int32 = 18
    static let httpError: Int32 = 22
    static let writeError: Int32 = 23
    static let readError: Int32 = 26
    static let outOfMemory: Int32 = 27
    static let timedOut: Int32 = 28
    static let rangeError: Int32 = 33
    static let tlsError: Int32 = 35
    static let aborted: Int32 = 42
    static let badArgument: Int32 = 43
    static let interfaceFailed: Int32 = 45
    static let tooManyRedirects: Int32 = 47
    static let badOptionSyntax: Int32 = 49
    static let emptyReply: Int32 = 52
    static let receiveError: Int32 = 56
    static let clientCertificate: Int32 = 58
    static let badCipher: Int32 = 59
    static let unverifiedPeer: Int32 = 60
    static let badEncoding: Int32 = 61
    static let tooLargeFile: Int32 = 63
    static let cannotRewind: Int32 = 65
    static let badAuthorities: Int32 = 77
    static let badRevocationList: Int32 = 82
    static let unpinnedKey: Int32 = 90
    static let badCertificateStatus: Int32 = 91
    static let proxyHandshake: Int32 = 97
    static let tooLargeValue: Int32 = 100
}
