/// What is known of a transfer after its end: the values of `-w`.
package struct CurlReport {
    /// The number of the transfer in the command line, from 0.
    var number = 0
    /// The number of the URL in the command line, from 0, before globbing.
    package var urlNumber = 0
    package var method = "GET"
    /// The URL of the command line, after globbing.
    package var url = ""
    /// The URL of the last request.
    package var effectiveURL = ""
    package var status = 0
    /// The status of the answer of an HTTP proxy to CONNECT.
    var proxyStatus = 0
    var contentType: String?
    /// The fields of the last response, in order: names and values as in ``CurlResponseHead``.
    package var headers: [(name: String, value: String)] = []
    /// The number of fields of the last response, or of a proxy's answer to CONNECT.
    var headerCount = 0
    package var redirects = 0
    /// The URL that a redirect that was not followed leads to.
    package var redirectURL: String?
    var referer: String?
    /// The number of retries.
    package var retries = 0
    /// curl's exit code of the transfer.
    package var exitCode = 0
    package var errorMessage: String?
    /// The file that the body was written to.
    package var file: String?
    /// `1.1`, `2` or `0`.
    var httpVersion = "0"
    package var scheme = ""
    var localIP = ""
    var localPort = 0
    var remoteIP = ""
    var remotePort = 0
    var connections = 0
    var connectionNumber = -1
    var verifyResult = 0
    var proxyVerifyResult = 0
    /// What is known of the server's certificates, its own first: lines `NAME:VALUE`.
    var certificates: [[String]] = []
    var usesProxy = false
    /// Sizes in bytes.
    var downloadBytes: Int64 = 0
    var uploadBytes: Int64 = 0
    var requestBytes: Int64 = 0
    var headerBytes: Int64 = 0
    /// Times from the start of the transfer, in microseconds; 0 for what did not happen.
    var lookupMicroseconds: Int64 = 0
    var connectMicroseconds: Int64 = 0
    var appConnectMicroseconds: Int64 = 0
    var preTransferMicroseconds: Int64 = 0
    var postTransferMicroseconds: Int64 = 0
    var startTransferMicroseconds: Int64 = 0
    var redirectMicroseconds: Int64 = 0
    var queueMicroseconds: Int64 = 0
    package var totalMicroseconds: Int64 = 0

    package init() {}
}
