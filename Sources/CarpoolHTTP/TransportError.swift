/// Why a hop failed, or why a request cannot be one.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, under the name that it has in URLError, in snake case.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// ``Transport/cancel(_:)`` was called.
        public static let cancelled = Code(rawValue: "cancelled")
        public static let badURL = Code(rawValue: "bad_url")
        public static let unsupportedURL = Code(rawValue: "unsupported_url")
        public static let timedOut = Code(rawValue: "timed_out")
        public static let cannotFindHost = Code(rawValue: "cannot_find_host")
        public static let cannotConnectToHost = Code(rawValue: "cannot_connect_to_host")
        public static let networkConnectionLost = Code(rawValue: "network_connection_lost")
        public static let notConnectedToInternet = Code(rawValue: "not_connected_to_internet")
        public static let badServerResponse = Code(rawValue: "bad_server_response")
        public static let cannotParseResponse = Code(rawValue: "cannot_parse_response")
        public static let cannotDecodeContentData = Code(rawValue: "cannot_decode_content_data")
        /// The decoded body outgrew ``TransportRequest/maximumDecodingRatio``, or a head its limit.
        public static let dataLengthExceedsMaximum = Code(rawValue: "data_length_exceeds_maximum")
        public static let secureConnectionFailed = Code(rawValue: "secure_connection_failed")
        public static let serverCertificateUntrusted = Code(rawValue: "server_certificate_untrusted")
        public static let serverCertificateHasBadDate = Code(rawValue: "server_certificate_has_bad_date")
        public static let serverCertificateHasUnknownRoot = Code(rawValue: "server_certificate_has_unknown_root")
        public static let clientCertificateRejected = Code(rawValue: "client_certificate_rejected")
        /// The request's body could not be read.
        public static let requestBodyStreamExhausted = Code(rawValue: "request_body_stream_exhausted")
        /// The queue is full.
        public static let resourceUnavailable = Code(rawValue: "resource_unavailable")
        public static let unknown = Code(rawValue: "unknown")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, for people; holds no secrets.
    public let message: String
    /// libcurl's number and text, where the failure is libcurl's.
    public let curlCode: Int32?
    public let curlText: String?
    /// The kernel's number, where it gave one.
    public let systemCode: Int32?
    /// For ``Code/timedOut``: `connect`, `idle` or `resource`.
    public let timeout: String?
    /// Whether the same request may succeed if sent again, and may be sent again without harm.
    public let isRetryable: Bool

    /// Makes an error from its parts.
    public init(
        _ code: Code, _ message: String, curlCode: Int32? = nil, curlText: String? = nil, systemCode: Int32? = nil,
        timeout: String? = nil, isRetryable: Bool = false
    ) {
        self.code = code
        self.message = message
        self.curlCode = curlCode
        self.curlText = curlText
        self.systemCode = systemCode
        self.timeout = timeout
        self.isRetryable = isRetryable
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
