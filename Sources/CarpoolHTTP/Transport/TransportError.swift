internal import CarpoolSystem
internal import Glibc

/// The error of a hop, or of a request that cannot be sent.
///
/// An immutable class: a transfer passes on at each step whether it has one, and few have one.
public final class TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, under the name that it has in URLError, in snake case; those of client certificates have
    /// names of their own behind `client_certificate.`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name as clients see it.
        public let rawValue: String
        /// A kind by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// ``TransportTask/cancel()`` was called.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The text is not a URL.
        public static let badURL = Code(rawValue: "bad_url")
        /// The scheme is neither `http` nor `https`.
        public static let unsupportedURL = Code(rawValue: "unsupported_url")
        /// A deadline passed; ``TransportError/timeout`` says which.
        public static let timedOut = Code(rawValue: "timed_out")
        /// The host name has no address.
        public static let cannotFindHost = Code(rawValue: "cannot_find_host")
        /// The address does not answer, or refuses the connection.
        public static let cannotConnectToHost = Code(rawValue: "cannot_connect_to_host")
        /// The connection ended before the response did.
        public static let networkConnectionLost = Code(rawValue: "network_connection_lost")
        /// There is no route to the address.
        public static let notConnectedToInternet = Code(rawValue: "not_connected_to_internet")
        /// The answer is not an HTTP response.
        public static let badServerResponse = Code(rawValue: "bad_server_response")
        /// The framing of the response is invalid.
        public static let cannotParseResponse = Code(rawValue: "cannot_parse_response")
        /// The body cannot be decoded as its `Content-Encoding` says.
        public static let cannotDecodeContentData = Code(rawValue: "cannot_decode_content_data")
        /// The decoded body exceeds ``TransportRequest/maximumDecodingRatio``, or a head its limit.
        public static let dataLengthExceedsMaximum = Code(rawValue: "data_length_exceeds_maximum")
        /// The TLS handshake failed.
        public static let secureConnectionFailed = Code(rawValue: "secure_connection_failed")
        /// The certificate is not valid for this server.
        public static let serverCertificateUntrusted = Code(rawValue: "server_certificate_untrusted")
        /// The certificate has expired.
        public static let serverCertificateHasBadDate = Code(rawValue: "server_certificate_has_bad_date")
        /// The certificate is not valid yet.
        public static let serverCertificateNotYetValid = Code(rawValue: "server_certificate_not_yet_valid")
        /// The certificate was issued by no trusted authority.
        public static let serverCertificateHasUnknownRoot = Code(rawValue: "server_certificate_has_unknown_root")
        /// An evaluator has refused the server; ``TransportError/trust`` says why.
        public static let serverTrustEvaluationFailed = Code(rawValue: "server_trust_evaluation_failed")
        /// The server requires a client certificate, and none was sent.
        public static let clientCertificateRequired = Code(rawValue: "client_certificate.required")
        /// The server refuses the client certificate.
        public static let clientCertificateRejected = Code(rawValue: "client_certificate.rejected")
        /// The client certificate has expired, or is not valid yet.
        public static let clientCertificateExpired = Code(rawValue: "client_certificate.expired")
        /// The key of the client certificate, or one in its chain, is refused at the connection's security level.
        public static let clientCertificateUnsupportedKey = Code(rawValue: "client_certificate.unsupported_key")
        /// The host of the proxy has no address.
        public static let proxyNotFound = Code(rawValue: "proxy.cannot_find_host")
        /// The proxy does not answer, or refuses the connection.
        public static let proxyNotReachable = Code(rawValue: "proxy.cannot_connect_to_host")
        /// The TLS handshake with an HTTPS proxy failed.
        public static let proxyNotSecure = Code(rawValue: "proxy.secure_connection_failed")
        /// The proxy requires a user and a password, or refuses those that it got.
        public static let proxyAuthenticationRequired = Code(rawValue: "proxy.authentication_required")
        /// An HTTP proxy has refused to connect to the origin.
        public static let proxyConnectRefused = Code(rawValue: "proxy.connect_refused")
        /// SOCKS 5, reply 1.
        public static let proxyGeneralFailure = Code(rawValue: "proxy.general_failure")
        /// SOCKS 5, reply 2.
        public static let proxyNotAllowed = Code(rawValue: "proxy.not_allowed")
        /// SOCKS 5, reply 3.
        public static let proxyNetworkUnreachable = Code(rawValue: "proxy.network_unreachable")
        /// SOCKS 5, reply 4.
        public static let proxyHostUnreachable = Code(rawValue: "proxy.host_unreachable")
        /// SOCKS 5, reply 5.
        public static let proxyConnectionRefused = Code(rawValue: "proxy.connection_refused")
        /// SOCKS 5, reply 6.
        public static let proxyTTLExpired = Code(rawValue: "proxy.ttl_expired")
        /// SOCKS 5, reply 7.
        public static let proxyCommandNotSupported = Code(rawValue: "proxy.command_not_supported")
        /// SOCKS 5, reply 8, or a host that the protocol cannot name.
        public static let proxyAddressTypeNotSupported = Code(rawValue: "proxy.address_type_not_supported")
        /// SOCKS 4, reply 91.
        public static let proxyRequestRejected = Code(rawValue: "proxy.request_rejected")
        /// SOCKS 4, replies 92 and 93.
        public static let proxyIdentFailed = Code(rawValue: "proxy.ident_failed")
        /// The proxy's answer is none of the SOCKS protocol.
        public static let proxyBadResponse = Code(rawValue: "proxy.bad_response")
        /// The request's body could not be read.
        public static let requestBodyStreamExhausted = Code(rawValue: "request_body_stream_exhausted")
        /// The queue is full, or the daemon is short of a resource.
        public static let resourceUnavailable = Code(rawValue: "resource_unavailable")
        /// A stored response is damaged.
        public static let storedBodyIsDamaged = Code(rawValue: "cache.corrupt")
        /// Any other error; the message says more.
        public static let unknown = Code(rawValue: "unknown")
    }

    /// The kind of failure.
    public let code: Code
    /// The description of the failure, without secrets.
    public let message: String
    /// libcurl's code, if the error is libcurl's.
    public let curlCode: Int32?
    /// libcurl's text for that code.
    public let curlText: String?
    /// The `errno`, if there is one.
    public let systemCode: Int32?
    /// For ``Code/timedOut``: `queue`, `connect`, `idle`, `body` or `resource`.
    public let timeout: String?
    /// For ``Code/timedOut`` of a transfer that was still queued and of which nothing was sent: what it waited for.
    public let wait: Wait?
    /// For ``Code/dataLengthExceedsMaximum``: whether the decoded body was too large, and not the head of the
    /// response.
    public let isDecodedTooLarge: Bool
    /// For ``Code/serverTrustEvaluationFailed``: why an evaluator has refused the server.
    public let trust: ServerTrustFailure?
    /// Whether the request can be sent with a body that begins again: its connection has ended with a part of the body
    /// sent. If not, the body itself has failed.
    public let needsBodyAgain: Bool
    /// Whether the same request may succeed when it is retried, and may be retried safely.
    public let isRetryable: Bool

    /// Makes an error from its parts.
    public init(
        _ code: Code, _ message: String, curlCode: Int32? = nil, curlText: String? = nil, systemCode: Int32? = nil,
        timeout: String? = nil, wait: Wait? = nil, isDecodedTooLarge: Bool = false,
        trust: ServerTrustFailure? = nil, needsBodyAgain: Bool = false, isRetryable: Bool = false
    ) {
        self.needsBodyAgain = needsBodyAgain
        self.trust = trust
        self.wait = wait
        self.code = code
        self.message = message
        self.curlCode = curlCode
        self.curlText = curlText
        self.systemCode = systemCode
        self.timeout = timeout
        self.isDecodedTooLarge = isDecodedTooLarge
        self.isRetryable = isRetryable
    }

    /// The position of a transfer in the queue.
    public struct Wait: Sendable {
        /// Its position among the transfers of its client; 1 for the next.
        public let position: Int
        /// The exhausted limit: `host`, the connections to its host; `client`, those of its client; `total`, all
        /// connections; `lookups`, the look-ups of its process.
        public let obstacle: String

        static let lookups = "lookups"

        var reason: String {
            switch obstacle {
            case "total": "it waited in the queue because all connections were in use; nothing was sent"
            case Wait.lookups:
                "it waited because too many names that its process asked for were still being looked up; nothing was sent"
            case "client": "it waited in the queue because all connections of its client were in use; nothing was sent"
            default: "it waited in the queue because all connections to its host were in use; nothing was sent"
            }
        }
    }

    /// The kind and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension TransportError {
    /// libcurl could not make one of its objects.
    static var noMemory: TransportError { shortage(ENOMEM) }

    /// The error when the daemon is short of a resource, as this `errno` says.
    static func shortage(_ code: Int32) -> TransportError {
        Shortage.note(code)
        return TransportError(
            .resourceUnavailable, Shortage.explanation(of: code), systemCode: code, isRetryable: true)
    }

    /// The error when the kernel does not report what happens on a connection (epoll_ctl(2)), for this `errno`.
    static func unwatched(_ code: Int32) -> TransportError {
        if Shortage.isShortage(code) { return shortage(code) }
        return TransportError(
            .resourceUnavailable, "the system does not watch the connection: \(SystemError.reason(of: code)).",
            systemCode: code, isRetryable: true)
    }

    /// The error when an evaluator has refused the server.
    convenience init(_ failure: ServerTrustFailure) {
        self.init(.serverTrustEvaluationFailed, failure.description, trust: failure)
    }
}
