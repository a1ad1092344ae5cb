/// Why a text is not a URL, in curl's words.
enum CurlURLError: String, Error {
    case malformed = "Malformed input to a URL function"
    case badPort = "Port number was not a decimal number between 0 and 65535"
    case unsupportedScheme = "Unsupported URL scheme"
    case noHost = "No host part in the URL"
    case badIPv6 = "Bad IPv6 address"
    case badHost = "Bad hostname"
    case badFile = "Bad file:// URL"
    case badSlashes = "Unsupported number of slashes following scheme"
    case badScheme = "Bad scheme"

    /// curl's exit code.
    var exitCode: Int32 {
        self == .unsupportedScheme ? CurlExitCode.unsupportedProtocol : CurlExitCode.malformedURL
    }
}
