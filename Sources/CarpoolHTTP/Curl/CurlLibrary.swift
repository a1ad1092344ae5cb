internal import CCurl
internal import Glibc

/// The libcurl that this process has loaded. Its version may differ from that of the header.
public enum CurlLibrary {
    /// The features of HTTP that are safe with a version of libcurl.
    public enum Profile: String, Sendable {
        /// HTTP/1.1, unless a request opts in to HTTP/2, which then uses one stream per connection: before 8.14.1,
        /// streams that share a connection can hang or end early without an error.
        case http1
        /// HTTP/2 with many streams on one connection.
        case multiplex
    }

    /// The version in words, for example `8.14.1`.
    public static let version = String(cString: curl_version_info(CURLVERSION_FIRST).pointee.version)

    /// The library and those that it uses with their versions.
    public static let libraries = String(cString: curl_version())

    /// The profile of the loaded version.
    public static let profile = profile(ofVersion: curl_version_info(CURLVERSION_FIRST).pointee.version_num)

    static func profile(ofVersion number: UInt32) -> Profile { number < 0x08_0E_01 ? .http1 : .multiplex }

    /// Initializes libcurl, once for the process. Returns false if that fails.
    static let isReady: Bool = {
        for name in strayVariables { unsetenv(name) }
        guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK else { return false }
        if profile == .multiplex { _ = CCurl_trace("http/2") }
        return true
    }()

    /// Environment variables that would change the requests of all clients: proxies, resolver and trust, and the file
    /// to which OpenSSL would write the keys of every connection.
    private static let strayVariables = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "SSLKEYLOGFILE",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC", "CURL_SSL_BACKEND", "HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS",
    ]
}
