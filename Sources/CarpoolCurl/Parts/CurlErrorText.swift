/// curl's texts for failures that the command itself decides on. Those of transfers come from libcurl, with the
/// answer of the daemon.
enum CurlErrorText {
    /// The text of an exit code.
    static func of(_ exitCode: Int32) -> String {
        switch exitCode {
        case CurlExitCode.unsupportedProtocol: "Unsupported protocol"
        case CurlExitCode.failedInitialization: "Failed initialization"
        case CurlExitCode.malformedURL: "URL using bad/illegal format or missing URL"
        case CurlExitCode.unresolvedHost: "Could not resolve hostname"
        case CurlExitCode.noConnection: "Could not connect to server"
        case CurlExitCode.weirdReply: "Weird server reply"
        case CurlExitCode.partialFile: "Transferred a partial file"
        case CurlExitCode.httpError: "HTTP response code said error"
        case CurlExitCode.writeError: "Failed writing received data to disk/application"
        case CurlExitCode.readError: "Failed to open/read local data from file/application"
        case CurlExitCode.outOfMemory: "Out of memory"
        case CurlExitCode.timedOut: "Timeout was reached"
        case CurlExitCode.rangeError: "Requested range was not delivered by the server"
        case CurlExitCode.aborted: "Operation was aborted by an application callback"
        case CurlExitCode.badArgument: "A libcurl function was given a bad argument"
        case CurlExitCode.tooManyRedirects: "Number of redirects hit maximum amount"
        case CurlExitCode.receiveError: "Failure when receiving data from the peer"
        case CurlExitCode.clientCertificate: "Problem with the local SSL certificate"
        case CurlExitCode.unverifiedPeer: "SSL peer certificate or SSH remote key was not OK"
        case CurlExitCode.badEncoding: "Unrecognized or bad HTTP Content or Transfer-Encoding"
        case CurlExitCode.tooLargeFile: "Maximum file size exceeded"
        case CurlExitCode.cannotRewind: "Send failed since rewinding of the data stream failed"
        case CurlExitCode.tooLargeValue: "A value or data field grew larger than allowed"
        default: "Unknown error"
        }
    }
}
